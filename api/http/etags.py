"""Conditional requests (RFC 9110 §13)."""

from fastapi import Response

CACHE_CONTROL = "public, no-cache"
"""Caches may keep an answer but must revalidate it: something may be published at any moment."""


def is_known(tags: str, etag: str) -> bool:
    """True if If-None-Match lists `etag`.

    >>> is_known('"a", W/"b"', '"b"'), is_known("*", '"b"'), is_known("", '"b"')
    (True, False, False)
    """
    return etag in {tag.strip().removeprefix("W/") for tag in tags.split(",")}


def not_modified(etag: str, cache_control: str = CACHE_CONTROL) -> Response:
    """A 304 response, for a client that already has the answer."""
    return Response(status_code=304, headers={"ETag": etag, "Cache-Control": cache_control})

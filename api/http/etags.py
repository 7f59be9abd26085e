"""Conditional requests (RFC 9110 §13)."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response

CACHE_CONTROL = "public, no-cache"
"""Caches may keep an answer but must revalidate it: something may be published at any moment."""


ANY = "*"
"""What If-None-Match has instead of tags for whatever there is."""


def is_known(scope: Mapping[str, Any], *etags: str) -> bool:
    """True if the header If-None-Match of a request lists one of `etags`.

    >>> asked = {"headers": [(b"if-none-match", b'"a", W/"b"')]}
    >>> is_known(asked, '"b"'), is_known(asked, ANY), is_known({"headers": []}, ANY, '"b"')
    (True, False, False)
    """
    lists = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match"]
    return any(tag.strip().removeprefix("W/") in etags for tags in lists for tag in tags.split(","))


def not_modified(etag: str, cache_control: str = CACHE_CONTROL) -> Response:
    """A 304 response, for a client that already has the answer."""
    return Response(status_code=304, headers={"ETag": etag, "Cache-Control": cache_control})

"""Gzip for reference, documents, reports and explorer (RFC 9110 §8.4.1.3), for clients that accept it."""

import gzip
import re
from collections.abc import Mapping
from typing import Any

from fastapi import Response

CODING = "gzip"

COMPRESSED = frozenset(
    {"text/html", "image/svg+xml", "text/csv", "text/css", "text/javascript", "application/json"}
)
"""Media types that are compressed."""

FOLDERS = ("/docs", "/documents", "/openapi.json", "/reports")
"""Paths at and below which answers are compressed: the reference's program and document are large, documents
grow with what we write, and reports contain their figures."""

EXPLORER = "/explore"
"""What the paths of the explorer, of its figures and of their data begin with."""

LEVEL = 6
"""Level of gzip: higher ones save a hundredth more."""

REFUSED = re.compile(r"\s*q=0(\.0{0,3})?\s*", re.IGNORECASE)


def accepts_gzip(accepted: str) -> bool:
    """True if Accept-Encoding names gzip, and not with weight 0.

    >>> accepts_gzip("br, gzip;q=0.5"), accepts_gzip("gzip;q=0, br"), accepts_gzip("identity"), accepts_gzip("")
    (True, False, False, False)
    """  # noqa: E501
    codings = (coding.partition(";") for coding in accepted.split(","))
    return any(
        name.strip().lower() == CODING and not REFUSED.fullmatch(weight) for name, _, weight in codings
    )


def is_negotiated(path: str) -> bool:
    """True if answers at `path` depend on Accept-Encoding.

    >>> [is_negotiated(path) for path in ("/documents/methods", "/documents", "/documentsx", "/explore.csv", "/")]
    [True, True, False, True, False]
    """  # noqa: E501
    return path.startswith(EXPLORER) or any(f"{path}/".startswith(f"{folder}/") for folder in FOLDERS)


def coding(scope: Mapping[str, Any]) -> str:
    """The content coding of the answer to a request: gzip, or nothing."""
    if not is_negotiated(scope["path"]):
        return ""
    accepted = (value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding")
    return CODING if accepts_gzip(",".join(accepted)) else ""


def compress(response: Response) -> Response:
    """The response with its body compressed, if its media type is one of COMPRESSED."""
    if response.headers.get("content-type", "").partition(";")[0] not in COMPRESSED:
        return response
    body = gzip.compress(bytes(response.body), LEVEL, mtime=0)
    compressed = Response(body, response.status_code)
    compressed.raw_headers = list(response.raw_headers)
    compressed.headers.update({"Content-Length": str(len(body)), "Content-Encoding": CODING})
    return compressed

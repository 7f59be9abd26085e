"""Made-up HAR files of the form that real ones have."""

import gzip
import json
from pathlib import Path
from typing import Any

from replay.recipes.page_recipe import Recipe
from replay.recipes.recorded import Recorded, read_recordings

ROOT = "https://a.example/"
TIMINGS = {"blocked": 1, "dns": 2, "connect": 60, "ssl": 40, "send": 1, "wait": 120, "receive": 30}
REUSED = {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1, "send": 1, "wait": 20, "receive": 0}


def entry(url: str, **other: Any) -> dict[str, Any]:
    return {
        "pageref": "page_1",
        "startedDateTime": other.pop("at", "2026-11-01T12:00:00.000Z"),
        "serverIPAddress": "192.0.2.1",
        "connection": other.pop("connection", "17"),
        "timings": other.pop("timings", REUSED),
        "_initiator": other.pop("initiator", ROOT),
        "request": {"url": url, "method": "GET", "headers": []},
        "response": {
            "status": other.pop("status", 200),
            "httpVersion": other.pop("version", "h2"),
            "headers": [{"name": k, "value": v} for k, v in other.pop("headers", {}).items()],
            "redirectURL": "",
            "bodySize": other.pop("body", 1_000),
            "headersSize": other.pop("header", 200),
            "content": {"mimeType": other.pop("mime", "text/html")},
        },
        **other,
    }


DOCUMENT = entry(ROOT, body=20_000, timings=TIMINGS, initiator=None)
STYLE = entry(
    "https://a.example/s.css",
    at="2026-11-01T12:00:00.300Z",
    mime="text/css",
    header=-1,
    headers={"Cache-Control": "max-age=3600"},
)
UNKNOWN = entry("https://a.example/u.js", body=-1, at="2026-11-01T12:00:00.300Z")
FONT = entry(
    "http://b.example:8080/f.woff",
    at="2026-11-01T12:00:00.400Z",
    version="HTTP/1.1",
    connection="18",
    initiator="https://a.example/s.css",
    timings={**TIMINGS, "connect": 20, "ssl": -1},
    serverIPAddress="192.0.2.2",
)
BY_UNKNOWN = entry(
    "https://a.example/x.png", initiator="https://a.example/u.js", at="2026-11-01T12:00:00.500Z"
)
LATER = {**entry("https://a.example/next"), "pageref": "page_2"}


def write_har(folder: Path) -> Path:
    """Write a gzipped HAR with five exchanges of a page and one of a later page."""
    log = {
        "creator": {"name": "by hand", "version": "1"},
        "entries": [DOCUMENT, STYLE, UNKNOWN, FONT, BY_UNKNOWN, LATER],
    }
    path = folder / "page.har.gz"
    path.write_bytes(gzip.compress(json.dumps({"log": log}).encode()))
    return path


def read_one(path: Path) -> Recorded:
    (recording,) = read_recordings([path], [])
    return recording


def recipe_of_har(folder: Path, *entries: dict[str, Any]) -> Recipe:
    path = folder / "some.har"
    path.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    return read_one(path).recipe

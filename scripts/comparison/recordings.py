"""One small page as a HAR file and as a log of DevTools events, for replays of recordings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SITE = "https://page.example/"
BEGAN_S = 1_793_534_400.0
"""2026-11-01T12:00:00Z, when the page was asked for."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One response of the page."""

    path: str
    mime_type: str
    body_bytes: int
    initiator: str | None
    cache_control: str
    wait_ms: int
    protocol: str = "h2"

    @property
    def headers(self) -> dict[str, str]:
        """Headers that decide what a second visit asks for again."""
        validator = f'"{self.body_bytes}"'
        return {
            "cache-control": self.cache_control,
            "date": "Sun, 01 Nov 2026 12:00:00 GMT",
            "etag": validator,
        }


PAGE = (
    Resource("", "text/html", 24_000, None, "max-age=0", 30),
    Resource("style.css", "text/css", 9_000, "", "max-age=31536000", 30),
    Resource("script.js", "text/javascript", 61_000, "", "max-age=3600", 80),
    Resource("font.woff2", "font/woff2", 31_000, "style.css", "no-cache", 30),
    Resource("photo.png", "image/png", 180_000, "", "max-age=20", 30),
    Resource("late.js", "text/javascript", 14_601, "script.js", "no-store", 120, "http/1.1"),
    Resource("last.png", "image/png", 43_801, "late.js", "max-age=31536000", 30, "http/1.1"),
)


def har() -> dict[str, Any]:
    """The page as a HAR file."""
    entries = [
        {
            "startedDateTime": f"2026-11-01T12:00:0{number}.000Z",
            "serverIPAddress": "192.0.2.1",
            "connection": one.protocol,
            "_initiator": None if one.initiator is None else SITE + one.initiator,
            "timings": {
                "blocked": 1, "dns": 4, "connect": -1 if number else 20, "ssl": -1 if number else 10,
                "send": 0, "wait": one.wait_ms, "receive": 5,
            },
            "request": {"method": "GET", "url": SITE + one.path, "headers": []},
            "response": {
                "status": 200,
                "headersSize": 180,
                "bodySize": one.body_bytes,
                "httpVersion": one.protocol,
                "headers": [{"name": name, "value": value} for name, value in one.headers.items()],
                "content": {"mimeType": one.mime_type},
            },
        }
        for number, one in enumerate(PAGE)
    ]  # fmt: skip
    return {"log": {"version": "1.2", "creator": {"name": "by hand", "version": "1"}, "entries": entries}}


def devtools_log() -> list[dict[str, Any]]:
    """The page as a log of DevTools events."""
    return [event for number, one in enumerate(PAGE) for event in events(one, number)]


def events(one: Resource, number: int) -> list[dict[str, Any]]:
    """The events of one response, in the order in which they came."""
    initiator = (
        {"type": "other"} if one.initiator is None else {"type": "parser", "url": SITE + one.initiator}
    )
    response = {
        "status": 200,
        "mimeType": one.mime_type,
        "protocol": one.protocol,
        "headers": one.headers,
        "encodedDataLength": 180,
        "connectionId": len(one.protocol),
        "remoteIPAddress": "192.0.2.1",
        "timing": {
            "requestTime": float(number), "connectStart": -1 if number else 5, "sslStart": -1 if number else 15,
            "connectEnd": -1 if number else 25, "sendEnd": 25, "receiveHeadersEnd": 25 + one.wait_ms,
        },
    }  # fmt: skip
    named: dict[str, Any] = {"requestId": str(number), "timestamp": float(number)}
    told: list[tuple[str, dict[str, Any]]] = [
        ("requestWillBeSent", {
            "frameId": "top", "type": "Document" if number == 0 else "Other", "wallTime": BEGAN_S + number,
            "initiator": initiator, "request": {"url": SITE + one.path, "method": "GET", "headers": {}},
        }),
        ("responseReceived", {"response": response}),
        ("dataReceived", {"dataLength": one.body_bytes, "encodedDataLength": one.body_bytes}),
        ("loadingFinished", {"timestamp": number + 0.2, "encodedDataLength": one.body_bytes + 180}),
    ]  # fmt: skip
    return [{"method": f"Network.{name}", "params": named | parameters} for name, parameters in told]


def write(folder: Path) -> tuple[Path, Path]:
    """Write both recordings into `folder`: the HAR file and the log."""
    folder.mkdir(parents=True, exist_ok=True)
    files = (folder / "page.har", folder / "page.json")
    for path, content in zip(files, (har(), devtools_log()), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return files

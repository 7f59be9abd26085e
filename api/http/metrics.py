"""Prometheus metrics of the service, by route: paths are unbounded, since clients choose them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ELSEWHERE = "none"


class Metered:
    """Counts answers and measures their time until the last byte."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        self._answers = Counter(
            "firstflight_api_answers", "Answers by route and status.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "firstflight_api_seconds", "Seconds until an answer was whole.", ["route"], registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()
        status = 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            route = scope.get("answered_by") or getattr(scope.get("route"), "path", ELSEWHERE)
            self._answers.labels(route, status).inc()
            self._seconds.labels(route).observe(time.monotonic() - began)


def count_damaged(counts: Callable[[], Mapping[str, int]], registry: CollectorRegistry) -> None:
    """Count what differs from its checksums, by kind."""
    gauge = Gauge(
        "firstflight_api_damaged", "Folders that differ from their checksums.", ["kind"], registry=registry
    )
    for kind in ("release", "report", "erratum"):
        gauge.labels(kind).set_function(partial(_count, counts, kind))


def _count(counts: Callable[[], Mapping[str, int]], kind: str) -> float:
    return counts()[kind]

"""NetLogs made by hand, of pages over HTTP/1.1 without TLS."""

from __future__ import annotations

import json
from typing import Any

from crawler.netlog.assembler import EVENTS
from recordings.netlog.log import DATA

TYPES = {name: number for number, name in enumerate(sorted({*EVENTS, DATA, "SOMETHING_ELSE"}), start=1)}
PHASES = {"PHASE_NONE": 0, "PHASE_BEGIN": 1, "PHASE_END": 2}
MONDAY_MS = 1_788_764_400_000
"""2026-09-07 07:00 UTC."""


class MadeUpLog:
    """Events, a millisecond apart."""

    def __init__(self, **constants: Any) -> None:
        self.constants = {
            "logEventTypes": TYPES,
            "logEventPhase": PHASES,
            "netError": {"ERR_ABORTED": -3},
            "logCaptureMode": "Default",
            "timeTickOffset": MONDAY_MS,
            "clientInfo": {"name": "Chrome", "version": "140.0.1.2"},
        } | constants
        self.events: list[dict[str, Any]] = []
        self._source = 0

    def event(self, name: str, source: int, phase: str = "NONE", **params: Any) -> None:
        self.events.append(
            {
                "params": params,
                "phase": PHASES[f"PHASE_{phase}"],
                "source": {"id": source, "start_time": "1", "type": 1},
                "time": str(len(self.events) + 1000),
                "type": TYPES[name],
            }
        )

    def number(self) -> int:
        """A new source."""
        self._source += 1
        return self._source

    def connection(self, host: str) -> int:
        """Open a connection; its number."""
        job, socket = self.number(), self.number()
        self.event("SOCKET_POOL_CONNECT_JOB_CREATED", job, group_id=f"http://{host} <null>")
        self.event("SOCKET_ALIVE", socket, "BEGIN", source_dependency={"id": job, "type": 2})
        self.event("TCP_CONNECT", socket, "BEGIN", address_list=["192.0.2.2:80"])
        self.event(
            "TCP_CONNECT",
            socket,
            "END",
            local_address=f"192.0.2.1:{50_000 + socket}",
            remote_address="192.0.2.2:80",
        )
        return socket

    def ask(self, url: str, *, frame: str = "other", source: int | None = None, **params: Any) -> int:
        """Begin a request; its number."""
        number = self.number() if source is None else source
        self.event(
            "URL_REQUEST_START_JOB", number, "BEGIN", url=url, method="GET", request_type=frame, **params
        )
        return number

    def answer(self, request: int, socket: int, *received: int, header: str = "HTTP/1.1 200 OK") -> None:
        """Send a request and its answer, of so many bytes from the socket."""
        job = self.number()
        self.event("SOCKET_POOL_BOUND_TO_SOCKET", job, source_dependency={"id": socket, "type": 3})
        self.event("HTTP_STREAM_REQUEST_BOUND_TO_JOB", request, source_dependency={"id": job, "type": 4})
        self.event(
            "HTTP_TRANSACTION_SEND_REQUEST_HEADERS",
            request,
            headers=["Host: a.example"],
            line="GET / HTTP/1.1\r\n",
        )
        for number, size in enumerate(received):
            self.event("SOCKET_BYTES_RECEIVED", socket, byte_count=size)
            if not number:
                self.event("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", request, headers=header.split("\n"))

    def end(self, request: int) -> None:
        self.event("REQUEST_ALIVE", request, "END")

    def get(
        self,
        url: str,
        *received: int,
        top: str | None = "http://a.example",
        header: str = "HTTP/1.1 200 OK",
        frame: str = "other",
        **params: Any,
    ) -> None:
        """Ask on a connection of its own, and end with the answer."""
        key: dict[str, Any] = {} if top is None else {"network_isolation_key": f"{top} {top}"}
        request = self.ask(url, frame=frame, **key, **params)
        self.answer(request, self.connection("a.example"), *received, header=header)
        self.end(request)

    def page(self, url: str, *received: int, top: str | None = "http://a.example") -> None:
        self.get(url, *(received or (1_100,)), top=top, frame="main frame")

    def written(self) -> bytes:
        head = f'{{"constants": {json.dumps(self.constants)},\n"events": [\n'
        return (head + ",\n".join(map(json.dumps, self.events)) + '],\n"polledData": {}}\n').encode()

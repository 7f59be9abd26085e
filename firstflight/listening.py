"""Listening sockets of commands, bound at the start, so that a port in use is reported as an error."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PORT = 8750

BACKLOG = 1024
"""Connections that wait in the kernel to be accepted (listen(2))."""

STALLED_MS = 30_000
"""Time after which the kernel closes a connection whose client acknowledges
nothing (TCP_USER_TIMEOUT, tcp(7))."""


class ListenError(Exception):
    """The address cannot be bound."""


def listen(host: str, port: int, *, stalled_ms: int = STALLED_MS) -> socket.socket:
    """Return a listening socket, whose connections close when a client acknowledges nothing for
    `stalled_ms`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise ListenError(
            f"cannot listen on {host}, port {port}: {reason}; choose another with --host and --port"
        ) from exc
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, stalled_ms)
    return listening


def serve_metrics(registry: CollectorRegistry, host: str, port: int) -> Callable[[], None]:
    """Serve /metrics in a thread; return what stops it."""
    from prometheus_client import start_http_server  # takes 3 MB, and few processes need it

    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as exc:
        raise ListenError(
            f"cannot listen on {host}, port {port}: {exc.strerror or exc}; "
            "choose another with --host and the port's option"
        ) from exc
    return server.shutdown

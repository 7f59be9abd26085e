"""UDP datagrams that are no QUIC, as WebRTC's (RFC 8831): only their sizes are known."""

from __future__ import annotations

import dataclasses

from crawler.netlog.exchange import Transport

UNREAD_PORTS = frozenset({53, 5353})
"""Ports of name resolution (RFC 1035 §4.2, RFC 6762 §3), which is no part of a visit's traffic."""


@dataclasses.dataclass(slots=True, eq=False)
class UdpTransport(Transport):
    """The datagrams between a socket and a remote end."""

    def stream(self, stream_id: int | None) -> None:
        """Return None: there are no streams."""

    def request_header_bytes(self, stream_id: int) -> None:
        """Return None: there are no requests."""

    def finish(self) -> None:
        """Count all bytes as the connection's own."""
        self.decrypted_bytes = self.frame_bytes = self.received_bytes

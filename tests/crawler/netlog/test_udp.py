"""Datagrams of no QUIC session are connections by socket and remote end, but for those of name resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.netlog import connections as netlog_connections
from crawler.netlog.assembler import assemble
from crawler.netlog.event import Event
from crawler.visit.rows import make_rows

if TYPE_CHECKING:
    import pytest

STUN, PEER, NAMESERVER, NEIGHBOUR = "192.0.2.1:3478", "[2001:db8::1]:50000", "192.0.2.2:53", "192.0.2.3:5353"


def came(size: int, sender: str, *, source: int = 1, time_ms: int = 0) -> Event[Any]:
    return Event("UDP_BYTES_RECEIVED", "NONE", source, time_ms, {"byte_count": size, "address": sender})


def bound(local: str, source: int = 1) -> Event[Any]:
    return Event("UDP_LOCAL_ADDRESS", "NONE", source, 0, {"address": local})


def quic(size: int, sender: str, local: str, source: int = 9) -> Event[Any]:
    params = {"size": size, "peer_address": sender, "self_address": local}
    return Event("QUIC_SESSION_PACKET_RECEIVED", "NONE", source, 0, params)


def connections(*log: Event[Any]) -> list[tuple[Any, ...]]:
    columns = ("protocol", "remote_address", "port", "local_port", "received_bytes", "frame_bytes")
    rows = make_rows(assemble(log), [], start_ms=0, salt=b"", error_name=str)
    assert rows.received_bytes == sum(row["received_bytes"] for row in rows.connections)
    return [tuple(row[name] for name in columns) for row in rows.connections]


def test_a_socket_has_a_connection_for_each_remote_end() -> None:
    log = (bound("0.0.0.0:50123"), came(32, STUN), came(1200, PEER), came(100, PEER), came(7, PEER, source=2))
    assert connections(*log) == [
        ("udp", "192.0.2.1", 3478, 50123, 32, 32),
        ("udp", "2001:db8::1", 50000, 50123, 1300, 1300),
        ("udp", "2001:db8::1", 50000, 0, 7, 7),
    ]


def test_name_resolution_is_no_connection() -> None:
    assert connections(bound("192.0.2.9:50123"), came(100, NAMESERVER), came(60, NEIGHBOUR)) == []


def test_a_socket_of_a_quic_session_is_the_sessions() -> None:
    log = (came(1200, STUN), bound("192.0.2.9:50123"), quic(1200, STUN, "192.0.2.9:50123"))
    assert [row[0] for row in connections(*log)] == ["h3"]
    assert [row[0] for row in connections(*log, came(30, PEER))] == ["h3", "udp"]


def test_a_socket_is_a_connection_also_where_the_log_lacks_its_quic_session() -> None:
    assert [row[0] for row in connections(came(1200, STUN), bound("192.0.2.9:50123"))] == ["udp"]


def test_no_number_of_remote_ends_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netlog_connections, "FLOWS_LIMIT", 2)
    connections_read = connections(*(came(10, f"192.0.2.{number}:9") for number in range(50)))
    assert [(row[1], row[4]) for row in connections_read] == [("192.0.2.0", 10), ("192.0.2.1", 10), ("", 480)]

"""A log that lacks the beginning of a connection, of TLS or of a request has no wrong size,
and says that bytes are missing."""

from __future__ import annotations

import collections
from functools import cache
from typing import Any

import pytest

from crawler.netlog.assembler import Assembler
from crawler.netlog.event import Event
from crawler.visit.rows import TrafficRows
from tests.crawler.netlog.logs import NAMES, assemble_rows, recorded

OF_RESPONSE = (
    *("method", "scheme", "host", "path", "query_hash", "stream_id", "status", "failure"),
    *("wire_bytes", "header_bytes", "body_bytes", "decoded_bytes", "is_complete"),
)
OF_CONNECTION = (
    *("received_bytes", "decrypted_bytes", "tls_handshake_bytes", "tls_ticket_bytes", "frame_bytes"),
    *("protocol", "tls_version", "tls_resumed"),
)
SESSIONS = ("QUIC_SESSION", "QUIC_SESSION_WEBTRANSPORT_CLIENT_ALIVE")

CUTS = 25


def arrived(rows: TrafficRows) -> collections.Counter[tuple[Any, ...]]:
    return collections.Counter(
        tuple(row[name] for name in OF_RESPONSE) for row in rows.responses if row["wire_bytes"] is not None
    )


def places(rows: TrafficRows) -> set[tuple[Any, ...]]:
    """Places of responses on their connections, as far as they are known."""
    ports = {row["id"]: row["local_port"] for row in rows.connections}
    return {
        (ports[row["connection_id"]], row["position"], row["path"], row["wire_bytes"])
        for row in rows.responses
        if row["position"] is not None and row["wire_bytes"] is not None
    }


@cache
def without_each_beginning(name: str) -> list[tuple[Event[Any], TrafficRows]]:
    """Rows of the log without one of its beginnings, for each in turn."""
    log = recorded(name)
    return [
        (event, assemble_rows((*log[:at], *log[at + 1 :])))
        for at, event in enumerate(log)
        if event.phase == "BEGIN"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_size_is_wrong_without_a_beginning_and_coverage_says_what_is_missing(name: str) -> None:
    whole = assemble_rows(recorded(name))
    connections = {row["local_port"]: row for row in whole.connections}
    assert whole.coverage == 1
    for event, rows in without_each_beginning(name):
        assert not arrived(rows) - arrived(whole), event
        assert places(rows) <= places(whole), event
        assert rows.coverage is not None
        assert rows.coverage < 1 or arrived(rows) == arrived(whole), event
        for row in rows.connections:
            was = connections[row["local_port"]]
            known = [column for column in OF_CONNECTION if row[column] is not None or was[column] is None]
            assert [row[column] for column in known] == [was[column] for column in known], event
            assert rows.coverage < 1 or len(known) == len(OF_CONNECTION), event


@pytest.mark.parametrize("name", NAMES)
def test_a_connection_without_its_beginning_has_all_its_sizes_and_lowers_the_coverage(name: str) -> None:
    whole = assemble_rows(recorded(name))
    used = {event.source for event in recorded(name) if event.name == "SOCKET_BYTES_RECEIVED"}
    lost = 0
    for event, rows in without_each_beginning(name):
        if event.name in (*SESSIONS, "SOCKET_ALIVE"):
            assert arrived(rows) == arrived(whole), event
            assert [row["received_bytes"] for row in rows.connections] == [
                row["received_bytes"] for row in whole.connections
            ]
            assert rows.coverage is not None
            is_used = event.name in SESSIONS or event.source in used
            assert (rows.coverage < 1) is is_used, event
            lost += is_used
    assert lost == len(whole.connections)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["HTTP_STREAM_REQUEST_BOUND_TO_JOB", "SOCKET_POOL_BOUND_TO_SOCKET"])
def test_a_response_that_the_log_does_not_place_on_a_connection_lowers_the_coverage(
    name: str, place: str
) -> None:
    log, whole = recorded(name), arrived(assemble_rows(recorded(name)))
    for at in [at for at, event in enumerate(log) if event.name == place][:10]:
        rows = assemble_rows((*log[:at], *log[at + 1 :]))
        assert not arrived(rows) - whole, log[at]
        assert rows.coverage is not None
        assert rows.coverage < 1 or arrived(rows) == whole, log[at]


@pytest.mark.parametrize("name", NAMES)
def test_a_log_that_begins_late_has_no_wrong_size(name: str) -> None:
    log, whole = recorded(name), arrived(assemble_rows(recorded(name)))
    for cut in range(0, len(log), max(1, len(log) // CUTS)):
        late = assemble_rows(log[cut:])
        assert not arrived(late) - whole, cut
        assert late.coverage is None or late.coverage <= 1
        assert {row["received_bytes"] > 0 for row in late.connections} <= {True}


def test_bytes_of_connections_that_are_older_than_the_visit_are_no_part_of_it() -> None:
    log = recorded("h1-bodies")
    first = next(event.source for event in log if event.name == "SOCKET_BYTES_RECEIVED")
    assembler = Assembler()
    assembler.begin_after(first)
    for event in log:
        if event.name == "SOCKET_BYTES_RECEIVED":
            assembler.feed(event)
    sizes = [transport.received_bytes for transport in assembler.finish().transports]
    assert sum(sizes) == sum(
        event.params["byte_count"]
        for event in log
        if event.name == "SOCKET_BYTES_RECEIVED" and event.source > first
    )

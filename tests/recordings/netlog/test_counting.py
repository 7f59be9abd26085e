"""Sizes in NetLogs with and without the bytes of sockets, by logs whose server counted what it sent."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recordings.netlog.log import DATA
from recordings.netlog.release import content_of, read_file
from tests.recordings.netlog.made_up_log import MadeUpLog

LOGS = Path(__file__).parents[2] / "crawler/logs/netlog"

STATED = {"id": "mine", "device": "desktop", "vantage": "lab", "source": "mine", "licence": "mine"}

UNREAD = "/undrained-redirect/1"
"""Path of a response whose body the browser does not read to the end."""


def rows_of(file: Path, table: str = "response") -> list[dict[str, Any]]:
    return content_of([read_file(file)], STATED, month="2026-09").tables[table]


def sent(name: str) -> Counter[tuple[Any, ...]]:
    entries = json.loads((LOGS / f"{name}.sent.json").read_text())
    return Counter((method, wire, body) for method, _, path, wire, body in entries if path != UNREAD)


def received(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row["method"], row["wire_bytes"], row["body_bytes"]) for row in rows if row["wire_bytes"] is not None
    )


def without_bytes(name: str, folder: Path) -> Path:
    """The log as Chrome writes it in the capture mode Default."""
    head, _, lines = gzip.decompress((LOGS / f"{name}.json.gz").read_bytes()).partition(b"\n")
    events = [json.loads(line.rstrip(b",")) for line in lines.splitlines() if line.startswith(b'{"')]
    for event in events:
        event.get("params", {}).pop("bytes", None)
    file = folder / f"{name}.json"
    file.write_bytes(head + b'\n"events": [\n' + b",\n".join(json.dumps(event).encode() for event in events))
    return file


@pytest.mark.parametrize("name", ["h1-bodies", "h1tls", "h2-bodies", "h2"])
def test_with_bytes_each_response_has_the_size_that_the_server_sent(name: str) -> None:
    rows = rows_of(LOGS / f"{name}.json.gz")
    assert received(rows) == sent(name)
    assert {row["size_basis"] for row in rows} == {"counted"}


@pytest.mark.parametrize(
    ("name", "unsplit"), [("h1-bodies", 3), ("h1-endings", 3), ("h1tls-repeats", 1), ("h1tls", 0)]
)
def test_without_bytes_http_1_is_counted_between_requests(name: str, unsplit: int, tmp_path: Path) -> None:
    rows = [row for row in rows_of(without_bytes(name, tmp_path)) if row["wire_bytes"] is not None]
    counts = Counter((row["method"], row["wire_bytes"]) for row in rows)
    served = Counter((method, wire) for method, wire, _ in sent(name).elements())
    assert not served - counts
    assert sum((sent(name) - received(rows)).values()) == unsplit  # the header cannot be told from the body
    assert {row["size_basis"] for row in rows} == {"counted"}


def test_without_bytes_nothing_is_known_of_http_2(tmp_path: Path) -> None:
    rows = rows_of(without_bytes("h2", tmp_path))
    assert {(row["wire_bytes"], row["wire_bytes_unknown"], row["body_bytes"]) for row in rows} == {
        (None, "not_recorded", None)
    }


def test_without_bytes_http_3_is_counted_all_the_same(tmp_path: Path) -> None:
    assert (
        not sent("h3") - received(rows_of(without_bytes("h3", tmp_path))) - Counter({("GET", 8442, 8400): 1})
    )


def test_without_bytes_connections_do_not_know_what_needs_them(tmp_path: Path) -> None:
    for row in rows_of(without_bytes("h2", tmp_path), "connection"):
        assert (row["frame_bytes"], row["tls_handshake_bytes"], row["tls_ticket_bytes"]) == (None, None, None)
        assert row["received_bytes"] > row["decrypted_bytes"] > 0


def test_data_of_an_http_2_stream_is_its_body(tmp_path: Path) -> None:
    log = MadeUpLog()
    socket, session = log.connection("a.example"), log.number()
    log.event("SSL_CONNECT", socket, "BEGIN")
    log.event("SSL_CONNECT", socket, "END", version="TLS 1.3", next_proto="h2", cipher_suite=4865)
    log.event("HTTP2_SESSION_INITIALIZED", session, source_dependency={"id": socket})
    request, job = log.ask("https://a.example/", frame="main frame"), log.number()
    log.event("HTTP_STREAM_REQUEST_BOUND_TO_JOB", request, source_dependency={"id": job})
    log.event(
        "HTTP2_SESSION_SEND_HEADERS",
        session,
        stream_id=1,
        headers=[":path: /"],
        weight=256,
        parent_stream_id=0,
        exclusive=True,
        source_dependency={"id": job},
    )
    log.event("SOCKET_BYTES_RECEIVED", socket, byte_count=1_200)
    log.event("HTTP2_SESSION_RECV_HEADERS", session, stream_id=1, headers=[":status: 200"], fin=False)
    log.event(DATA, session, stream_id=1, size=900, fin=False)
    log.event(DATA, session, stream_id=3, size=77, fin=True)
    log.event(DATA, session, stream_id=1, size=100, fin=True)
    log.end(request)
    file = tmp_path / "log.json"
    file.write_bytes(log.written())
    (row,) = rows_of(file)
    assert (row["wire_bytes"], row["wire_bytes_unknown"], row["body_bytes"]) == (None, "not_recorded", 1_000)
    assert row["last_byte_us"] - row["first_byte_us"] == 3_000


def test_what_a_connection_carries_for_several_pages_counts_for_none(tmp_path: Path) -> None:
    log = MadeUpLog()
    socket = log.connection("a.example")
    for path in ("", "next"):
        request = log.ask(f"http://a.example/{path}", frame="main frame")
        log.answer(request, socket, 1_100)
        log.end(request)
    file = tmp_path / "log.json"
    file.write_bytes(log.written())
    first, later = rows_of(file, "connection")
    assert (first["received_bytes"], later["received_bytes"]) == (None, None)
    assert (first["opened_us"] is None, later["opened_us"]) == (False, None)
    assert [row["wire_bytes"] for row in rows_of(file)] == [1_100, 1_100]

"""Streams and connections in a recorded log of HTTP/3 are the server's, which lost and delayed datagrams."""

import json
from random import Random
from typing import Any
from urllib.parse import urlsplit

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.netlog.assembler import assemble
from crawler.netlog.event import Event
from crawler.netlog.http3 import Http3Stream
from crawler.ranges import Ranges
from crawler.visit.rows import TrafficRows
from tests.crawler.netlog.logs import DAMAGE, LOGS, assemble_rows, damage, recorded


def is_name(event: Event[Any], name: str) -> bool:
    return event.name == f"QUIC_SESSION_{name}"


def test_every_response_of_the_log_is_what_the_server_sent() -> None:
    sent = sorted(tuple(load) for load in json.loads((LOGS / "h3.sent.json").read_text()))
    received = [(exchange, urlsplit(exchange.url)) for exchange in assemble(recorded("h3")).exchanges]
    exchanges = sorted(
        (exchange.method, url.netloc, url.path, *exchange.sizes()) for exchange, url in received
    )
    left = [entry for entry in exchanges if entry[2] == "/endless"]
    assert [entry for entry in exchanges if entry not in left] == [
        entry for entry in sent if entry[2] != "/endless"
    ]
    # The page left, and what came after that is in no frame that the browser read.
    assert [entry[-2:] for entry in left] == [(entry[-2], None) for entry in sent if entry[2] == "/endless"]


def test_every_connection_of_the_log_is_what_the_server_sent() -> None:
    sent = json.loads((LOGS / "h3.connections.json").read_text())
    rows = assemble_rows(recorded("h3"))
    columns = {
        "received_bytes": "sent_bytes",
        "decrypted_bytes": "plaintext_bytes",
        "tls_handshake_bytes": "tls_handshake_bytes",
        "tls_ticket_bytes": "tls_ticket_bytes",
        "frame_bytes": "frame_bytes",
        "local_port": "client_port",
    } | {name: name for name in ("host", "protocol", "tls_version", "tls_resumed")}
    assert [{ours: row[ours] for ours in columns} for row in rows.connections] == [
        {ours: entry[theirs] for ours, theirs in columns.items()} for entry in sent
    ]
    assert (rows.coverage, rows.decrypted_coverage) == (1.0, 1.0)


def test_the_first_response_of_a_connection_begins_behind_its_handshake() -> None:
    answered = [
        transport for transport in assemble(recorded("h3")).transports if transport.answer_after is not None
    ]
    assert answered
    for entry in answered:
        assert (entry.handshake_bytes or 0) <= (entry.answer_after or 0) < entry.received_bytes


def test_requests_for_one_url_at_once_each_have_their_own_stream() -> None:
    twice = [
        row
        for row in assemble_rows(recorded("h3")).responses
        if (row["host"], row["path"]) == ("quic.test", "/plain")
    ]
    assert len({row["stream_id"] for row in twice}) == len(twice) > 2
    assert all(row["body_bytes"] == (0 if row["method"] == "HEAD" else 4300) for row in twice)


def test_a_cancelled_request_has_the_status_of_its_header_section() -> None:
    statuses = {
        row["stream_id"]: row["status"]
        for row in assemble_rows(recorded("h3")).responses
        if row["connection_id"] == 1
    }
    log = [event for event in recorded("h3") if event.name != "HTTP_TRANSACTION_READ_RESPONSE_HEADERS"]
    rows = {
        row["stream_id"]: row["status"] for row in assemble_rows(log).responses if row["connection_id"] == 1
    }
    assert set(statuses.values()) > {200}
    assert rows == statuses


def test_positions_are_in_the_order_of_sending() -> None:
    rows = [row for row in assemble_rows(recorded("h3")).responses if row["connection_id"] == 1]
    by_stream = sorted(rows, key=lambda row: row["stream_id"])
    assert [row["position"] for row in by_stream] == list(range(1, len(rows) + 1))
    sent = [row["request_sent_us"] for row in by_stream]
    assert sent == sorted(sent)
    assert all(row["request_sent_us"] <= row["first_byte_us"] <= row["last_byte_us"] for row in rows)


def test_a_stream_frame_missing_from_the_log_lowers_the_coverage() -> None:
    log = list(recorded("h3"))
    longest = max(
        (event for event in log if is_name(event, "STREAM_FRAME_RECEIVED")),
        key=lambda event: event.params["length"],
    )
    log.remove(longest)
    rows = assemble_rows(log)
    assert rows.coverage is not None
    missing = (1 - rows.coverage) * rows.received_bytes
    assert abs(missing - longest.params["length"]) < 20


def test_frames_count_as_received_where_the_log_lacks_their_datagrams() -> None:
    datagrams = [event for event in recorded("h3") if is_name(event, "PACKET_RECEIVED")]
    rows = assemble_rows(event for event in recorded("h3") if event not in datagrams[50:])
    assert_possible(rows)
    assert rows.coverage is not None
    assert rows.coverage < 1


def test_a_thinned_log_has_no_impossible_size() -> None:
    random = Random(10)  # it leaves frames of more bytes than datagrams
    assert_possible(assemble_rows(event for event in recorded("h3")[9:352] if random.random() < 0.7))


def test_resumption_is_unknown_without_a_server_hello() -> None:
    log = [event for event in recorded("h3") if not is_name(event, "CRYPTO_FRAME_RECEIVED")]
    assert [row["tls_resumed"] for row in assemble_rows(log).connections] == [None, None, None]


def test_requests_of_refused_early_data_are_sent_when_there_are_keys() -> None:
    log = list(recorded("h3"))
    session = max(event.source for event in log if is_name(event, "PACKET_SENT"))
    at = next(
        index
        for index, event in enumerate(log)
        if event.source == session and is_name(event, "CRYPTO_FRAME_RECEIVED")
    )
    sent = []
    for refusal in ([], [log[at]._replace(name="QUIC_SESSION_ZERO_RTT_REJECTED", params={})]):
        rows = assemble_rows([*log[:at], *refusal, *log[at:]])
        sent.append(rows.responses[-1]["request_sent_us"] - rows.connections[-1]["secured_us"])
    assert sent == [-1000, 0]


def test_a_connection_that_moves_keeps_the_addresses_it_began_with() -> None:
    log = list(recorded("h3"))
    at = max(index for index, event in enumerate(log) if is_name(event, "PACKET_RECEIVED"))
    params = {**log[at].params, "self_address": "127.9.9.9:9", "peer_address": "127.9.9.8:8"}
    log[at] = log[at]._replace(params=params)
    before = [
        (row["remote_address"], row["port"], row["local_port"])
        for row in assemble_rows(recorded("h3")).connections
    ]
    assert [
        (row["remote_address"], row["port"], row["local_port"]) for row in assemble_rows(log).connections
    ] == before


def test_a_webtransport_session_is_a_connection_whose_streams_belong_to_no_response() -> None:
    rows = assemble_rows(recorded("h3-session"))
    first, session = rows.connections
    echoed, pushed, control, answer = 4000, 9000, 25, 37
    assert session["frame_bytes"] == session["decrypted_bytes"] == echoed + pushed + control + answer
    for column in ("host", "port", "protocol", "tls_version", "tls_resumed"):
        assert session[column] == first[column]
    assert session["opened_us"] <= session["secured_us"] <= session["last_byte_us"]
    assert {row["connection_id"] for row in rows.responses} == {first["id"]}
    assert rows.coverage == 1


def assert_possible(rows: TrafficRows) -> None:
    for row in rows.responses:
        assert (row["wire_bytes"] is None) == (row["wire_bytes_unknown"] is not None)
        assert row["body_bytes"] is None or 0 <= row["body_bytes"] <= row["wire_bytes"]
        assert row["header_bytes"] is None or 0 <= row["header_bytes"] <= row["wire_bytes"]
    for row in rows.connections:
        assert 0 <= (row["tls_handshake_bytes"] or 0) <= row["received_bytes"]
        assert 0 <= row["frame_bytes"] <= row["decrypted_bytes"] <= row["received_bytes"]
    for share in (rows.coverage, rows.decrypted_coverage):
        assert share is None or 0 <= share <= 1


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_log_that_is_cut_doubled_shuffled_or_thinned_has_no_impossible_size(data: st.DataObject) -> None:
    assert_possible(assemble_rows(damage(recorded("h3"), data, DAMAGE)))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=30))
def test_each_byte_of_a_stream_counts_once(pieces: list[tuple[int, int]]) -> None:
    ranges, arrived = Ranges(), set[int]()
    for start, size in pieces:
        new = set(range(start, start + size))
        added = {place for first, last in ranges.add(start, start + size) for place in range(first, last)}
        assert added == new - arrived
        arrived |= new
        assert ranges.within(10, 50) == len(arrived & set(range(10, 50)))
    assert ranges.stop == max(arrived, default=-1) + 1


def stream(*received: tuple[int, int]) -> Http3Stream:
    http3 = Http3Stream()
    for start, stop in received:
        http3.count_received(start, stop, 5)
    return http3


def sizes(http3: Http3Stream) -> tuple[int, int | None]:
    return http3.wire_bytes, http3.body_bytes


def test_only_the_arrived_part_of_a_data_frame_is_body() -> None:
    http3 = stream((0, 300))
    http3.frame(48)
    http3.frame(1000, data=True)
    assert sizes(http3) == (300, 300 - 50 - 3)


def test_an_end_without_data_adds_no_byte_and_no_time() -> None:
    http3 = stream((0, 60))
    assert http3.count_received(60, 60, 9) == 0
    assert (http3.wire_bytes, http3.last_byte_ms) == (60, 5)


def test_repeated_bytes_count_once() -> None:
    assert sizes(stream((0, 100), (0, 100), (50, 150), (10, 20)))[0] == 150


def test_an_incomplete_header_is_header() -> None:
    assert sizes(stream((0, 40_000))) == (40_000, 0)


def left(content_length: Any, ends_at: int | None) -> Http3Stream:
    """A redirect whose body the browser does not read."""
    http3 = stream((0, 57))
    http3.frame(48)
    http3.is_stopped = True
    http3.content_length, http3.ends_at = content_length, ends_at
    return http3


def test_unread_bytes_are_body_as_far_as_the_content_length_says() -> None:
    assert sizes(left(5, 57)) == (57, 5)
    assert sizes(left(None, 57)) == (57, None)
    assert sizes(left(5, None)) == (57, None)
    assert sizes(left(5000, 57)) == (57, None)

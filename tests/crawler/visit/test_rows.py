"""Rows name the initiator of a request where it is known, and the renderer's memory as its source."""

from typing import Any

import pytest

from crawler.capture.connections import CapturedConnection
from crawler.capture.packets import ACK, SYN, TCP, Packet, pack_end
from crawler.devtools.initiators import PageRequest
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import Exchange
from crawler.netlog.http1 import MessageReader
from crawler.netlog.quic import QuicTransport
from crawler.netlog.tcp import TcpTransport
from crawler.visit.rows import TrafficRows, add_reused, first_flight_columns, make_rows, match_requests
from schema.vocabulary import INITIAL_WINDOW_UNKNOWN

CLIENT, SERVER = pack_end("192.0.2.1", 50_000), pack_end("192.0.2.2", 80)


def exchange(
    url: str, dest: str, referer: str | None = None, *, asked_ms: int = 0, **fields: Any
) -> Exchange:
    headers = {"sec-fetch-dest": dest} | ({"referer": referer} if referer else {})
    return Exchange(url, "GET", "other", asked_ms, request_headers=headers, status=200, **fields)


def initiators(exchanges: list[Exchange], asked: list[PageRequest] | None = None) -> list[int | None]:
    traffic = add_reused(Traffic([], exchanges, 0), asked or [])
    rows = make_rows(traffic, asked or [], start_ms=0, salt=b"", error_name=str)
    return [row["initiator_id"] for row in rows.responses]


PAGE = exchange("https://a.test/", "document")
FRAME = exchange("https://a.test/frame", "iframe", "https://a.test/")


def test_a_referer_with_a_path_names_the_initiator() -> None:
    assert initiators([PAGE, FRAME, exchange("https://a.test/x", "empty", "https://a.test/frame")])[2] == 2


def test_a_referer_that_may_be_an_origin_names_the_only_document_of_that_origin() -> None:
    asked = exchange("https://c.test/x", "empty", "https://a.test/")
    assert initiators([PAGE, asked]) == [None, 1]


def test_a_referer_that_may_be_an_origin_is_ambiguous_with_two_documents() -> None:
    asked = exchange("https://c.test/x", "empty", "https://a.test/")
    assert initiators([PAGE, FRAME, asked])[2] is None


def test_the_pages_events_take_precedence_over_the_referer() -> None:
    asked = [PageRequest("https://c.test/x", "https://a.test/frame", "fetch")]
    assert initiators([PAGE, FRAME, exchange("https://c.test/x", "empty", "https://a.test/")], asked)[2] == 2


def test_a_preflight_and_its_request_are_not_taken_for_each_other() -> None:
    preflight = Exchange(
        "https://c.test/x", "OPTIONS", "other", 1, request_headers={"access-control-request-method": "PUT"}
    )
    asked = [
        PageRequest("https://c.test/x", "https://a.test/frame", "fetch"),
        PageRequest("https://c.test/x", "https://a.test/", "preflight"),
    ]
    initiator_ids = initiators([PAGE, FRAME, preflight, exchange("https://c.test/x", "empty")], asked)
    assert initiator_ids[2:] == [1, 2]


def test_a_response_from_the_renderers_memory_is_a_row_in_order() -> None:
    traffic = Traffic([], [PAGE, exchange("https://a.test/late", "empty", asked_ms=9)], 0)
    asked = [
        PageRequest("https://a.test/s", "https://a.test/", "script", asked_ms=5, in_memory=True, status=200)
    ]
    rows = make_rows(add_reused(traffic, asked), asked, start_ms=0, salt=b"", error_name=str).responses
    assert [(row["path"], row["from_cache"], row["wire_bytes_unknown"]) for row in rows] == [
        ("/", False, "unseen"),
        ("/s", True, "from_cache"),
        ("/late", False, "unseen"),
    ]
    assert (rows[1]["initiator_id"], rows[1]["resource_type"], rows[1]["status"]) == (1, "script", 200)


def test_the_browsers_delay_is_since_the_response_that_led_to_the_request() -> None:
    page = exchange("https://a.test/", "document", first_byte_ms=100, last_byte_ms=200, sent_ms=50)
    asked = [
        exchange("https://a.test/early", "empty", "https://a.test/", asked_ms=150, sent_ms=190),
        exchange("https://a.test/late", "empty", "https://a.test/", asked_ms=230, sent_ms=290),
        exchange("https://a.test/before", "empty", "https://a.test/", asked_ms=90, sent_ms=95),
        exchange("https://a.test/unsent", "empty", "https://a.test/", asked_ms=240),
        exchange("https://a.test/moved", "empty", asked_ms=260, sent_ms=261, redirected_from=page),
    ]
    rows = make_rows(Traffic([], [page, *asked], 0), [], start_ms=0, salt=b"", error_name=str).responses
    assert [(row["browser_delay_us"], row["browser_delay_first_byte_us"]) for row in rows] == [
        (None, None),
        (None, 50_000),
        (30_000, 130_000),
        (None, None),
        (None, None),
        (60_000, 160_000),
    ]


def test_a_priority_that_is_not_stated_is_the_default_except_over_http1() -> None:
    asked = [
        exchange("https://a.test/1", "empty", sent_ms=1),
        exchange("https://a.test/2", "empty", sent_ms=1, stream_id=1),
        exchange("https://a.test/3", "empty", stream_id=3),
    ]
    asked[0].request_headers["priority"] = "u=1, i"
    exchanges = [exchange("https://a.test/0", "empty", sent_ms=1), *asked]
    rows = make_rows(Traffic([], exchanges, 0), [], start_ms=0, salt=b"", error_name=str).responses
    priorities = [(row["urgency"], row["is_incremental"]) for row in rows]
    assert priorities == [(None, None), (1, True), (3, False), (None, None)]


def transport(*, sent_ms: int | None) -> TcpTransport:
    transport = TcpTransport(1_000)
    transport.exchanges.append(Exchange("http://a.test/", "GET", "main frame", 1_000, sent_ms=sent_ms))
    return transport


def packet(ms: int, source: bytes, sequence: int, acknowledgment: int, size: int, flags: int = ACK) -> Packet:
    other = SERVER if source == CLIENT else CLIENT
    return Packet(
        ms * 1_000_000, TCP, source, other, size, size, sequence, acknowledgment, flags, 500, b"\2\4\5\xb4"
    )


def captured() -> CapturedConnection:
    """A response of 700 bytes to a request of 100."""
    packets = [
        packet(1_000, CLIENT, 0, 0, 0, SYN),
        packet(1_020, SERVER, 0, 1, 0, SYN | ACK),
        packet(1_021, CLIENT, 1, 1, 100),
        packet(1_041, SERVER, 1, 101, 700),
    ]
    connection = CapturedConnection(packets[0])
    for captured_packet in packets:
        connection.add(captured_packet)
    return connection


def test_a_captured_connection_has_its_flight_and_a_bound() -> None:
    assert first_flight_columns(transport(sent_ms=1_021), captured()) == {
        "first_flight_bytes": 700,
        "first_flight_packets": 1,
        "segment_bytes": 700,
        "initial_window_segments": 1,
        "initial_window_most_segments": None,
        "initial_window_unknown": "response_ended",
    }


def test_without_a_flight_a_known_reason_says_why() -> None:
    lost = captured()
    lost.is_lost = True
    quic = transport(sent_ms=1_021)
    quic.protocol = "h3"
    cases = [
        (first_flight_columns(transport(sent_ms=1_021), None), "not_captured"),
        (first_flight_columns(transport(sent_ms=1_021), lost), "not_captured"),
        (first_flight_columns(transport(sent_ms=None), captured()), "no_response"),
        (first_flight_columns(transport(sent_ms=1_500), captured()), "no_response"),
        (first_flight_columns(quic, captured()), "quic"),
    ]
    assert [(flight["initial_window_unknown"], flight["initial_window_segments"]) for flight, _ in cases] == [
        (reason, None) for _, reason in cases
    ]
    assert {reason for _, reason in cases} <= INITIAL_WINDOW_UNKNOWN.keys()


def test_packets_that_came_after_the_recording_leave_the_audit_unknown() -> None:
    traffic = Traffic([transport(sent_ms=1_021)], [], 0)
    cases = [
        make_rows(
            traffic, [], start_ms=1_000, salt=b"", error_name=str, captured=[captured()], stop_ms=stop_ms
        ).connections[0]["packet_bytes"]
        for stop_ms in (1_040, 1_041)
    ]
    assert cases == [None, 700]


def test_packets_of_one_path_say_nothing_of_a_connection_that_migrated() -> None:
    moved = QuicTransport(1_000, protocol="h3", paths={("192.0.2.1:50000", "192.0.2.2:443")})
    rows = []
    for port in (50_000, 50_001):
        moved.paths.add((f"192.0.2.1:{port}", "192.0.2.2:443"))
        made = make_rows(
            Traffic([moved], [], 0),
            [],
            start_ms=1_000,
            salt=b"",
            error_name=str,
            captured=[captured()],
            stop_ms=2_000,
        )
        rows.append([made.connections[0][name] for name in ("packet_bytes", "initial_window_unknown")])
    assert rows == [[700, "no_response"], [None, "not_captured"]]


def test_a_request_that_is_sent_again_is_one_request_of_the_page() -> None:
    refused = exchange("https://a.test/in", "empty")
    answered = refused.send_again()
    other = exchange("https://a.test/in", "image")
    asked = [PageRequest("https://a.test/in", None, kind) for kind in ("fetch", "image")]
    exchanges = [refused, answered, other]
    assert {index: request.resource_type for index, request in match_requests(exchanges, asked).items()} == {
        0: "fetch",
        1: "fetch",
        2: "image",
    }


def counted(passed_on: int, *, finished: bool = True, coding: str = "", **fields: Any) -> TrafficRows:
    """Rows of a complete response of 10 bytes of body, of which so many were passed on to the page."""
    response = exchange("https://a.test/x", "empty", finished=finished, decoded_bytes=passed_on, **fields)
    response.response_headers |= {"content-encoding": coding} if coding else {}
    response.message = MessageReader()
    response.message.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + b"x" * 10)
    transport = TcpTransport(0, received_bytes=response.message.wire_bytes, last_byte_ms=0)
    transport.bind(response)
    transport.decrypted_bytes = transport.received_bytes
    return make_rows(Traffic([transport], [response], 0), [], start_ms=0, salt=b"", error_name=str)


@pytest.mark.parametrize(
    ("rows", "decoded_bytes", "missing_bytes"),
    [
        (counted(10), 10, 0),
        (counted(4, finished=False), 10, 0),  # the page has not read the rest
        (counted(4, is_left=True), 10, 0),
        (counted(4), 4, 6),
        (counted(13, finished=False), 10, 3),
        (counted(13, cached=True), 13, 0),
        (counted(70, coding="gzip"), 70, 0),
        (counted(7, is_left=True, coding="gzip"), None, 0),
    ],
)
def test_what_the_page_got_of_a_body_that_is_not_encoded_is_the_body(
    rows: TrafficRows, decoded_bytes: int | None, missing_bytes: int
) -> None:
    (row,) = rows.responses
    assert (row["body_bytes"], row["decoded_bytes"]) == (10, decoded_bytes)
    assert rows.coverage == rows.decrypted_coverage == 1 - missing_bytes / row["wire_bytes"]

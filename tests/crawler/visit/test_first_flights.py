"""The columns of a connection's first flight."""

from crawler.capture.connections import CapturedConnection
from crawler.capture.packets import ACK, SYN, TCP, Packet, end
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import Exchange
from crawler.netlog.tcp import TcpTransport
from crawler.visit.first_flights import first_flight_columns
from crawler.visit.rows import rows
from schema.vocabulary import INITIAL_WINDOW_UNKNOWN

CLIENT, SERVER = end("192.0.2.1", 50_000), end("192.0.2.2", 80)


def transport(*, sent_ms: int | None) -> TcpTransport:
    made = TcpTransport(1_000)
    made.exchanges.append(Exchange("http://a.test/", "GET", "main frame", 1_000, sent_ms=sent_ms))
    return made


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
    made = CapturedConnection(packets[0])
    for one in packets:
        made.add(one)
    return made


def test_a_captured_connection_has_its_flight_and_a_bound() -> None:
    assert first_flight_columns(transport(sent_ms=1_021), captured()) == {
        "first_flight_bytes": 700,
        "first_flight_packets": 1,
        "segment_bytes": 700,
        "initial_window_segments": 1,
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
    assert [(found["initial_window_unknown"], found["initial_window_segments"]) for found, _ in cases] == [
        (reason, None) for _, reason in cases
    ]
    assert {reason for _, reason in cases} <= INITIAL_WINDOW_UNKNOWN.keys()


def test_packets_that_came_after_the_recording_leave_the_audit_unknown() -> None:
    traffic = Traffic([transport(sent_ms=1_021)], [], 0)
    found = [
        rows(
            traffic, [], start_ms=1_000, salt=b"", error_name=str, captured=[captured()], stop_ms=stop_ms
        ).connections[0]["packet_bytes"]
        for stop_ms in (1_040, 1_041)
    ]
    assert found == [None, 700]

"""What came within the first round trip of a response over QUIC. Times are in milliseconds, the round trip is 50."""

from crawler.capture.packets import UDP, Packet, end
from crawler.capture.quic_flight import quic_first_flight

CLIENT, SERVER = end("192.0.2.1", 50_000), end("192.0.2.2", 443)


def datagram(ms: float, source: bytes, size: int) -> Packet:
    other = SERVER if source == CLIENT else CLIENT
    return Packet(round(ms * 1e6), UDP, source, other, size, size, 0, 0, 0, 0, b"")


HANDSHAKE = [datagram(0, CLIENT, 1250), datagram(50, SERVER, 1250), datagram(51, CLIENT, 90)]


def flight(packets: list[Packet], request_ms: float) -> tuple[int, int] | None:
    return quic_first_flight(packets, client=CLIENT, request_ns=round(request_ms * 1e6))


def test_the_flight_begins_a_round_trip_after_the_request_and_ends_a_round_trip_later() -> None:
    first = [datagram(102 + n, SERVER, 1200) for n in range(10)]
    second = [datagram(152.1 + n, SERVER, 1200) for n in range(20)]
    packets = [*HANDSHAKE, datagram(52, CLIENT, 300), datagram(53, SERVER, 60), *first, *second]
    assert flight(packets, 52) == (12_000, 10)


def test_a_connection_without_an_answer_has_no_flight() -> None:
    assert flight(HANDSHAKE, 52) is None
    assert flight([*HANDSHAKE, datagram(52, CLIENT, 300)], 52) is None
    assert flight([], 0) is None

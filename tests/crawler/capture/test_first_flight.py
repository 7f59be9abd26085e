"""What a connection's packets tell of the server's initial window.

Times are in milliseconds, the round trip is 50.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture.first_flight import CapturedFlight, measure_first_flight, measure_quic_first_flight
from crawler.capture.packets import ACK, SYN, UDP, Packet
from tests.crawler.capture.wire import CLIENT, MSS, PUSH, SERVER, Wire, clear, exact, secure


@pytest.mark.parametrize("window", [1, 2, 10, 32])
def test_a_server_that_waits_for_an_acknowledgment_has_shown_its_window(window: int) -> None:
    flight = clear(3 * window, window=window).estimate()
    assert flight == exact(window, packets=window, size=window * MSS)


def test_a_response_within_the_window_bounds_it() -> None:
    assert clear(7).estimate() == CapturedFlight(
        bytes=7 * MSS, packets=7, segment_bytes=MSS, window_segments=7, unknown="response_ended"
    )


def test_merged_segments_are_counted_one_by_one() -> None:
    wire = Wire().asks(50, 0, 0)
    wire.packets.append(wire.packet(100, SERVER, 0, 300, 10 * MSS))
    wire.acks(100.1, 10 * MSS)
    wire.packets.append(wire.packet(150.1, SERVER, 10 * MSS, 300, 20 * MSS))
    assert wire.estimate() == exact(10, packets=10, size=10 * MSS)


def test_a_full_receive_window_says_nothing_of_the_congestion_window() -> None:
    wire = Wire()
    wire.packets = [packet._replace(window=8 * MSS // 128) for packet in wire.packets]
    wire.asks(50, 0, 0, window=8 * MSS // 128 + 1).sends(100, 0, 8 * MSS).acks(100.1, 8 * MSS).sends(
        150.1, 8 * MSS, MSS
    )
    assert wire.estimate().unknown == "receive_window"


def test_a_server_that_pauses_by_itself_bounds_its_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 4 * MSS).acks(100.1, 4 * MSS).sends(190, 4 * MSS, 20 * MSS)
    assert wire.bounds() == (
        16,
        None,
        "sender_paused",
    )  # 20, of which 4 acknowledged segments may have let 4 grow


def test_flights_without_a_pause_between_them_bound_the_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 60 * MSS, apart_ms=3)
    for n in range(30):
        wire.acks(103.1 + 6 * n, 2 * (n + 1) * MSS)
    least, most, unknown = wire.bounds()
    assert (most, unknown) == (None, "flights_merged")
    assert least <= 17


def test_a_lost_end_of_the_flight_is_not_taken_for_its_end() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 8 * MSS).acks(100.1, 8 * MSS).sends(150.1, 10 * MSS, 20 * MSS)
    least, most, unknown = wire.bounds()
    assert (most, unknown) == (None, "loss")
    assert 8 <= least <= 14


def test_what_was_lost_within_the_flight_was_in_flight() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 3 * MSS).sends(100.05, 4 * MSS, 6 * MSS).acks(100.2, 3 * MSS)
    wire.sends(150.2, 10 * MSS, 4 * MSS).sends(151, 3 * MSS, MSS)
    assert wire.estimate() == exact(10, packets=9, size=9 * MSS)


def test_a_repeated_syn_makes_a_window_uncertain() -> None:
    wire = clear(30)
    wire.packets.insert(1, wire.packets[0]._replace(time_ns=10))
    assert wire.estimate().unknown == "loss"


def test_a_handshake_of_full_segments_that_ends_has_not_shown_the_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 3 * MSS).asks(100.1, 300, 3 * MSS)
    wire.sends(150.1, 3 * MSS, 2 * MSS, acknowledged=600)
    flight = wire.estimate(request_ms=100)
    assert (flight.window_segments, flight.unknown) == (3, "response_ended")


def test_a_handshake_that_used_less_than_half_the_window_did_not_grow_it() -> None:
    flight = secure(10).stamped().estimate(request_ms=100)
    assert flight == exact(10, packets=10, size=10 * MSS)


def test_a_handshake_may_have_grown_a_small_window() -> None:
    assert secure(6).stamped().bounds(request_ms=100) == (3, 6, "growth")


def test_without_timestamps_a_server_may_be_bbr_whose_window_grew() -> None:
    assert secure(10).bounds(request_ms=100) == (7, 10, "growth")


def test_a_stack_other_than_linux_may_have_let_an_idle_window_grow() -> None:
    wire = secure(10)
    wire.packets = [
        packet._replace(options=bytes.fromhex("020405b4 01 030307 0101 0402")) if packet.options else packet
        for packet in wire.packets
    ]
    assert wire.stamped().bounds(request_ms=100) == (7, 10, "growth")


def test_a_ticket_and_what_follows_a_thought_are_no_flights_of_a_window() -> None:
    """The ticket's acknowledgment lets a segment more out, and one by which the window grows,
    as the response ends."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2000)
    wire.asks(100.5, 300, 2000, 64).asks(101, 364, 2000)
    wire.sends(150.5, 2000, 255, acknowledged=664).asks(150.6, 664, 2255, 0)
    wire.sends(198, 2255, 148, acknowledged=664).sends(198.1, 2403, 8 * MSS, acknowledged=664)
    wire.sends(200.7, 2403 + 8 * MSS, 2 * MSS, acknowledged=664)
    wire.asks(198.3, 664, 2403, 0).asks(201, 664, 2403 + 10 * MSS, 0)
    wire.sends(248.4, 2403 + 10 * MSS, 2 * MSS, acknowledged=664)
    wire.sends(251.1, 2403 + 12 * MSS, 18 * MSS, acknowledged=664)
    assert wire.stamped().bounds(request_ms=101) == (10, 11, "growth")
    assert wire.estimate(request_ms=101).bytes == 255 + 148 + 8 * MSS
    flight = wire.estimate(request_ms=101, answer_after=2255)
    assert (flight.bytes, flight.packets) == (148 + 10 * MSS, 11)  # the ticket's acknowledgment was heard


def test_a_server_that_begins_again_before_it_has_heard_was_busy() -> None:
    """Its next segments come as if an acknowledgment had let them out,
    but echo what the browser sent before."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 4 * MSS).acks(100.1, 4 * MSS).sends(150.2, 4 * MSS, 10 * MSS)
    late = {
        packet.time_ns / 1e6: 50.0
        for packet in wire.packets
        if packet.source == SERVER and packet.time_ns > 150e6
    }
    assert wire.stamped(echo_of=late).bounds() == (14, None, "response_ended")


def test_a_short_segment_before_a_pause_tells_no_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 4 * MSS + 200).acks(100.1, 4 * MSS + 200)
    wire.sends(150.1, 4 * MSS + 200, 2 * MSS)
    assert wire.stamped().bounds() == (5, None, "sender_paused")


def test_a_sender_whose_acknowledgment_is_due_may_hold_a_third_of_its_window_back() -> None:
    """Two small segments are not acknowledged until the response has been sent."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2000)
    wire.asks(100.5, 300, 2000, 64).asks(101, 364, 2000)
    wire.sends(150.5, 2000, 255, acknowledged=664).sends(190, 2255, 9 * MSS, acknowledged=664)
    wire.asks(190.1, 664, 2255 + 9 * MSS, 0).sends(240.1, 2255 + 9 * MSS, 20 * MSS, acknowledged=664)
    assert wire.stamped().bounds(request_ms=101) == (10, 14, "held_back")


def test_a_segment_for_want_of_acknowledgments_may_exceed_the_window() -> None:
    """RFC 8985 §7: a probe is new data if there is any, whatever the window."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2 * MSS).sends(215, 2 * MSS, MSS)
    assert wire.stamped().bounds()[0] == 2


def test_a_probe_may_come_after_two_round_trips_shorter_than_the_browsers() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2 * MSS).sends(165, 2 * MSS, MSS)
    assert wire.bounds()[0] == 2


def test_the_round_trip_is_the_shortest_way_there_and_the_shortest_way_back() -> None:
    """The SYN is held up on its way to the server, and the acknowledgment of the request on its way back."""
    wire = Wire()
    wire.packets[0] = wire.packets[0]._replace(time_ns=-60_000_000)
    wire.asks(50, 0, 0).sends(200, 0, 2 * MSS).sends(303, 2 * MSS, MSS)
    wire.packets.append(wire.packet(160, SERVER, 0, 300, 0))
    assert wire.stamped(left={160: 100}).bounds()[0] == 2


def test_a_segment_that_came_twice_lets_a_window_grow_twice() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 400).sends(330, 0, 400)
    wire.asks(331, 300, 400, 64).asks(331.1, 364, 400)
    wire.sends(381.1, 400, 12 * MSS, acknowledged=664)
    assert wire.stamped().bounds(request_ms=331.1)[0] == 10


def test_what_comes_alone_after_a_timeout_may_have_been_lost_before() -> None:
    wire = Wire().asks(50, 0, 0).sends(410, 0, MSS).acks(410.1, MSS).sends(460.1, MSS, 2 * MSS)
    assert wire.stamped().bounds() == (1, None, "loss")


def test_a_busy_server_over_a_short_path_has_lost_nothing() -> None:
    """A round trip of 1 ms, and a server that signs for 3 ms."""
    wire = Wire()
    wire.packets = [
        wire.packets[0],
        wire.packets[1]._replace(time_ns=1_000_000),
        wire.packets[2]._replace(time_ns=1_000_000),
    ]
    wire.asks(1.1, 0, 0).sends(5.1, 0, 2000).asks(6.2, 300, 2000, 64).asks(6.3, 364, 2000)
    wire.sends(10.3, 2000, 10 * MSS, acknowledged=664).asks(10.4, 664, 2000 + 10 * MSS, 0)
    wire.sends(11.4, 2000 + 10 * MSS, 20 * MSS, acknowledged=664)
    assert wire.stamped(round_trip_ms=1).bounds(request_ms=6.3) == (8, 10, "growth")


def test_the_first_packet_belongs_to_the_flight_though_it_acknowledges_what_came_with_it() -> None:
    wire = Wire().asks(50, 0, 0).sends(51, 0, 500, acknowledged=500).asks(51, 0, 500, 500)
    flight = measure_first_flight(wire.packets, client=CLIENT, request_ns=0)
    assert isinstance(flight, CapturedFlight)
    assert (flight.bytes, flight.packets) == (500, 1)


def test_a_handshake_longer_than_the_window_shows_it() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2 * MSS).acks(100.1, 2 * MSS).sends(150.1, 2 * MSS, 700)
    wire.asks(151, 300, 2 * MSS + 700).sends(201, 2 * MSS + 700, 400, acknowledged=600)
    flight = wire.estimate(request_ms=150.5)
    assert (flight.bytes, flight.packets, flight.window_segments, flight.unknown) == (400, 1, 2, "")


@pytest.mark.parametrize(
    ("packets", "reason"),
    [([], "no_handshake"), (clear(3).packets[3:], "no_handshake"), (Wire().packets, "no_response")],
)
def test_connections_that_cannot_be_read_have_a_reason(packets: list[Packet], reason: str) -> None:
    assert measure_first_flight(packets, client=CLIENT, request_ns=0) == reason


@given(
    st.lists(
        st.tuples(
            st.integers(0, 400),
            st.booleans(),
            st.integers(-2, 20),
            st.integers(-2, 20),
            st.integers(0, 3),
            st.sampled_from([ACK, ACK | PUSH, SYN, SYN | ACK, 0]),
        ),
        max_size=40,
    ),
    st.integers(0, 400),
)
def test_any_packets_give_an_estimate_or_a_reason(
    packets: list[tuple[int, bool, int, int, int, int]], request_ms: int
) -> None:
    wire = Wire().asks(50, 0, 0)
    for ms, is_client, position, acknowledged, size, flags in packets:
        source = CLIENT if is_client else SERVER
        wire.packets.append(
            wire.packet(ms, source, position * 500, acknowledged * 500, size * 500, segment=1000, flags=flags)
        )
    wire.packets.sort(key=lambda packet: packet.time_ns)
    flight = measure_first_flight(wire.packets, client=CLIENT, request_ns=request_ms * 1_000_000)
    if isinstance(flight, CapturedFlight):
        assert flight.window_segments >= 1
        assert min(flight.bytes, flight.packets, flight.segment_bytes) >= 1
    else:
        assert flight in {"no_handshake", "no_response"}


def datagram(ms: float, source: bytes, size: int) -> Packet:
    other = SERVER if source == CLIENT else CLIENT
    return Packet(round(ms * 1e6), UDP, source, other, size, size, 0, 0, 0, 0, b"")


QUIC_HANDSHAKE = [datagram(0, CLIENT, 1250), datagram(50, SERVER, 1250), datagram(51, CLIENT, 90)]


def quic_flight(packets: list[Packet], request_ms: float) -> tuple[int, int] | None:
    return measure_quic_first_flight(packets, client=CLIENT, request_ns=round(request_ms * 1e6))


def test_the_flight_begins_a_round_trip_after_the_request_and_ends_a_round_trip_later() -> None:
    first = [datagram(102 + n, SERVER, 1200) for n in range(10)]
    second = [datagram(152.1 + n, SERVER, 1200) for n in range(20)]
    packets = [*QUIC_HANDSHAKE, datagram(52, CLIENT, 300), datagram(53, SERVER, 60), *first, *second]
    assert quic_flight(packets, 52) == (12_000, 10)


def test_a_flight_over_quic_begins_with_data_of_the_response() -> None:
    """The round trip is 50; the server acknowledges at once, and answers 18 later."""
    answer = [datagram(120 + n, SERVER, 1200) for n in range(10)]
    packets = [*QUIC_HANDSHAKE, datagram(52, CLIENT, 300), datagram(102, SERVER, 25), *answer]
    assert quic_flight(packets, 52) == (12_000, 10)
    # The log tells where it begins, whatever came before: here an acknowledgment, and a ticket.
    packets = [*packets[:5], datagram(103, SERVER, 400), *answer]
    known = measure_quic_first_flight(
        packets, client=CLIENT, request_ns=52_000_000, answer_after=1250 + 25 + 400
    )
    assert known == (12_000, 10)


def test_a_connection_without_an_answer_has_no_flight() -> None:
    assert quic_flight(QUIC_HANDSHAKE, 52) is None
    assert quic_flight([*QUIC_HANDSHAKE, datagram(52, CLIENT, 300)], 52) is None
    assert quic_flight([], 0) is None

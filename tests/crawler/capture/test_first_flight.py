"""What a connection's packets tell of the server's initial window.

Times are in milliseconds, the round trip is 50.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture.first_flight import FirstFlight, first_flight, quic_first_flight
from crawler.capture.packets import ACK, SYN, UDP, Packet
from tests.crawler.capture.wire import BBR, CLIENT, MSS, PUSH, SERVER, Wire, clear, exact, paced, secured


@pytest.mark.parametrize("window", [1, 2, 10, 32])
def test_a_server_that_waits_for_an_acknowledgment_has_shown_its_window(window: int) -> None:
    found = clear(3 * window, window=window).estimate()
    assert found == exact(window, packets=window, size=window * MSS)


def test_a_response_within_the_window_bounds_it() -> None:
    assert clear(7).estimate() == FirstFlight(
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
    wire.packets = [one._replace(window=8 * MSS // 128) for one in wire.packets]
    wire.asks(50, 0, 0, window=8 * MSS // 128 + 1).sends(100, 0, 8 * MSS).acks(100.1, 8 * MSS).sends(
        150.1, 8 * MSS, MSS
    )
    assert wire.estimate().unknown == "receive_window"


def test_a_server_that_pauses_by_itself_bounds_its_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 4 * MSS).acks(100.1, 4 * MSS).sends(190, 4 * MSS, 20 * MSS)
    found = wire.estimate()
    assert (found.window_segments, found.unknown) == (4, "sender_paused")


def test_flights_without_a_pause_between_them_bound_the_window() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 30 * MSS, apart_ms=3).acks(100.1, MSS)
    found = wire.estimate()
    assert found.unknown == "flights_merged"
    assert found.window_segments <= 15


def test_a_lost_end_of_the_flight_is_not_taken_for_its_end() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 8 * MSS).acks(100.1, 8 * MSS).sends(150.1, 10 * MSS, 20 * MSS)
    found = wire.estimate()
    assert (found.window_segments, found.unknown) == (8, "loss")


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
    found = wire.estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (3, "response_ended")


def test_a_handshake_that_used_less_than_half_the_window_did_not_grow_it() -> None:
    found = secured(10).estimate(request_ms=100)
    assert found == exact(10, packets=10, size=10 * MSS)


def test_a_handshake_may_have_grown_a_small_window() -> None:
    found = secured(6).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (3, "growth")


def test_a_stack_other_than_linux_may_have_let_an_idle_window_grow() -> None:
    wire = secured(10)
    wire.packets = [
        one._replace(options=bytes.fromhex("020405b4 01 030307 0101 0402")) if one.options else one
        for one in wire.packets
    ]
    found = wire.estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (7, "growth")


def test_a_slow_link_that_brings_segments_at_bbrs_pace_does_not_show_bbr() -> None:
    found = secured(13, gap_ms=50 / 2.89 / 13).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (10, "growth")


@pytest.mark.parametrize("initial", [8, 16, 26])
def test_a_server_that_keeps_bbrs_pace_has_grown_its_window_by_its_handshake(initial: int) -> None:
    window, rate = initial + 3, BBR * initial
    found = paced(window, [rate] * ((window - 7) // 2), [rate] * 12).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (initial, "")


@pytest.mark.parametrize("window", [11, 19, 29])
def test_a_server_that_paces_as_fq_does_in_slow_start_has_kept_its_window(window: int) -> None:
    growing = [2.0 * min(2 * window, window + 2 * n + 2) for n in range(12)]
    found = paced(window, [2.0 * window] * ((window - 7) // 2), growing).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (window, "")


def test_pauses_of_no_known_pace_leave_open_whether_the_window_grew() -> None:
    found = paced(19, [20, 50, 30, 45, 25, 55], [30, 50, 20, 55, 25, 40, 30]).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (16, "growth")


def test_a_handshake_longer_than_the_window_shows_it() -> None:
    wire = Wire().asks(50, 0, 0).sends(100, 0, 2 * MSS).acks(100.1, 2 * MSS).sends(150.1, 2 * MSS, 700)
    wire.asks(151, 300, 2 * MSS + 700).sends(201, 2 * MSS + 700, 400, acknowledged=600)
    found = wire.estimate(request_ms=150.5)
    assert (found.bytes, found.packets, found.window_segments, found.unknown) == (400, 1, 2, "")


@pytest.mark.parametrize(
    ("made", "reason"),
    [([], "no_handshake"), (clear(3).packets[3:], "no_handshake"), (Wire().packets, "no_response")],
)
def test_connections_that_cannot_be_read_have_a_reason(made: list[Packet], reason: str) -> None:
    assert first_flight(made, client=CLIENT, request_ns=0) == reason


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
    made: list[tuple[int, bool, int, int, int, int]], request_ms: int
) -> None:
    wire = Wire().asks(50, 0, 0)
    for ms, is_client, position, acknowledged, size, flags in made:
        source = CLIENT if is_client else SERVER
        wire.packets.append(
            wire.packet(ms, source, position * 500, acknowledged * 500, size * 500, segment=1000, flags=flags)
        )
    wire.packets.sort(key=lambda one: one.time_ns)
    found = first_flight(wire.packets, client=CLIENT, request_ns=request_ms * 1_000_000)
    if isinstance(found, FirstFlight):
        assert found.window_segments >= 1
        assert min(found.bytes, found.packets, found.segment_bytes) >= 1
    else:
        assert found in {"no_handshake", "no_response"}


def datagram(ms: float, source: bytes, size: int) -> Packet:
    other = SERVER if source == CLIENT else CLIENT
    return Packet(round(ms * 1e6), UDP, source, other, size, size, 0, 0, 0, 0, b"")


QUIC_HANDSHAKE = [datagram(0, CLIENT, 1250), datagram(50, SERVER, 1250), datagram(51, CLIENT, 90)]


def quic_flight(packets: list[Packet], request_ms: float) -> tuple[int, int] | None:
    return quic_first_flight(packets, client=CLIENT, request_ns=round(request_ms * 1e6))


def test_the_flight_begins_a_round_trip_after_the_request_and_ends_a_round_trip_later() -> None:
    first = [datagram(102 + n, SERVER, 1200) for n in range(10)]
    second = [datagram(152.1 + n, SERVER, 1200) for n in range(20)]
    packets = [*QUIC_HANDSHAKE, datagram(52, CLIENT, 300), datagram(53, SERVER, 60), *first, *second]
    assert quic_flight(packets, 52) == (12_000, 10)


def test_a_connection_without_an_answer_has_no_flight() -> None:
    assert quic_flight(QUIC_HANDSHAKE, 52) is None
    assert quic_flight([*QUIC_HANDSHAKE, datagram(52, CLIENT, 300)], 52) is None
    assert quic_flight([], 0) is None

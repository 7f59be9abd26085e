"""What a connection's packets tell of the server's initial window. Times are in milliseconds, the round trip is 50."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture.first_flight import FirstFlight, first_flight
from crawler.capture.packets import ACK, SYN, TCP, Packet, end

CLIENT, SERVER = end("192.0.2.1", 50_000), end("192.0.2.2", 443)
MSS = 1460
OPTIONS = bytes.fromhex("020405b4 0101 0402 01 030307")
"""MSS 1460, SACK permitted, window scale 7, in Linux's order."""
PUSH = 0x08
CLIENT_FIRST, SERVER_FIRST = 4_294_967_000, 4_294_966_000
"""Sequence numbers that soon wrap around."""


class Wire:
    """Packets of a connection, as the client sees them."""

    def __init__(self) -> None:
        self.packets = [
            self.packet(0, CLIENT, -1, -1, 0, flags=SYN, options=OPTIONS),
            self.packet(50, SERVER, -1, 0, 0, flags=SYN | ACK, options=OPTIONS),
            self.packet(50, CLIENT, 0, 0, 0),
        ]

    @staticmethod
    def packet(
        ms: float,
        source: bytes,
        position: int,
        acknowledged: int,
        size: int,
        *,
        segment: int = MSS,
        flags: int = ACK,
        window: int = 1000,
        options: bytes = b"",
    ) -> Packet:
        own, other = (CLIENT_FIRST, SERVER_FIRST) if source == CLIENT else (SERVER_FIRST, CLIENT_FIRST)
        return Packet(
            round(ms * 1e6),
            TCP,
            source,
            SERVER if source == CLIENT else CLIENT,
            size,
            min(segment, size),
            (own + position) % 2**32,
            (other + acknowledged) % 2**32,
            flags,
            window,
            options,
        )

    def asks(
        self, ms: float, position: int, acknowledged: int, size: int = 300, *, window: int = 1000
    ) -> "Wire":
        self.packets.append(self.packet(ms, CLIENT, position, acknowledged, size, window=window))
        return self

    def acks(self, ms: float, acknowledged: int) -> "Wire":
        return self.asks(ms, 300, acknowledged, 0)

    def sends(
        self, ms: float, position: int, size: int, *, acknowledged: int = 300, apart_ms: float = 0.01
    ) -> "Wire":
        for at in range(position, position + size, MSS):
            length = min(MSS, position + size - at)
            self.packets.append(self.packet(ms, SERVER, at, acknowledged, length))
            ms += apart_ms
        return self

    def estimate(self, *, request_ms: float = 50) -> FirstFlight:
        self.packets.sort(key=lambda one: one.time_ns)
        found = first_flight(self.packets, client=CLIENT, request_ns=round(request_ms * 1e6))
        assert isinstance(found, FirstFlight)
        return found


def clear(segments: int, *, window: int = 10) -> Wire:
    """A response in clear text, and the flight after its first."""
    wire = Wire().asks(50, 0, 0)
    wire.sends(100, 0, min(segments, window) * MSS).acks(100.1, 2 * MSS).acks(
        100.2, min(segments, window) * MSS
    )
    if segments > window:
        wire.sends(150.1, window * MSS, min(segments - window, 2 * window) * MSS)
    return wire


def exact(window: int, *, packets: int, size: int) -> FirstFlight:
    return FirstFlight(bytes=size, packets=packets, segment_bytes=MSS, window_segments=window)


def stamped(wire: Wire, *, echoes_ms: float = 50, echo_of: dict[float, float] | None = None) -> Wire:
    """The same packets with timestamps, whose clocks have milliseconds; call it before the network delays any more.

    `echo_of` says for times in milliseconds of the server's packets which of the client's times they echo; others echo
    `echoes_ms`.
    """

    def clock(ms: float) -> bytes:
        return ((2**32 - 60 + int(ms)) % 2**32).to_bytes(4, "big")  # wraps around soon

    def stamps(one: Packet) -> bytes:
        ms = one.time_ns / 1e6
        return clock(ms) + (bytes(4) if one.source == CLIENT else clock((echo_of or {}).get(ms, echoes_ms)))

    wire.packets = [
        one._replace(options=one.options + b"\x01\x01\x08\x0a" + stamps(one)) for one in wire.packets
    ]
    return wire


def quickened() -> Wire:
    """A window of 10 segments; round trips of 50 ms, then of 40: what the first acknowledgment lets out comes early."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 10 * MSS, apart_ms=0.1)
    wire.acks(101, 2 * MSS).acks(103, 10 * MSS)
    return wire.sends(141, 10 * MSS, 4 * MSS, apart_ms=0.5).sends(144, 14 * MSS, 16 * MSS, apart_ms=0.1)


def test_a_segment_that_echoes_the_acknowledgment_is_of_the_next_flight_however_early_it_comes() -> None:
    assert (
        quickened().estimate().window_segments > 10
    )  # nothing but time tells flights apart without timestamps
    wire = quickened()
    later = {one.time_ns / 1e6: 101.0 for one in wire.packets if one.source == SERVER and one.time_ns > 140e6}
    assert stamped(wire, echo_of=later).estimate() == exact(10, packets=10, size=10 * MSS)


def test_an_echo_of_what_was_not_sent_yet_tells_no_more_than_what_was() -> None:
    wire = clear(30)
    ahead = {one.time_ns / 1e6: 10_000.0 for one in wire.packets if one.source == SERVER}
    found = stamped(wire, echo_of=ahead).estimate()
    assert found.window_segments <= 10


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


def secured(window: int, *, handshake: int = 3, gap_ms: float = 0.01) -> Wire:
    """A response after a handshake's flight, by a server whose window the handshake did not grow."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, handshake * MSS - 500)
    base = handshake * MSS - 500
    wire.asks(100.5, 300, base).sends(150.5, base, window * MSS, acknowledged=600, apart_ms=gap_ms)
    wire.acks(150.6, base + MSS).acks(150.7, base + window * MSS)
    return wire.sends(200.6, base + window * MSS, 2 * window * MSS, acknowledged=600, apart_ms=gap_ms)


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


def paced(window: int, first: list[float], later: list[float]) -> Wire:
    """As `secured` with three segments, but in bursts of two behind the first ten, paced by windows a round trip."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 3 * MSS)
    wire.asks(100.5, 300, 3 * MSS).sends(150.5, 3 * MSS, 7 * MSS, acknowledged=600)
    at, ms = 10, 150.5
    for windows in first:
        ms += 2 * 50 / windows
        wire.sends(ms, at * MSS, 2 * MSS, acknowledged=600)
        at += 2
    assert at == window + 3
    wire.acks(150.6, 4 * MSS).acks(165, at * MSS)
    ms = 200.6
    for n, windows in enumerate(later):
        wire.sends(ms, at * MSS, 2 * MSS, acknowledged=600)
        ms += (1 if n == 0 else 2) * 50 / windows
        at += 2
    return wire


BBR = 2.885 * 0.99
"""Windows that BBR sends in a round trip at first."""


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


def held_back(wire: Wire, since_ms: float, until_ms: float) -> Wire:
    """A network that holds back what the server sends in a time, and hands it over together at its end."""
    wire.packets = [
        one._replace(time_ns=round(until_ms * 1e6))
        if one.source == SERVER and since_ms < one.time_ns / 1e6 < until_ms
        else one
        for one in wire.packets
    ]
    return wire


def test_a_network_that_holds_packets_back_does_not_make_bbr_look_like_another() -> None:
    initial = 16

    def wire() -> Wire:
        return paced(initial + 3, [BBR * initial] * 6, [BBR * initial] * 12)

    steady = wire()
    begin_ms, end_ms = (steady.packets[n].time_ns / 1e6 for n in (-10, -1))
    assert held_back(wire(), begin_ms - 0.1, end_ms - 3).estimate(request_ms=100).window_segments > initial
    stamps = stamped(wire(), echo_of={one.time_ns / 1e6: 150.6 for one in steady.packets[-24:]})
    found = held_back(stamps, begin_ms - 0.1, end_ms - 3).estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (initial, "")


def test_a_servers_milliseconds_show_through_jitter_that_it_does_not_pace() -> None:
    base = 3 * MSS - 500

    def spread(gap_ms: float) -> Wire:
        wire = Wire().asks(50, 0, 0).sends(100, 0, base)
        wire.asks(100.5, 300, base).sends(150.5, base, 40 * MSS, acknowledged=600, apart_ms=gap_ms)
        wire.acks(150.6, base + MSS).acks(175, base + 40 * MSS)
        return wire.sends(200.6, base + 40 * MSS, 80 * MSS, acknowledged=600, apart_ms=gap_ms)

    by_the_path = spread(0.4)  # nearly at the pace of BBR
    assert by_the_path.estimate(request_ms=100).unknown == "growth"
    sent = stamped(spread(0.01))
    sent.packets = [
        one._replace(time_ns=came.time_ns)
        for one, came in zip(sent.packets, spread(0.4).packets, strict=True)
    ]
    found = sent.estimate(request_ms=100)
    assert (found.window_segments, found.unknown) == (40, "")


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

"""What the timestamps of both ends tell where the network changes when packets come.

The round trip is 50 ms.
"""

from crawler.capture.packets import Packet
from tests.crawler.capture.wire import BBR, CLIENT, MSS, SERVER, Wire, clear, exact, paced


def stamped(wire: Wire, *, echo_of: dict[float, float] | None = None, tick_ms: int = 1) -> Wire:
    """The same packets with timestamps, before the network delays any more;
    the server's clock has ticks of `tick_ms`.

    `echo_of` says for times in milliseconds of the server's packets which of the client's
    times they echo; others echo 50.
    """

    def clock(ms: float) -> bytes:
        return ((2**32 - 60 + int(ms)) % 2**32).to_bytes(4, "big")  # wraps around soon

    def stamps(one: Packet) -> bytes:
        ms = one.time_ns / 1e6
        if one.source == CLIENT:
            return clock(ms) + bytes(4)
        return clock(ms / tick_ms) + clock((echo_of or {}).get(ms, 50))

    wire.packets = [
        one._replace(options=one.options + b"\x01\x01\x08\x0a" + stamps(one)) for one in wire.packets
    ]
    return wire


def quickened() -> Wire:
    """A window of 10 segments; round trips of 50 ms, then of 40:
    what the first acknowledgment lets out comes early."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 10 * MSS, apart_ms=0.1)
    wire.acks(101, 2 * MSS).acks(103, 10 * MSS)
    return wire.sends(141, 10 * MSS, 4 * MSS, apart_ms=0.5).sends(144, 14 * MSS, 16 * MSS, apart_ms=0.1)


def test_a_segment_that_echoes_the_acknowledgment_is_of_the_next_flight_however_early_it_comes() -> None:
    wire = quickened()
    assert wire.estimate().window_segments > 10  # by time alone, without timestamps
    later = {one.time_ns / 1e6: 101.0 for one in wire.packets if one.source == SERVER and one.time_ns > 140e6}
    assert stamped(wire, echo_of=later).estimate() == exact(10, packets=10, size=10 * MSS)


def test_an_echo_of_what_was_not_sent_yet_tells_no_more_than_what_was() -> None:
    wire = clear(30)
    ahead = {one.time_ns / 1e6: 10_000.0 for one in wire.packets if one.source == SERVER}
    found = stamped(wire, echo_of=ahead).estimate()
    assert found == exact(10, packets=10, size=10 * MSS)


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


def test_a_server_whose_clock_has_longer_ticks_is_not_taken_for_a_faster_one() -> None:
    initial = 16
    wire = paced(initial + 3, [BBR * initial] * 6, [BBR * initial] * 12)
    assert stamped(wire, tick_ms=10).estimate(request_ms=100).window_segments <= initial

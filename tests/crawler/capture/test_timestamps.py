"""What the timestamps of both ends tell where the network changes when packets come.

The round trip is 50 ms.
"""

from tests.crawler.capture.wire import MSS, SERVER, Wire, clear, exact


def quickened() -> Wire:
    """A window of 10 segments; round trips of 50 ms, then of 40:
    what the first acknowledgment lets out comes early."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 10 * MSS, apart_ms=0.1)
    wire.acks(101, 2 * MSS).acks(103, 10 * MSS)
    return wire.sends(141, 10 * MSS, 4 * MSS, apart_ms=0.5).sends(144, 14 * MSS, 16 * MSS, apart_ms=0.1)


def test_a_segment_that_echoes_the_acknowledgment_is_of_the_next_flight_however_early_it_comes() -> None:
    wire = quickened()
    assert wire.estimate().window_segments > 10  # by time alone, without timestamps
    times = [packet.time_ns / 1e6 for packet in wire.packets if packet.source == SERVER]
    later = {ms: 101.0 if ms < 144 else 103.0 for ms in times if ms > 140}
    assert wire.stamped(echo_of=later).estimate() == exact(10, packets=10, size=10 * MSS)


def test_an_echo_of_what_was_not_sent_yet_tells_no_more_than_what_was() -> None:
    wire = clear(30)
    ahead = {packet.time_ns / 1e6: 10_000.0 for packet in wire.packets if packet.source == SERVER}
    assert wire.stamped(echo_of=ahead).estimate().window_segments == 10


def spread(*, gap_ms: float, tick_ms: float = 1) -> Wire:
    """A response of 19 segments after a handshake of 3, sent at intervals, and the next flight."""
    base = 3 * MSS
    wire = Wire().asks(50, 0, 0).sends(100, 0, base)
    wire.asks(100.5, 300, base).sends(150.5, base, 19 * MSS, acknowledged=600, apart_ms=gap_ms)
    wire.asks(150.6, 600, base + MSS, 0).asks(170, 600, base + 19 * MSS, 0)
    wire.sends(200.7, base + 19 * MSS, 2 * MSS, acknowledged=600, apart_ms=gap_ms)
    wire.sends(220.1, base + 21 * MSS, 36 * MSS, acknowledged=600, apart_ms=gap_ms)
    return wire.stamped(tick_ms=tick_ms)


def test_a_network_that_holds_packets_back_does_not_make_bbr_look_like_another() -> None:
    """BBR sends 2.86 windows of 16 in a round trip of 50 ms; the network hands its segments over together."""
    wire = spread(gap_ms=50 / 2.86 / 16)
    wire.packets = [
        packet._replace(time_ns=max(packet.time_ns, 168_000_000))
        if 150.5e6 < packet.time_ns < 172e6
        else packet
        for packet in wire.packets
    ]
    flight = wire.estimate(request_ms=100)
    assert flight.window_segments <= 16
    assert flight.unknown


def test_a_servers_milliseconds_show_through_jitter_that_it_does_not_pace() -> None:
    sent, came = spread(gap_ms=0.01), spread(gap_ms=0.9)
    sent.packets = [
        packet._replace(time_ns=late.time_ns) for packet, late in zip(sent.packets, came.packets, strict=True)
    ]
    assert sent.estimate(request_ms=100).window_segments == 19


def test_a_server_whose_clock_has_longer_ticks_is_not_taken_for_a_faster_one() -> None:
    flight = spread(gap_ms=50 / 2.86 / 16, tick_ms=10).estimate(request_ms=100)
    assert flight.window_segments <= 16

"""Arithmetic of slow start: the number of flights for a size, without loss and with unlimited bandwidth."""

MSS = 1460
"""Payload of a full segment: 1500-byte MTU less 40 bytes of IPv4 and TCP headers."""

MSS_TIMESTAMPS = 1448
"""Payload of a full segment with the timestamp option (RFC 7323), which Linux and the replay's kernel use."""

FRAME_OVERHEAD = 66
"""Bytes of a segment on the wire besides its payload: Ethernet 14, IPv4 20, TCP 20 and timestamps 12."""

MSS_FIG1 = 1430
"""Segment payload by which the 2010 paper's Fig. 1 draws its windows; the default of shares that fit."""

WINDOWS = (3, 10, 16, 30)
"""Initial windows compared by default, in segments: before RFC 6928, since RFC 6928, and two candidates."""


def segments(size_bytes: int, *, mss: int = MSS) -> int:
    return -(-size_bytes // mss)


def flights(size_bytes: int, *, iw: int, mss: int = MSS) -> int:
    """Return flights of segments needed to send `size_bytes` from an initial window of `iw` segments.

    The window doubles each round trip, as when every segment is acknowledged (RFC 5681 §3.1). Zero bytes take
    no flight.

    >>> flights(14_600, iw=10), flights(14_601, iw=10)
    (1, 2)
    """
    check(size_bytes, iw=iw, mss=mss)
    needed, window, sent, count = segments(size_bytes, mss=mss), iw, 0, 0
    while sent < needed:
        sent += window
        window *= 2
        count += 1
    return count


def linux_flights(size_bytes: int, *, iw: int, mss: int = MSS_TIMESTAMPS) -> int:
    """Return flights of a Linux sender, whose window grows by the acknowledged segments under any ACK policy.

    It doubles, as in `flights`: IW 10 sends 10, 30, 70, 150 segments in 1, 2, 3, 4 flights.

    >>> [linux_flights(n * MSS_TIMESTAMPS, iw=10) for n in (10, 11, 30, 31, 70, 71)]
    [1, 2, 2, 3, 3, 4]
    """
    return flights(size_bytes, iw=iw, mss=mss)


def arrivals_ms(
    size_bytes: int, *, iw: int, rtt_us: int, down_bps: int, mss: int = MSS_TIMESTAMPS
) -> list[float]:
    """Return the arrival time of each segment of a response, in ms from when its first segment could begin to
    arrive.

    Assumes an idle network without loss: segments follow each other at the bottleneck's rate, and each
    acknowledged segment releases two more (Linux in slow start), so that round trips and serialisation
    overlap.

    >>> arrivals_ms(4 * 1448, iw=2, rtt_us=100_000, down_bps=12_112_000)
    [1.0, 2.0, 102.0, 103.0]
    """
    check(size_bytes, iw=iw, mss=mss)
    arrived: list[float] = []
    for number in range(segments(size_bytes, mss=mss)):
        sent = arrived[(number - iw) // 2] + rtt_us / 1e3 if number >= iw else 0.0
        payload = min(mss, size_bytes - number * mss)
        free = max(sent, arrived[-1] if arrived else 0.0)
        arrived.append(free + (payload + FRAME_OVERHEAD) * 8e3 / down_bps)
    return arrived


def delayed_ack_rounds(count: int, *, iw: int) -> int:
    """Return rounds for `count` segments by the model of RFC 6928 §5.1.

    Every second segment is acknowledged, an odd last one waits for a timer that does not fire, and the window
    grows by one segment per ACK. A window of 1 would wait for ever.

    >>> delayed_ack_rounds(25, iw=3), delayed_ack_rounds(25, iw=10)
    (5, 2)
    """
    check(count, iw=iw, mss=1)
    if iw < 2:
        raise ValueError("in this model nobody acknowledges a window of one segment")
    window, sent, unacknowledged, rounds = iw, 0, 0, 0
    while sent < count:
        sent += window - (unacknowledged if rounds else 0)
        rounds += 1
        flight = window
        acks, unacknowledged = divmod(flight, 2)
        window += acks
    return rounds


def check(size: int, *, iw: int, mss: int) -> None:
    if size < 0 or iw < 1 or mss < 1:
        raise ValueError(f"no flight is possible: size {size}, initial window {iw}, segment {mss}")

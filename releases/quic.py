"""Arithmetic of QUIC's slow start: rounds in which a response arrives,
without loss and with unlimited bandwidth."""

DATAGRAM = 1200
"""Payload of the UDP datagrams that every path must carry (RFC 9000 §14),
and what a sender uses before it has probed for more."""

DATAGRAMS = (DATAGRAM, 1250, 1350, 1472)
"""Payloads of datagrams in use: the least; the default of Chromium's sender today, and its earlier one; and
the most that a packet of 1,500 bytes holds over IPv4, at which ten datagrams are just the window's limit."""

MOST_INITIAL_BYTES = 14_720
"""Most bytes of the initial window, unless two datagrams are more (RFC 9002 §7.2)."""

INITIAL_DATAGRAMS = 10
LEAST_DATAGRAMS = 2

HEADER = 1 + 2
"""Short header with a packet number of two bytes (RFC 9000 §17.3.1). A client such as Chromium chooses
connection IDs of no bytes, which is what a server's packets carry then."""

TAG = 16
"""Authentication tag of AES-GCM and ChaCha20-Poly1305 (RFC 9001 §5.3)."""

STREAM_FRAME = 1 + 2 + 4
"""Head of a STREAM frame that fills its packet: type, stream ID and offset (RFC 9000 §19.8);
typical sizes of both numbers, ours."""


def initial_window(datagram: int = DATAGRAM) -> int:
    """Initial congestion window in bytes: ten datagrams, at most 14,720 bytes,
    or two datagrams if that is more (RFC 9002 §7.2).

    >>> [initial_window(size) for size in (1200, 1452, 1500, 9000)]
    [12000, 14520, 14720, 18000]
    """
    if datagram < DATAGRAM:
        raise ValueError(f"a datagram of QUIC carries at least {DATAGRAM} bytes, not {datagram}")
    return min(INITIAL_DATAGRAMS * datagram, max(MOST_INITIAL_BYTES, LEAST_DATAGRAMS * datagram))


def stream_bytes(datagram: int = DATAGRAM) -> int:
    """Bytes of a stream that a full datagram carries.

    >>> [stream_bytes(size) for size in DATAGRAMS]
    [1174, 1224, 1324, 1446]
    """
    return datagram - HEADER - TAG - STREAM_FRAME


def sent_within(rounds: int, datagram: int = DATAGRAM) -> int:
    """Bytes of a stream that slow start sends within so many rounds;
    the window doubles in each (RFC 9002 §7.3.1).

    Datagrams are full, and the window holds whole ones. The handshake is over: before it validates the
    client's address, a server may send three times what it received at most (RFC 9000 §8.1).

    >>> [sent_within(rounds) // stream_bytes() for rounds in (1, 2, 3, 4)]
    [10, 30, 70, 150]
    """
    window = initial_window(datagram)
    return stream_bytes(datagram) * sum((window << one) // datagram for one in range(rounds))


def rounds(size_bytes: int, datagram: int = DATAGRAM) -> int:
    """Rounds that a response of `size_bytes` takes.

    >>> rounds(11_740), rounds(11_741), rounds(35_220), rounds(35_221)
    (1, 2, 2, 3)
    """
    count = 0
    while sent_within(count, datagram) < size_bytes:
        count += 1
    return count

"""The payload of connections is counted by sequence numbers, in any order, repeated,
wrapped and with gaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture import connections
from crawler.capture.connections import (
    CONNECTIONS_LIMIT,
    GAPS_LIMIT,
    INITIAL_BYTES,
    PACKETS_LIMIT,
    SEQUENCES,
    WINDOW,
    CapturedConnection,
    CapturedConnections,
    Received,
)
from crawler.capture.packets import ACK, FIN, PORT, SYN, TCP, UDP, Packet, pack_end

CLIENT, SERVER = pack_end("198.51.100.7", 50123), pack_end("192.0.2.1", 443)


def sent(
    sequence: int = 0,
    size: int = 0,
    flags: int = ACK,
    *,
    ends: tuple[bytes, bytes] = (SERVER, CLIENT),
    time_ns: int = 0,
    protocol: int = TCP,
) -> Packet:
    return Packet(time_ns, protocol, *ends, size, size, sequence, 0, flags, 0, b"")


def opened(first: int = 0, *, client: bytes = CLIENT, syn: int = 7) -> list[Packet]:
    return [
        sent(syn, flags=SYN, ends=(client, SERVER)),
        sent((first - 1) % SEQUENCES, flags=SYN | ACK, ends=(SERVER, client)),
    ]


def fed(*packets: Packet) -> CapturedConnections:
    connections = CapturedConnections()
    for packet in packets:
        connections.feed(packet)
    return connections


def taken(*packets: Packet) -> CapturedConnection:
    connection = fed(*packets).take(CLIENT, SERVER)
    assert connection is not None
    return connection


@given(st.integers(0, SEQUENCES - 1), st.lists(st.integers(1, 3000), min_size=1, max_size=40), st.data())
def test_each_byte_counts_once_in_any_order(first: int, sizes: list[int], data: st.DataObject) -> None:
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    segments = list(zip(starts, sizes, strict=True))
    segments += [(start, max(1, size // 2)) for start, size in data.draw(st.lists(st.sampled_from(segments)))]
    received = Received(first)
    for start, size in data.draw(st.permutations(segments)):
        received.add((first + start) % SEQUENCES, size)
    assert (received.payload_bytes, received.is_lost) == (sum(sizes), False)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=30))
def test_the_count_is_that_of_the_bytes_in_order(segments: list[tuple[int, int]]) -> None:
    received, positions = Received(5), set()
    for start, size in segments:
        received.add(5 + start, size)
        positions |= set(range(start, start + size))
    wanted = 0
    while wanted in positions:
        wanted += 1
    assert received.payload_bytes == wanted


def test_a_stream_may_have_more_bytes_than_there_are_sequence_numbers() -> None:
    received = Received(SEQUENCES - 10)
    for at in range(10):
        received.add((SEQUENCES - 10 + at * 10**9) % SEQUENCES, 10**9)
    assert received.payload_bytes == 10**10


def test_segments_beyond_any_window_are_not_part_of_the_stream() -> None:
    received = Received(0)
    received.add(WINDOW, 10)
    received.add(SEQUENCES - 5, 3)
    received.add(0, 10)
    assert received.payload_bytes == 10


def test_a_keep_alive_repeats_the_byte_before() -> None:
    received = Received(1)
    received.add(0, 1)
    assert received.payload_bytes == 0


def test_too_many_gaps_are_lost() -> None:
    received = Received(0)
    for at in range(GAPS_LIMIT + 1):
        assert not received.is_lost
        received.add(2 * at + 1, 1)
    assert received.is_lost


def test_a_connection_has_its_packets_and_the_payload_from_its_server() -> None:
    packets = [
        *opened(100),
        sent(8, 300, ends=(CLIENT, SERVER), time_ns=3),
        sent(100, 20, time_ns=4),
        sent(120, 30, ACK | FIN, time_ns=5),
        sent(120, 30, ACK | FIN, time_ns=6),
        sent(151, 0, time_ns=7),
    ]
    connection = taken(*packets)
    assert connection.packets == packets
    assert (connection.client, connection.server, connection.protocol) == (CLIENT, SERVER, TCP)
    assert (connection.received_bytes, connection.last_ns, connection.began_ns) == (50, 6, 0)


def test_data_may_come_with_the_syn() -> None:
    connection = taken(opened()[0], sent(99, 10, SYN | ACK), sent(110, 5))
    assert connection.received_bytes == 15


def test_a_repeated_handshake_is_the_same_connection_and_another_syn_is_not() -> None:
    first = [*opened(100), *opened(100), sent(100, 20)]
    assert taken(*first).received_bytes == 20
    assert taken(*first, *opened(500, syn=8), sent(500, 1)).received_bytes == 1


@pytest.mark.parametrize(
    "packets", [[sent(1, 10)], [opened()[1]], [sent(0, flags=SYN | ACK, ends=(CLIENT, SERVER))]]
)
def test_a_connection_without_its_syn_is_unknown(packets: list[Packet]) -> None:
    assert fed(*packets).take(CLIENT, SERVER) is None
    assert fed(*packets).take(SERVER, CLIENT) is None


def test_a_connection_that_was_refused_received_nothing_known() -> None:
    assert taken(opened()[0]).received_bytes is None


def test_udp_counts_all_datagrams_and_dns_is_left_out() -> None:
    to, back = (sent(0, 9, 0, ends=ends, protocol=UDP) for ends in ((CLIENT, SERVER), (SERVER, CLIENT)))
    connection = taken(to, back, back)
    assert (connection.protocol, connection.received_bytes, len(connection.packets)) == (UDP, 18, 3)
    dns = pack_end("192.0.2.1", 53)
    asked = [packet._replace(source=CLIENT, destination=dns) for packet in (to,)]
    assert fed(*asked, back._replace(source=dns)).take(CLIENT, dns) is None


def test_packets_that_the_capture_dropped_leave_the_payload_unknown() -> None:
    connections = fed(*opened(0), sent(0, 10))
    connections.lose()
    for packet in opened(0, client=SERVER[:4] + b"\0\1"):
        connections.feed(packet)
    lost, later = connections.take(CLIENT, SERVER), connections.take(SERVER[:4] + b"\0\1", SERVER)
    assert lost is not None
    assert later is not None
    assert (lost.received_bytes, later.received_bytes) == (None, 0)


NAMED = PORT.pack(50123) + SERVER


def test_a_connection_that_no_log_names_is_found_once() -> None:
    connections = fed(*opened(0), sent(0, 10, time_ns=9))
    assert [
        connection.received_bytes for connection in connections.list_unnamed(set(), since_ns=0, until_ns=5)
    ] == [10]
    assert connections.list_unnamed(set(), since_ns=0, until_ns=5) == []
    assert connections.take(CLIENT, SERVER) is not None


def test_what_is_named_began_at_another_time_received_nothing_or_is_a_probe_is_not_unnamed() -> None:
    came = (*opened(0), sent(0, 10))
    for packets, named, since_ns, until_ns in (
        (came, {NAMED}, 0, 5),
        (came, set[bytes](), 1, 5),
        (came, set[bytes](), -9, -1),
        (opened(0), set[bytes](), 0, 5),
        ([*opened(0, client=SERVER[:4] + PORT.pack(20_000))], set[bytes](), 0, 5),
    ):
        assert fed(*packets).list_unnamed(named, since_ns=since_ns, until_ns=until_ns) == []
    connections = fed(*came)
    connections.list_unnamed({NAMED}, since_ns=7, until_ns=8)
    assert connections.list_unnamed(set(), since_ns=0, until_ns=5) == []


def test_datagrams_that_come_after_their_connection_was_taken_are_no_connection() -> None:
    to, back = (sent(0, 50, 0, ends=ends, protocol=UDP) for ends in ((CLIENT, SERVER), (SERVER, CLIENT)))
    connections = fed(to, back)
    assert connections.take(CLIENT, SERVER) is not None
    for late in (back, to, back):
        connections.feed(late)
    assert connections.take(CLIENT, SERVER) is connections.take(SERVER, CLIENT) is None
    for new in (to._replace(payload_bytes=INITIAL_BYTES), back):
        connections.feed(new)
    again = connections.take(CLIENT, SERVER)
    assert again is not None
    assert again.received_bytes == 50


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT_LIMIT", PACKETS_LIMIT + 10)
    kept = fed(*opened(0), *(sent(at, 1) for at in range(1000)))
    for at in range(CONNECTIONS_LIMIT + 100):
        kept.feed(sent(7, flags=SYN, ends=(b"1234" + at.to_bytes(2, "big"), SERVER)))
    assert kept.take(CLIENT, SERVER) is None
    newest = kept.take(b"1234" + (CONNECTIONS_LIMIT + 99).to_bytes(2, "big"), SERVER)
    assert newest is not None
    assert len(newest.packets) == 1


def test_a_long_connection_keeps_its_first_packets_and_counts_on() -> None:
    connection = taken(*opened(0), *(sent(at, 1) for at in range(1000)))
    assert (len(connection.packets), connection.received_bytes) == (PACKETS_LIMIT, 1000)


ENDS = st.sampled_from([(CLIENT, SERVER), (SERVER, CLIENT), (CLIENT, pack_end("192.0.2.1", 53))])


@given(
    st.lists(
        st.builds(
            sent,
            st.integers(0, SEQUENCES - 1),
            st.integers(0, 2**32),
            st.integers(0, 255),
            ends=ENDS,
            protocol=st.sampled_from([TCP, UDP]),
        ),
        max_size=30,
    )
)
def test_no_packets_raise(packets: list[Packet]) -> None:
    connection = fed(*packets).take(CLIENT, SERVER)
    assert connection is None or (connection.received_bytes or 0) >= 0


def test_the_round_trip_is_from_syn_to_syn_ack() -> None:
    syn, answer = (
        packet._replace(time_ns=at) for packet, at in zip(opened(), (100_000, 350_000), strict=True)
    )
    assert taken(syn, answer, sent(size=10)._replace(time_ns=900_000)).round_trip_us == 250


def test_the_round_trip_is_the_kernels_where_that_is_smaller_or_the_only_one() -> None:
    syn, answer = opened()
    connection = taken(syn, answer._replace(time_ns=syn.time_ns + 250_000))
    for measured_us, smaller_us in ((240, 240), (260, 250)):
        connection.min_rtt_us = measured_us
        assert connection.round_trip_us == smaller_us
    twice = taken(syn, syn._replace(time_ns=5), answer)
    twice.min_rtt_us = 70
    assert twice.round_trip_us == 70


def test_the_round_trip_is_unknown_if_either_of_two_syns_may_be_answered_or_none_was() -> None:
    syn, answer = opened()
    assert taken(syn, syn._replace(time_ns=5), answer).round_trip_us is None
    assert taken(syn).round_trip_us is None
    datagrams = [sent(size=9, protocol=UDP, ends=(CLIENT, SERVER)), sent(size=9, protocol=UDP)]
    assert taken(*datagrams).round_trip_us is None

"""TCP streams put together from segments, however the network cuts, repeats and reorders them."""

from __future__ import annotations

import gc
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture import tcp_reassembly
from crawler.capture.segments import ACK, FIN, RST, SYN, Segment, flow
from crawler.capture.tcp_reassembly import TcpReassembler, TcpStream

FLOW = flow(("198.51.100.7", 50123), ("192.0.2.1", 443))
ISN = 1000
MIB = 1024 * 1024


def flow_of(number: int) -> bytes:
    return number.to_bytes(12, "big")


def syn_ack(key: bytes = FLOW, *, isn: int = ISN, of: int = 1, payload: bytes = b"") -> Segment:
    return Segment(key, isn, of, SYN | ACK, payload)


def part(position: int, payload: memoryview | bytes, key: bytes = FLOW, *, isn: int = ISN) -> Segment:
    return Segment(key, (isn + 1 + position) % 2**32, 1, ACK, payload)


def fed(*segments: Segment) -> TcpReassembler:
    found = TcpReassembler()
    for one in segments:
        found.feed(one)
    return found


def claimed(found: TcpReassembler, key: bytes = FLOW) -> TcpStream:
    stream = found.claim(key)
    assert stream is not None
    return stream


@st.composite
def cut(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, int]]]:
    """Bytes, and segments that cover them, some more than once, in any order."""
    whole = draw(st.binary(min_size=1, max_size=300))
    size = len(whole)
    edges = sorted({0, size, *draw(st.lists(st.integers(0, size), max_size=12))})
    pieces = list(itertools.pairwise(edges))
    spans = st.tuples(st.integers(0, size), st.integers(0, size)).map(lambda two: (min(two), max(two)))
    extra = draw(st.lists(st.one_of(st.sampled_from(pieces), spans), max_size=8))
    return whole, draw(st.permutations([*pieces, *extra]))


@given(cut(), st.integers(0, 2**32 - 1), st.data())
def test_a_stream_is_reassembled_exactly_after_cuts_repetitions_and_reordering(
    given_cut: tuple[bytes, list[tuple[int, int]]], isn: int, data: st.DataObject
) -> None:
    whole, pieces = given_cut
    found = fed(syn_ack(isn=isn))
    stream = claimed(found)
    read = b""
    for start, end in pieces:
        found.feed(part(start, memoryview(whole)[start:end], isn=isn))
        read += stream.take(data.draw(st.integers(0, stream.unread))) or b""
    assert read + (stream.take(stream.unread) or b"") == whole
    assert (stream.take(1), stream.kept) == (None, 0)


@given(cut(), st.data())
def test_bytes_after_a_missing_byte_cannot_be_taken(
    given_cut: tuple[bytes, list[tuple[int, int]]], data: st.DataObject
) -> None:
    whole, pieces = given_cut
    missing = data.draw(st.integers(0, len(whole) - 1))
    kept = [(start, end) for start, end in pieces if not start <= missing < end]
    stream = claimed(fed(syn_ack(), *(part(start, whole[start:end]) for start, end in kept)))
    assert stream.unread <= missing
    assert stream.take(missing + 1) is None
    assert whole.startswith(stream.take(stream.unread) or b"")


@given(cut(), st.integers(2**32 - 400, 2**32 - 1))
def test_sequence_numbers_wrap_around(given_cut: tuple[bytes, list[tuple[int, int]]], isn: int) -> None:
    whole, pieces = given_cut
    stream = claimed(fed(syn_ack(isn=isn), *(part(a, whole[a:b], isn=isn) for a, b in pieces)))
    assert stream.take(len(whole)) == whole


def test_sequence_numbers_wrap_around_repeatedly_in_a_long_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_reassembly, "SEQUENCES", 1 << 16)
    monkeypatch.setattr(tcp_reassembly, "WINDOW", 1 << 14)
    found = fed(syn_ack(isn=60_000))
    stream = claimed(found)
    whole = random.Random(1).randbytes(200_000)
    for at in range(0, len(whole), 2000):
        for start in (at + 1000, at, at):
            payload = whole[start : start + 1000]
            found.feed(Segment(FLOW, (60_001 + start) % (1 << 16), 1, ACK, payload))
        assert stream.take(2000) == whole[at : at + 2000]


def test_bytes_that_are_not_there_yet_can_be_taken_later() -> None:
    found = fed(syn_ack(), part(0, b"abc"))
    stream = claimed(found)
    assert (stream.take(4), stream.take(0), stream.take(2)) == (None, b"", b"ab")
    found.feed(part(3, b"def"))
    assert (stream.take(4), stream.take(1)) == (b"cdef", None)


def test_a_keep_alive_probe_adds_nothing() -> None:
    stream = claimed(fed(syn_ack(), part(-1, b"\0"), part(0, b"ab"), part(1, b"\0"), part(2, b"c")))
    assert stream.take(3) == b"abc"


def test_bytes_beyond_any_window_are_ignored() -> None:
    stream = claimed(fed(syn_ack(), part(2**30, b"far"), part(0, b"ab")))
    assert stream.kept == 2


def test_data_on_the_syn_ack_comes_first() -> None:
    assert claimed(fed(syn_ack(payload=b"ab"), part(2, b"c"))).take(3) == b"abc"


def test_fin_and_rst_leave_the_bytes_that_came() -> None:
    fin, reset = part(2, b"c")._replace(flags=FIN | ACK), part(3, b"")._replace(flags=RST)
    assert claimed(fed(syn_ack(), part(0, b"ab"), fin, reset)).take(3) == b"abc"


@pytest.mark.parametrize("flags", [0, SYN, SYN | RST | ACK])
def test_without_a_syn_ack_there_is_no_stream(flags: int) -> None:
    found = fed(syn_ack()._replace(flags=flags), part(0, b"abc"))
    assert found.claim(FLOW) is None


def test_segments_before_the_syn_ack_are_dropped_as_by_the_kernel() -> None:
    assert claimed(fed(part(0, b"abc"), syn_ack())).unread == 0


@pytest.mark.parametrize("isn", [ISN, 5000])
def test_a_second_syn_ack_to_the_same_syn_changes_nothing(isn: int) -> None:
    stream = claimed(fed(syn_ack(), part(0, b"ab"), syn_ack(isn=isn), part(2, b"c")))
    assert stream.take(3) == b"abc"


def test_flows_are_told_apart() -> None:
    found = fed(*(one for n in range(3) for one in (syn_ack(flow_of(n)), part(0, b"%d" % n, flow_of(n)))))
    assert [claimed(found, flow_of(n)).take(1) for n in range(3)] == [b"0", b"1", b"2"]


def test_a_stream_is_claimed_once() -> None:
    found = fed(syn_ack())
    claimed(found)
    assert found.claim(FLOW) is None


AGAIN = [syn_ack(isn=5000, of=2), part(0, b"new", isn=5000)]


def test_a_new_connection_takes_the_place_of_one_that_nobody_claimed() -> None:
    stream = claimed(fed(syn_ack(), part(0, b"old"), *AGAIN))
    assert (stream.take(3), stream.kept) == (b"new", 0)


def test_a_new_connection_begins_a_stream_while_the_old_one_is_still_read() -> None:
    found = fed(syn_ack(), part(0, b"old"))
    old = claimed(found)
    for one in AGAIN:
        found.feed(one)
    found.release(FLOW)  # of the old one: somebody hears late of its end
    found.feed(part(3, b"er", isn=5000))
    assert (old.take(3), claimed(found).take(5)) == (b"old", b"newer")


def test_a_new_connection_inherits_neither_age_nor_bytes() -> None:
    half = bytes(tcp_reassembly.UNCLAIMED_BYTES // 2)
    found = fed(syn_ack(), part(0, half), syn_ack(flow_of(1)), *AGAIN, part(0, half, flow_of(1)))
    found.feed(part(3, half[3:], isn=5000))
    found.feed(part(len(half), b"1", flow_of(1)))
    assert found.claim(flow_of(1)) is None
    assert claimed(found).unread == len(half)


def test_after_its_release_a_stream_gets_nothing_until_a_new_connection() -> None:
    found = fed(syn_ack())
    old = claimed(found)
    found.release(FLOW)
    found.feed(part(0, b"old"))
    assert (old.take(1), found.claim(FLOW)) == (None, None)
    for one in AGAIN:
        found.feed(one)
    assert claimed(found).take(3) == b"new"


def test_an_unknown_flow_may_be_released() -> None:
    TcpReassembler().release(FLOW)


def test_the_oldest_of_too_many_unclaimed_streams_are_forgotten() -> None:
    found = fed(*(syn_ack(flow_of(n)) for n in range(tcp_reassembly.UNCLAIMED_STREAMS + 2)))
    there = [found.claim(flow_of(n)) is not None for n in range(tcp_reassembly.UNCLAIMED_STREAMS + 2)]
    assert there == [False, False] + [True] * tcp_reassembly.UNCLAIMED_STREAMS


def test_a_forgotten_stream_takes_no_memory() -> None:
    found = fed(
        syn_ack(), part(0, b"abc"), *map(syn_ack, map(flow_of, range(tcp_reassembly.UNCLAIMED_STREAMS)))
    )
    there = [one for one in gc.get_objects() if isinstance(one, TcpStream)]
    assert found.claim(FLOW) is None
    assert [one.kept for one in there if one.kept] == []


def test_the_oldest_streams_with_too_many_unclaimed_bytes_are_forgotten() -> None:
    found = TcpReassembler()
    for n in range(6):
        found.feed(syn_ack(flow_of(n)))
    found.claim(flow_of(0))
    a_fifth = tcp_reassembly.UNCLAIMED_BYTES // 5 + 1
    for n in range(6):  # the claimed one's are not counted
        found.feed(part(0, bytes(a_fifth), flow_of(n)))
    assert [n for n in range(6) if found.claim(flow_of(n))] == [2, 3, 4, 5]
    found.feed(syn_ack(flow_of(7)))
    found.feed(part(0, bytes(tcp_reassembly.UNCLAIMED_BYTES), flow_of(7)))
    assert claimed(found, flow_of(7)).unread == tcp_reassembly.UNCLAIMED_BYTES


def test_a_claimed_stream_no_longer_counts_as_unclaimed() -> None:
    found = TcpReassembler()
    most = bytes(tcp_reassembly.UNCLAIMED_BYTES)
    for n in range(3):
        found.feed(syn_ack(flow_of(n)))
        found.feed(part(0, most, flow_of(n)))
        assert claimed(found, flow_of(n)).unread == len(most)


def test_an_unread_stream_is_lost_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_reassembly, "UNREAD_BYTES", 4 * MIB)
    found = fed(syn_ack())
    stream = claimed(found)
    for at in range(4):
        found.feed(part(at * MIB, bytes(MIB)))
    assert not stream.is_lost
    found.feed(part(4 * MIB, b"1"))
    found.feed(part(4 * MIB + 1, b"1"))
    assert (stream.is_lost, stream.kept, stream.take(0), stream.take(1)) == (True, 0, None, None)


def test_a_stream_that_is_read_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_reassembly, "UNREAD_BYTES", 4 * MIB)
    found = fed(syn_ack())
    stream = claimed(found)
    for at in range(100):
        found.feed(part(at * MIB, bytes(MIB)))
        assert stream.take(MIB) is not None
    assert (stream.is_lost, stream.kept) == (False, 0)


@pytest.mark.parametrize("size", [1, 1000, 65_000])
def test_a_stream_with_too_much_after_a_gap_is_lost_even_in_small_pieces(size: int) -> None:
    found = fed(syn_ack())
    stream = claimed(found)
    most = tcp_reassembly.AHEAD_BYTES // (size + tcp_reassembly.PIECE_BYTES)
    payload = bytes(size)
    for n in range(most):
        found.feed(part(1 + n * size, payload))
        found.feed(part(1 + n * size, payload))
    assert (stream.is_lost, stream.kept) == (False, most * (size + tcp_reassembly.PIECE_BYTES))
    found.feed(part(1 + most * size, payload))
    found.feed(part(0, b"x"))
    assert (stream.is_lost, stream.kept, stream.take(1)) == (True, 0, None)
    assert [one for one in gc.get_referents(stream) if isinstance(one, (bytearray, dict, list)) and one] == []


def test_bytes_in_order_do_not_count_as_after_a_gap() -> None:
    limit = tcp_reassembly.AHEAD_BYTES
    stream = claimed(fed(syn_ack(), part(0, bytes(limit)), part(limit + 1, b"x")))
    assert stream.unread == limit


@pytest.mark.parametrize("pieces", [(b"cd", b"cde"), (b"cde", b"cd"), (b"cde", b"cde")])
def test_the_longer_of_two_pieces_at_one_position_is_held(pieces: tuple[bytes, bytes]) -> None:
    found = fed(syn_ack(), *(part(2, one) for one in pieces))
    stream = claimed(found)
    assert stream.kept == 3 + tcp_reassembly.PIECE_BYTES
    found.feed(part(0, b"ab"))
    assert stream.take(5) == b"abcde"


def test_a_filled_gap_releases_the_pieces_after_it() -> None:
    whole = random.Random(2).randbytes(10 * MIB)
    pieces = [(at, whole[at : at + 1460]) for at in range(0, len(whole), 1460)]
    stream = claimed(fed(syn_ack(), *(part(at, payload) for at, payload in reversed(pieces))))
    assert stream.take(len(whole)) == whole
    assert stream.kept == 0

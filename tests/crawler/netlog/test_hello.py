"""Resumption and randoms are read from hellos, in any pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.netlog.hello import HelloReader, list_extensions

SUPPORTED_VERSIONS = bytes.fromhex("002b00020304")
KEY_SHARE = bytes.fromhex("00330006001d0002aabb")
PRE_SHARED_KEY = bytes.fromhex("002900020000")


def hello(*kinds: bytes, session_id: bytes = b"") -> bytes:
    joined = b"".join(kinds)
    body = b"\x03\x03" + bytes(32) + bytes([len(session_id)]) + session_id + b"\x13\x01\x00"
    body += len(joined).to_bytes(2, "big") + joined
    return b"\x02" + len(body).to_bytes(3, "big") + body


FULL = hello(SUPPORTED_VERSIONS, KEY_SHARE)
RESUMED = hello(SUPPORTED_VERSIONS, KEY_SHARE, PRE_SHARED_KEY, session_id=bytes(32))


def read(*pieces: tuple[int, bytes]) -> bool | None:
    reader = HelloReader()
    for offset, data in pieces:
        reader.feed(offset, data)
    return reader.resumed


def test_a_session_is_resumed_if_the_server_chose_a_pre_shared_key() -> None:
    assert read((0, FULL)) is False
    assert read((0, RESUMED)) is True


def test_of_two_hellos_the_second_counts() -> None:
    assert read((0, FULL + RESUMED)) is True


@given(st.lists(st.integers(0, len(RESUMED)), max_size=6), st.randoms(use_true_random=False))
def test_pieces_may_come_in_any_order_and_overlap(cuts: list[int], random: object) -> None:
    edges = [0, *sorted(cuts), len(RESUMED)]
    pieces = [(a, RESUMED[a : b + 3]) for a, b in pairwise(edges)]
    random.shuffle(pieces)  # type: ignore[attr-defined]
    assert read(*pieces) is True


@pytest.mark.parametrize("cut", [0, 3, 4, 20, len(RESUMED) - 1])
def test_a_hello_that_is_cut_short_is_unknown(cut: int) -> None:
    assert read((0, RESUMED[:cut])) is None
    assert read((5, RESUMED)) is None


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    assert read((0, b"\x02" + data)) in (None, False, True)
    assert all(0 <= kind <= 0xFFFF for kind in list_extensions(data))

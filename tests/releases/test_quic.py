"""QUIC's initial window and rounds, by RFC 9002."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releases.quic import DATAGRAM, initial_window, rounds, sent_within, stream_bytes
from releases.slow_start import flights

sizes = st.integers(0, 50_000_000)
datagrams = st.integers(DATAGRAM, 65_000)


@pytest.mark.parametrize(
    ("datagram", "window"),
    [(1200, 12_000), (1472, 14_720), (1473, 14_720), (7360, 14_720), (7361, 14_722), (9000, 18_000)],
)
def test_the_window_is_ten_datagrams_within_the_rfcs_bounds(datagram: int, window: int) -> None:
    assert initial_window(datagram) == window


@given(size=sizes)
def test_at_ten_datagrams_rounds_are_those_of_ten_segments_of_their_payload(size: int) -> None:
    assert rounds(size) == flights(size, iw=10, mss=stream_bytes())


@given(size=sizes, datagram=datagrams)
def test_rounds_are_the_fewest_that_carry_the_response(size: int, datagram: int) -> None:
    count = rounds(size, datagram)
    assert sent_within(count, datagram) >= size
    assert count == 0 or sent_within(count - 1, datagram) < size


@given(datagram=datagrams, count=st.integers(1, 8))
def test_no_round_sends_more_than_its_window(datagram: int, count: int) -> None:
    sent = sent_within(count, datagram) - sent_within(count - 1, datagram)
    assert sent <= initial_window(datagram) * 2 ** (count - 1)


def test_a_datagram_that_quic_forbids_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1200 bytes"):
        initial_window(1199)

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releases.slow_start import (
    MSS,
    MSS_TIMESTAMPS,
    arrivals_ms,
    delayed_ack_rounds,
    flights,
    linux_flights,
    segments,
)
from replay.published.rfc6928 import TABLE

SIZES = st.integers(0, 10**8)
WINDOWS = st.integers(1, 200)


@pytest.mark.parametrize(
    ("size_bytes", "needed"),
    [(0, 0), (1, 1), (14_600, 1), (14_601, 2), (43_800, 2), (43_801, 3), (102_200, 3), (102_201, 4)],
)
def test_flights_change_at_the_windows_boundaries(size_bytes: int, needed: int) -> None:
    assert flights(size_bytes, iw=10) == needed


@pytest.mark.parametrize(("count", "at_3", "at_10"), TABLE)
def test_the_table_of_rfc_6928_is_reproduced_exactly(count: int, at_3: int, at_10: int) -> None:
    assert (delayed_ack_rounds(count, iw=3), delayed_ack_rounds(count, iw=10)) == (at_3, at_10)


@pytest.mark.parametrize(
    ("iw", "capacities"),
    [(3, [3, 6, 12, 21, 33, 51, 78, 120, 183]), (10, [10, 25, 46, 79, 127, 199, 307])],
)
def test_rounds_of_rfc_6928_hold_what_its_model_says(iw: int, capacities: list[int]) -> None:
    for rounds, capacity in enumerate(capacities, start=1):
        assert delayed_ack_rounds(capacity, iw=iw) == rounds
        assert delayed_ack_rounds(capacity + 1, iw=iw) == rounds + 1


@pytest.mark.parametrize(
    ("iw", "capacities"),
    [
        (3, [3, 9, 21, 45, 93, 189]),
        (10, [10, 30, 70, 150, 310]),
        (16, [16, 48, 112, 240]),
        (30, [30, 90, 210]),
    ],
)
def test_a_linux_sender_doubles_whatever_is_acknowledged(iw: int, capacities: list[int]) -> None:
    for count, capacity in enumerate(capacities, start=1):
        assert linux_flights(capacity * MSS_TIMESTAMPS, iw=iw) == count
        assert linux_flights(capacity * MSS_TIMESTAMPS + 1, iw=iw) == count + 1


@given(SIZES, WINDOWS, st.integers(0, 50))
def test_a_larger_window_never_costs_a_flight(size_bytes: int, iw: int, more: int) -> None:
    assert flights(size_bytes, iw=iw + more) <= flights(size_bytes, iw=iw)


@given(SIZES, WINDOWS, st.integers(0, 10**6))
def test_more_bytes_never_save_a_flight(size_bytes: int, iw: int, more: int) -> None:
    assert flights(size_bytes + more, iw=iw) >= flights(size_bytes, iw=iw)


@given(st.integers(1, 10**8), WINDOWS)
def test_what_fits_into_the_window_takes_one_flight_and_no_more_does(size_bytes: int, iw: int) -> None:
    assert (flights(size_bytes, iw=iw) == 1) == (segments(size_bytes) <= iw) == (size_bytes <= iw * MSS)


@given(st.integers(0, 5_000), st.integers(2, 200), st.integers(0, 50))
def test_a_larger_window_never_costs_a_round_of_delayed_acknowledgements(
    count: int, iw: int, more: int
) -> None:
    assert delayed_ack_rounds(count, iw=iw + more) <= delayed_ack_rounds(count, iw=iw)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size_bytes": -1, "iw": 10},
        {"size_bytes": 1, "iw": 0},
        {"size_bytes": 1, "iw": 3, "mss": 0},
    ],
)
def test_negative_sizes_and_empty_windows_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no flight is possible"):
        flights(wrong.pop("size_bytes"), **wrong)


def test_the_model_of_delayed_acknowledgements_has_no_answer_for_a_window_of_one() -> None:
    with pytest.raises(ValueError, match="nobody acknowledges"):
        delayed_ack_rounds(2, iw=1)


@given(st.integers(1, 10**6), st.integers(1, 60))
def test_on_a_wide_network_segments_arrive_in_as_many_flights_as_linux_takes(
    size_bytes: int, iw: int
) -> None:
    arrived = arrivals_ms(size_bytes, iw=iw, rtt_us=1_000_000, down_bps=10**12)
    assert len(arrived) == segments(size_bytes, mss=MSS_TIMESTAMPS)
    assert 1 + int(arrived[-1] // 1000) == linux_flights(size_bytes, iw=iw)

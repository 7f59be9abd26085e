"""The distribution of initial windows from bounds, held against simulated truths."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from releases.initial_windows import (
    Bounds,
    WindowDistribution,
    distribution,
    likeliest_shares,
    window_distributions,
)
from releases.measures import open_tables
from tests.factories.made_up_crawl import MadeUp, write_tables

CONNECTIONS = 4_000
WINDOWS = (2, 4, 10, 16, 25, 32)
TLS_SEGMENTS = 3
"""Segments of a TLS flight, by which a window may have grown."""


def seen_in_clear(window: int, chance: random.Random) -> Bounds:
    """A window is exact if the response is longer: large windows seldom are."""
    response = int(chance.expovariate(1 / 30)) + 1
    return (window, window) if response > window else (response, None)


def seen_after_tls(window: int, chance: random.Random) -> Bounds:
    """Small windows are never exact, others a third of the time if the response is longer."""
    response = int(chance.expovariate(1 / 30)) + 1
    if response <= window:
        return response, None
    if window < 2 * TLS_SEGMENTS:
        return max(1, window - TLS_SEGMENTS), window + chance.choice((0, TLS_SEGMENTS))
    return chance.choice([(window, window), (window - TLS_SEGMENTS, window), (window, window + TLS_SEGMENTS)])


def simulated(
    truth: Mapping[int, float], seen: Callable[[int, random.Random], Bounds], *, seed: int = 1
) -> Counter[Bounds]:
    chance = random.Random(seed)
    windows = chance.choices(list(truth), weights=list(truth.values()), k=CONNECTIONS)
    return Counter(seen(window, chance) for window in windows)


def shares_at_most(counts: Mapping[Bounds, int]) -> Callable[[int], tuple[float, float]]:
    known: dict[Bounds | None, int] = {bounds: count for bounds, count in counts.items()}  # noqa: C416  # of None too
    return distribution(known).at_most


@pytest.mark.parametrize(
    ("truth", "seen"),
    [
        ({2: 0.05, 4: 0.15, 10: 0.6, 25: 0.2}, seen_in_clear),
        ({4: 0.4, 10: 0.4, 32: 0.2}, seen_after_tls),
        ({10: 0.7, 16: 0.1, 32: 0.2}, seen_after_tls),
    ],
)
def test_each_cumulative_share_lies_between_its_bounds(
    truth: dict[int, float], seen: Callable[[int, random.Random], Bounds]
) -> None:
    at_most = shares_at_most(simulated(truth, seen))
    for window in WINDOWS:
        true = sum(share for segments, share in truth.items() if segments <= window)
        low, high = at_most(window)
        assert low - 0.03 <= true <= high + 0.03, (window, low, high)


def test_what_is_exact_alone_would_miss_small_windows_after_tls() -> None:
    truth = {4: 0.4, 10: 0.4, 32: 0.2}
    counts = simulated(truth, seen_after_tls)
    exact = {least: count for (least, most), count in counts.items() if least == most}
    assert 4 not in exact
    assert (
        sum(count for window, count in exact.items() if window <= 10) / sum(exact.values()) > 0.75
    )  # of 10 and 32, they are 67 %
    low, high = shares_at_most(counts)(7)
    assert low == pytest.approx(0.4, abs=0.03)
    assert high == pytest.approx(0.4, abs=0.03)


def test_tls_and_clear_text_are_estimated_apart_and_then_joined(tmp_path: Path) -> None:
    """Together, exact small windows of clear text would take the small windows after TLS with them."""
    made_up = MadeUp()
    made_up.add_visit()
    for tls, window, most, unknown, count in (
        (None, 2, 2, None, 10),
        (None, 10, 10, None, 10),
        (3000, 1, 4, "growth", 60),
        (3000, 10, 10, None, 15),
        (3000, 8, None, "response_ended", 5),
    ):
        for _ in range(count):
            made_up.add_connection(
                tls_handshake_bytes=tls, window=window, window_unknown=unknown, window_most=most
            )
            made_up.add_response(1000)
    made_up.add_connection(window=None, window_unknown="not_captured")
    made_up.add_response(1000)
    write_tables(tmp_path, made_up)
    with open_tables(tmp_path) as database:
        estimated = window_distributions(database)
    assert list(estimated) == ["clear", "tls", "all"]
    together: WindowDistribution = estimated["all"]
    counts = (together.exact, together.bounded, together.at_least, together.unknown)
    assert counts == (35, 60, 5, 1)
    shares = {(share.least, share.most): round(share.share, 3) for share in together.shares}
    assert shares == {(1, 4): 0.6, (2, 2): 0.1, (10, 10): 0.3}
    assert together.at_most(2) == pytest.approx((0.1, 0.7))
    assert together.at_most(4) == pytest.approx((0.7, 0.7))


def test_exact_windows_alone_give_their_own_shares() -> None:
    shares = likeliest_shares({(10, 10): 3, (16, 16): 1})
    assert [(share.least, share.most, share.share) for share in shares] == [(10, 10, 0.75), (16, 16, 0.25)]
    assert likeliest_shares({}) == []


def test_what_only_lower_bounds_tell_stays_open() -> None:
    (only,) = likeliest_shares({(4, None): 1, (8, None): 1})
    assert (only.least, only.most, only.share) == (8, None, 1.0)

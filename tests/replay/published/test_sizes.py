"""Sizes and intervals of published effects, by arithmetic over made-up outcomes."""

import random

import numpy as np
import pytest

from replay.published import dukkipati, dukkipati_clients, fld, ietf77, linkedin
from replay.published.reproduction import beyond_factor
from replay.runs.races import FlowOutcome, RaceOutcome


def race_of(*seconds: float) -> RaceOutcome:
    flows = (
        FlowOutcome(seconds=duration, handshake_s=0.1, segments_sent=1, segments_retransmitted=0)
        for duration in seconds
    )
    return RaceOutcome(flows=tuple(flows), dropped=0)


def outcomes(count: int, ratio: float, noise: float) -> fld.Outcomes:
    """Twenty runs in which Reno takes `ratio` times as long, more or less."""
    generator = random.Random(count)  # a sample, not a secret
    background = [30.0] * count
    return {
        "fld": [race_of(*background, *[1.0] * 4) for _ in range(20)],
        "reno": [
            race_of(*background, *(ratio + noise * generator.uniform(-1, 1) for _ in range(4)))
            for _ in range(20)
        ],
    }


def test_the_interval_of_the_ratio_holds_it_and_five_runs_tell_less_than_twenty() -> None:
    interval = fld.interval({count: outcomes(count, 1.6, 0.5) for count in fld.COUNTS})
    assert interval.few_low < interval.low < 1.6 < interval.high < interval.few_high
    assert "over 20 runs, which settle on which side" in interval.sentence(1.6)
    near = fld.interval({count: outcomes(count, 1.5, 0.5) for count in fld.COUNTS})
    assert near.low < fld.LEAST_RATIO < near.high
    assert 0.2 < near.few_below < 0.8
    assert "do not settle" in near.sentence(1.5)


def test_equal_runs_leave_no_interval() -> None:
    interval = fld.interval({count: outcomes(count, 2.0, 0.0) for count in fld.COUNTS})
    assert (interval.low, interval.high, interval.few_below) == (2.0, 2.0, 0.0)


def test_the_interval_over_seeds_is_of_seeds_and_not_of_cells() -> None:
    cells = len(linkedin.grid())
    control = np.ones((cells, 10))
    unlike_cells = np.repeat(np.linspace(0.5, 1.3, cells)[:, None], 10, axis=1)
    low, high = linkedin.interval(unlike_cells, control)
    assert low == pytest.approx(high) == pytest.approx(0.1)
    seeds = np.random.default_rng(1).uniform(0.5, 1.3, size=(cells, 10))
    low, high = linkedin.interval(seeds, control)
    assert low < float(linkedin.gains_of(seeds, control).mean()) < high


def test_a_gain_that_hangs_on_the_weight_of_a_loss_rate_shows_at_that_loss_rate() -> None:
    gains = np.array([-0.3 if where.loss == 0 else 0.4 for where, _ in linkedin.grid()])
    levels = dict(linkedin.by_level(gains))
    assert len(levels) == 12
    assert levels["0 % lost"] == pytest.approx(-0.3)
    assert levels["2 % lost"] == pytest.approx(0.4)
    assert levels["RTT 150 ms"] == pytest.approx(gains.mean())


def test_the_buckets_of_bdp_and_segments_add_up_to_table_3_and_fig_2_does_not() -> None:
    means = {row.what.partition(":")[0]: row.published for row in dukkipati.mean_rows(80.0)}
    after, before = dukkipati.TABLE_3["AvgDC"]["mean"]
    assert before - after == 68
    assert means["Fig 5, BDP, bytes"] == pytest.approx(68, abs=0.5)
    assert means["Fig 7, segments"] == pytest.approx(68, abs=0.5)
    sentence = dukkipati.why_figure_2_differs(dukkipati.mean_rows(80.0))
    assert "The mean gain is 80 ms where Fig 2 has 22" in sentence


def test_table_3_is_compared_by_the_gain_of_each_quantile() -> None:
    rows = dukkipati.table_rows(dukkipati_clients.draw(500))
    assert [(row.what.rpartition(" ")[2], row.published) for row in rows] == [
        ("mean", 68),
        ("p10", 19),
        ("p50", 25),
        ("p90", 74),
        ("p95", 206),
        ("p99", 759),
    ]


def measured(milliseconds: float, retransmitted_pct: float) -> ietf77.Measured:
    return ietf77.Measured(milliseconds=(milliseconds,) * 5, retransmitted_pct=retransmitted_pct, refused=0)


def test_sizes_of_the_talk_are_held_to_a_factor_of_two() -> None:
    results = {
        (center, name, iw): measured(300 - 30 * (iw == 10), 2 + (iw == 10))
        for center, name in ietf77.APPLICATIONS
        for iw in ietf77.WINDOWS
    }
    by_name = {criterion.what: criterion.measured for criterion in ietf77.criteria(results)}
    # 30 ms everywhere: beside 19, 25, 74, 206, 759 and 12, 6, 36 and so on.
    assert by_name["AvgDC, search: gains in ms beyond a factor of 2, of 5 quantiles"] == 3
    assert by_name["AvgDC, maps: gains in ms beyond a factor of 2, of 3 quantiles"] == 2
    assert by_name["SlowDC, maps: gains in ms beyond a factor of 2, of 3 quantiles"] == 3
    # 1 point everywhere: beside 0.18, 0.90, 0.52 and 1.85.
    assert by_name["rises of retransmissions beyond a factor of 2, of 4"] == 1


def test_a_value_of_the_other_sign_is_beyond_any_factor() -> None:
    assert [beyond_factor([pair]) for pair in ((5, 5), (10, 5), (2.5, 5), (11, 5), (2, 5), (-5, 5), (0, 5))] == [  # noqa: E501
        0, 0, 0, 1, 1, 1, 1,
    ]  # fmt: skip

"""Checks of the replay that can leave an answer open."""

from __future__ import annotations

from reports.recommendation.estimates import estimates_of
from reports.recommendation.window_pair import NotEstimable
from reports.statistics.paired_loads import pair_loads
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK, recommend


def test_the_aa_check_fails_if_seeds_alone_move_page_times() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 8, 30: 8}, noise_percent=12, seeds=3))
    aa = next(check for check in found.checks if check.id == "aa")
    assert (found.iw, found.is_decided, aa.passed) == (None, False, False)
    assert "too few loads to tell; about" in found.reasons[0]


def test_the_aa_check_is_not_passed_by_luck() -> None:
    """With three seeds and 2 % of noise, chance moves the difference by more than the bound."""
    for seed_noise in (2.0, 3.0, 4.0):
        found = recommend(cells(gain_percent={10: 0, 16: 8}, noise_percent=seed_noise, seeds=3))
        assert not next(check for check in found.checks if check.id == "aa").passed


def test_chance_in_the_aa_comparison_agrees_with_repetition() -> None:
    """The stated chance covers about 95 % of the differences with other seeds."""
    inside = 0
    for draw in range(60):
        table = cells(gain_percent={10: 0}, noise_percent=2.0, seeds=4, pages=12, draw=draw)
        found = estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=QUICK).aa
        assert not isinstance(found, NotEstimable)
        inside += abs(found.deviation_percent) <= found.chance_percent
    assert 52 <= inside <= 60


def test_the_aa_comparison_needs_loss() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        found.reasons[0]
        == "The A/A comparison could not be made: no page was loaded under loss with two seeds."
    )


def test_too_few_pages_decide_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, pages=12))
    assert (found.iw, found.is_decided) == (None, False)
    assert "12 pages pair in the smallest comparison; the rule asks for 20." in found.reasons


def test_too_few_seeds_decide_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, seeds=2))
    assert found.reasons == ("Each page has at least 2 paired seeds; the rule asks for 3.",)


def test_an_interval_too_wide_decides_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 2}, spread_percent=15))
    power = next(check for check in found.checks if check.id == "power")
    assert (found.iw, found.is_decided, power.passed) == (None, False, False)


def test_refused_cells_are_counted_and_many_of_them_stop_the_answer() -> None:
    few = frozenset({("page03.test", 16, 2)})
    table = cells(gain_percent={10: 0, 16: 4}, refused=few)
    loads = pair_loads(table, congestion_control="cubic")
    assert loads.states == {"done": 382, "refused": 2}
    assert [(m.profile, m.iw, m.state, m.cells) for m in loads.missing] == [
        ("cable", 16, "refused", 1),
        ("slow", 16, "refused", 1),
    ]
    assert recommend(table).iw == 16
    many = frozenset((f"page{page:02}.test", 16, 2) for page in range(24))
    found = recommend(cells(gain_percent={10: 0, 16: 4}, refused=many))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        "On each network and at each window at least 75.0 % of the cells are done; the rule asks for 95 %."
        in found.reasons
    )


def test_a_replay_without_the_incumbent_decides_nothing() -> None:
    found = recommend(cells(gain_percent={3: 0, 16: 4}))
    assert (found.iw, found.is_decided) == (None, False)
    assert "The incumbent IW 10 was not replayed." in found.reasons

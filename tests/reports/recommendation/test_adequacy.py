"""Checks of the replay that can leave an answer open."""

import dataclasses

import pyarrow as pa
import pytest

from reports.recommendation.estimates import estimates_of
from reports.recommendation.recommend import decide
from reports.recommendation.self_comparison import compare_with_itself
from reports.statistics.paired_loads import PairedLoads, pair_loads, pair_rows
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK, recommend


def test_page_times_that_seeds_alone_move_decide_nothing() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 8, 30: 8}, noise_percent=12, seeds=3))
    assert (found.iw, found.is_decided) == (None, False)


def test_the_aa_check_asks_for_equivalence_within_what_the_gains_are_known_to() -> None:
    """Noise of 2 % leaves ±0.6 % to chance: too much where gains are known to 0.3 %,
    enough where pages differ by 10 %."""
    for spread, passed in ((0.2, False), (10.0, True)):
        table = cells(gain_percent={10: 0, 16: 8}, noise_percent=2.0, spread_percent=spread, seeds=4)
        aa = next(check for check in recommend(table).checks if check.id == "aa")
        assert (aa.passed, aa.limit > 0.6) == (passed, passed)


def test_seeds_that_differ_in_kind_fail_the_aa_check() -> None:
    rows = cells(gain_percent={10: 0, 16: 8}, spread_percent=3.0).to_pylist()
    for row in rows:
        row["page_ms"] *= 1.05 if row["seed"] % 2 else 1.0
    found = recommend(pa.Table.from_pylist(rows, schema=CELL))
    assert found.is_decided is False
    assert "more than chance explains" in found.reasons[0]


def test_chance_in_the_aa_comparison_agrees_with_repetition() -> None:
    """The interval holds zero about 95 % of the time with other seeds."""
    inside = 0
    for draw in range(60):
        table = cells(gain_percent={10: 0}, noise_percent=2.0, seeds=4, pages=12, draw=draw)
        loads = pair_loads(table, congestion_control="cubic")
        found = compare_with_itself(loads, 10, POPULATIONS["average"], rule=QUICK)
        inside += found.longer_percent.lower <= 0 <= found.longer_percent.upper
    assert 52 <= inside <= 60


def test_the_aa_comparison_needs_loss() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        found.reasons[0] == "The A/A comparison with other seeds could not be made: "
        "no page was loaded under loss with two seeds."
    )


def by_alias(table: pa.Table, *, factor: float) -> PairedLoads:
    """The loads of IW 10 by the alias route, which take `factor` times as long."""
    rows = [row for row in table.to_pylist() if row["iw"] == 10]
    for row in rows:
        row["page_ms"] = row["page_ms"] and row["page_ms"] * factor
    return pair_rows(rows, congestion_control="cubic")


@pytest.mark.parametrize(("factor", "passed"), [(1.0, True), (1.0002, True), (1.02, False)])
def test_a_window_must_equal_itself_by_another_route(factor: float, passed: bool) -> None:
    rule = dataclasses.replace(QUICK, asks_for_alias=True)
    table = cells(gain_percent={10: 0, 16: 8})
    loads, alias = pair_loads(table, congestion_control="cubic"), by_alias(table, factor=factor)
    found = decide(estimates_of(loads, POPULATIONS, rule=rule, alias_loads=alias), rule=rule)
    assert (found.is_decided, found.iw) == ((True, 16) if passed else (False, None))
    check = next(one for one in found.checks if one.id == "aa_alias")
    assert check.value == pytest.approx(100 * (factor - 1))


def test_a_window_that_was_not_held_against_itself_by_another_route_decides_nothing() -> None:
    rule = dataclasses.replace(QUICK, asks_for_alias=True)
    table = cells(gain_percent={10: 0, 16: 8})
    loads = pair_loads(table, congestion_control="cubic")
    lacking = [
        None,
        by_alias(cells(gain_percent={10: 0}, profiles=("cable",)), factor=1),
        by_alias(cells(gain_percent={10: 0}, pages=1), factor=1),
    ]
    for alias in lacking:
        found = decide(estimates_of(loads, POPULATIONS, rule=rule, alias_loads=alias), rule=rule)
        assert (found.is_decided, len(found.reasons)) == (False, 1)
        assert "by another route, in other guests, in another order could not be made" in found.reasons[0]


def test_too_few_pages_decide_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, pages=12))
    assert (found.iw, found.is_decided) == (None, False)
    assert "12 pages pair in the smallest comparison; the rule asks for 20." in found.reasons


def test_one_seed_of_each_page_is_enough_for_intervals_and_not_for_the_aa_comparison() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, pages=100, seeds=1))
    gain = next(one for one in found.candidates if one.candidate.window == 16).gain_percent
    assert gain is not None
    assert 7.5 < gain.lower < 8 < gain.upper < 8.5
    assert found.reasons == (
        "The A/A comparison with other seeds could not be made: "
        "no page was loaded under loss with two seeds.",
    )


def test_an_interval_too_wide_decides_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 2}, spread_percent=15))
    power = next(check for check in found.checks if check.id == "power")
    assert (found.iw, found.is_decided, power.passed) == (None, False, False)


def test_refused_cells_are_counted_and_many_of_them_stop_the_answer() -> None:
    few = frozenset({("page03.test", 16, 2)})
    table = cells(gain_percent={10: 0, 16: 4}, refused=few)
    loads = pair_loads(table, congestion_control="cubic")
    assert loads.states == {"done": 478, "refused": 2}
    assert [(m.profile, m.iw, m.state, m.cells) for m in loads.missing] == [
        ("cable", 16, "refused", 1),
        ("slow", 16, "refused", 1),
    ]
    assert recommend(table).iw == 16
    many = frozenset((f"page{page:02}.test", 16, 2) for page in range(30))
    found = recommend(cells(gain_percent={10: 0, 16: 4}, refused=many))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        "On each network and at each window at least 75.0\u202f% of the cells are done; "
        "the rule asks for 95\u202f%." in found.reasons
    )


def test_a_replay_without_the_incumbent_decides_nothing() -> None:
    found = recommend(cells(gain_percent={3: 0, 16: 4}))
    assert (found.iw, found.is_decided) == (None, False)
    assert "The incumbent IW 10 was not replayed." in found.reasons

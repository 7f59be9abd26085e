"""Fewer loads never admit more: what is missing, or known from fewer pages, is never taken for harmless.

Loads that chance takes away may have been those with the harm: no rule can keep its answer then, and
intervals bound how often it errs (docs/methods.md). What holds without exception is here: evidence that is
missing as a whole admits nothing, and a smaller sample with the same estimates admits nothing more.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from releases.interval import Interval
from reports.decision.standing import possible_answers
from reports.recommendation.candidate_verdicts import AppliedRule
from reports.recommendation.effects import QUANTILES, Rare, harms
from reports.recommendation.estimates import estimates_of
from reports.recommendation.harm_conditions import HARM_CONDITIONS
from reports.recommendation.harm_verdicts import SEVERITY, verdict_of
from reports.recommendation.recommend import decide
from reports.recommendation.rule import RULE, Rule
from reports.recommendation.window_family import TooFewLoads, WindowFamily
from reports.statistics.paired_loads import pair_loads, pair_rows
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells

Rows = list[dict[str, Any]]

CONDITIONS = tuple(one for one in HARM_CONDITIONS if one.id in ("idle-1bdp", "alone-50-1bdp", "bulk-1bdp"))
ORDINARY = "ordinary"
RULE_OF_FEW_CONDITIONS = dataclasses.replace(
    RULE, replicates=199, quantile_loads=1, harm_conditions=CONDITIONS
)
OF_MEANS = dataclasses.replace(
    RULE_OF_FEW_CONDITIONS, margins=tuple(one for one in RULE.margins if one.measure not in QUANTILES)
)
"""Its bounds of means and shares."""
MEASURED = ("page_ms", "bytes_retransmitted", "responses_own_retransmitted", "connections_initial_loss")
BESIDE = {"short_flow_ms": 40.0, "probe_p95_ms": 60.0, "competition_bytes": 900_000}

SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

worlds = st.fixed_dictionaries(
    {
        "gain_percent": st.fixed_dictionaries(
            {10: st.just(0.0), 16: st.sampled_from([0.5, 1.1, 4.0]), 30: st.sampled_from([-1.0, 1.3, 6.0])}
        ),
        "retransmitted_percent": st.fixed_dictionaries(
            {10: st.just(0.1), 16: st.sampled_from([0.0, 0.1, 0.2]), 30: st.sampled_from([0.1, 0.3, 2.0])}
        ),
        "spread_percent": st.sampled_from([0.2, 1.0, 5.0]),
        "draw": st.integers(0, 1000),
    }
)


def evidence(world: Mapping[str, Any], *, pages: int = 24) -> dict[str, Rows]:
    """Loads of the ordinary cells and of each harm condition, by condition."""
    rows = cells(**world, pages=pages, seeds=2).to_pylist()
    return {name: [row | BESIDE for row in rows] for name in (ORDINARY, *(one.id for one in CONDITIONS))}


def admitted(loads: Mapping[str, Rows], rule: Rule = RULE_OF_FEW_CONDITIONS) -> set[int]:
    """Windows whose harm bounds all hold by these loads."""
    networks = [{"id": name, "down_bps": 1e7} for name in POPULATIONS["average"]]
    paired = {
        name: pair_rows(rows, congestion_control="cubic", networks=networks) for name, rows in loads.items()
    }
    ordinary = paired.pop(ORDINARY)
    return AppliedRule(estimates_of(ordinary, POPULATIONS, rule=rule, harm_loads=paired), rule).admissible


def test_the_whole_evidence_admits_windows() -> None:
    """Else the properties below would say nothing."""
    harmless = dict.fromkeys((10, 16, 30), 0.1)
    whole = evidence({"gain_percent": {10: 0, 16: 4, 30: 6}, "retransmitted_percent": harmless})
    assert admitted(whole) == {10, 16, 30}


@SOME
@given(world=worlds, data=st.data())
def test_evidence_that_is_missing_as_a_whole_admits_no_window(
    world: Mapping[str, Any], data: st.DataObject
) -> None:
    """A condition that was not replayed, a network, a window's loads in one condition,
    or a column that is not known."""
    loads = evidence(world)
    places = st.sampled_from(sorted(loads))
    fewer = dict(loads)
    for name in data.draw(st.sets(places.filter(lambda name: name != ORDINARY))):
        del fewer[name]
    for name in data.draw(st.sets(places)) & set(fewer):
        missing = data.draw(st.sampled_from([*MEASURED, *BESIDE, "cable", "slow", 10, 16]))
        fewer[name] = [
            row | ({missing: None} if missing in row else {})
            for row in fewer[name]
            if missing != row["profile"] and (missing != row["iw"] or name == ORDINARY)
        ]
    assert admitted(fewer) <= admitted(loads)


@SOME
@given(world=worlds, copies=st.integers(2, 4))
def test_fewer_pages_with_the_same_estimates_admit_no_more(world: Mapping[str, Any], copies: int) -> None:
    few = evidence(world)
    many = {
        name: [
            row | {"page": f"{copy}.{row['page']}", "visit_id": 1000 * copy + row["visit_id"]}
            for copy in range(copies)
            for row in rows
        ]
        for name, rows in few.items()
    }
    assert admitted(few, OF_MEANS) <= admitted(many, OF_MEANS)


@settings(max_examples=20, deadline=None)
@given(loads=st.integers(1, 199))
def test_a_quantile_of_too_few_loads_is_not_measured(loads: int) -> None:
    """No smaller sample has the same quantiles: what keeps a quantile of few loads from
    passing is their least number."""
    made = pair_loads(
        cells(gain_percent={10: 0, 16: 4}, pages=loads, seeds=1, profiles=("cable",)),
        congestion_control="cubic",
    )
    family = WindowFamily(arms=[(made, 1.0)], windows=(16,), other=10, population={"cable": 1.0}, rule=RULE)
    with pytest.raises(TooFewLoads):
        harms(family, next(one for one in RULE.margins if one.id == "page_time_p95"))


@SOME
@given(world=worlds, pages=st.integers(1, 19))
def test_a_handful_of_pages_admits_no_candidate(world: Mapping[str, Any], pages: int) -> None:
    assert admitted(evidence(world, pages=pages)) <= {10}


@SOME
@given(world=worlds)
def test_a_single_seed_decides_nothing(world: Mapping[str, Any]) -> None:
    rule = dataclasses.replace(RULE_OF_FEW_CONDITIONS, harm_conditions=())
    rows = [row for row in cells(**world, seeds=2).to_pylist() if row["seed"] == 1]
    loads = pair_loads(pa.Table.from_pylist(rows, schema=CELL), congestion_control="cubic")
    found = decide(estimates_of(loads, POPULATIONS, rule=rule), rule=rule)
    assert (found.is_decided, found.iw) == (False, None)


@given(
    events=st.integers(0, 9),
    pages=st.integers(10, 2000),
    more=st.integers(1, 4000),
    limit=st.sampled_from([0.2, 0.5, 1.0, 2.3, 5.0]),
)
def test_zero_or_few_events_on_fewer_pages_never_pass_where_more_pages_do_not(
    events: int, pages: int, more: int, limit: float
) -> None:
    def verdict(trials: int) -> int:
        rare = Rare(pages=trials, with_event=events, others_with_event=0)
        return SEVERITY.index(verdict_of(rare.interval(0.0, 0.95), limit))

    assert verdict(pages) >= verdict(pages + more)


def test_no_event_on_few_pages_is_too_few_and_on_many_passes() -> None:
    verdicts = [
        verdict_of(Rare(pages=pages, with_event=0, others_with_event=0).interval(0.0, 0.95), 0.2)
        for pages in (20, 600, 2000)
    ]
    assert verdicts == ["too few loads", "too few loads", "passed"]


@given(
    estimate=st.floats(-5, 5),
    below=st.floats(0, 5),
    above=st.floats(0, 5),
    wider=st.floats(1, 10),
    limit=st.floats(0.1, 5),
    is_equivalence=st.booleans(),
)
def test_a_wider_interval_about_the_same_estimate_never_passes_where_a_narrower_does_not(
    estimate: float, below: float, above: float, wider: float, limit: float, is_equivalence: bool
) -> None:
    narrow, wide = (
        verdict_of(
            Interval(estimate, estimate - factor * below, estimate + factor * above),
            limit,
            is_equivalence=is_equivalence,
        )
        for factor in (1, wider)
    )
    assert narrow == "passed" or wide != "passed"


truths = st.sampled_from([True, False, None])


@given(data=st.data(), windows=st.sets(st.sampled_from([3, 6, 16, 26, 30]), min_size=1, max_size=4))
def test_a_statement_that_is_open_again_excludes_no_further_answer(
    data: st.DataObject, windows: set[int]
) -> None:
    """In a replay in stages, draws that are taken away open statements;
    an answer that was possible stays possible."""
    candidates: Sequence[int] = sorted(windows)
    pairs = [
        (window, other)
        for window in (*candidates, 10)
        for other in (*candidates, 10)
        if window != other and (other == 10 or window > other)
    ]
    admissible = {window: data.draw(truths) for window in candidates}
    worthwhile = {pair: data.draw(truths) for pair in pairs}
    forgotten = data.draw(st.sets(st.sampled_from([*candidates, *pairs])))

    def answers(lost: set[Any]) -> frozenset[int | None]:
        return possible_answers(
            candidates,
            incumbent=10,
            admissible={window: None if window in lost else known for window, known in admissible.items()},
            is_worthwhile={pair: None if pair in lost else known for pair, known in worthwhile.items()},
        )

    assert answers(set()) <= answers(forgotten)

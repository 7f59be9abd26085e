"""The plan of a replay in stages: half-intervals follow from draws and pages,
and say which of them is short."""

import dataclasses

import pytest

from reports.decision.forecast import PAGE_SPREADS, SPREADS, Expectation, expectations
from reports.decision.plan_text import plan_lines
from reports.decision.statements import statements_of
from reports.decision.until_decided import Budget
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.rule import RULE
from tests.reports.decision.worlds import problem

WHOLE = dataclasses.replace(RULE, has_queues_in_population=True)
STATEMENTS = statements_of(WHOLE, [one.window for one in CANDIDATES], incumbent=10)


def expected(margin: str, *, draws: float, pages: int) -> Expectation:
    found = expectations(STATEMENTS, {ORDINARY: draws}, pages=pages, worthwhile=1.0)
    return next(
        one
        for one in found
        if one.statement.margin and one.statement.margin.id == margin and one.statement.condition == ORDINARY
    )


def test_no_number_of_draws_shows_of_600_pages_what_thousands_show() -> None:
    few, many = (expected("page_time_p95", draws=1e9, pages=pages) for pages in (591, 4_200))
    assert not few.is_reachable
    assert few.asks_for_pages
    assert few.half == pytest.approx(few.half_of_pages, rel=0.01)
    assert many.is_reachable


def test_with_few_draws_the_budget_is_short_and_not_the_pages() -> None:
    found = expected("retransmitted_bytes_average", draws=300, pages=591)
    assert (found.is_reachable, found.asks_for_pages) == (False, False)
    assert found.half > 5 * found.half_of_pages


def test_pages_have_a_part_of_the_spread_of_draws() -> None:
    assert all(0 < spread < SPREADS[measure] for measure, spread in PAGE_SPREADS.items())


@pytest.mark.parametrize(("pages", "says"), [(19, True), (20, False)])
def test_fewer_pages_than_the_rule_asks_for_are_told_before_the_first_load(pages: int, says: bool) -> None:
    lines = [*plan_lines(problem(pages=pages), budget=Budget(amount=60.0), guests=1)]
    assert ("these pages decide nothing: the rule asks for at least 20" in lines) == says
    assert any("not to be met: it takes more pages" in line for line in lines)

"""The plan of a replay in stages, in words: loads, core-hours,
and the half-intervals to expect against each limit."""

import collections
import math
from collections.abc import Iterable, Iterator

from replay.runs.chunks import core_seconds
from reports.decision.forecast import Expectation, expectations
from reports.decision.problem import Problem, cells_of, next_parts
from reports.decision.stage import standing_after
from reports.decision.until_decided import STEPS, Budget
from reports.recommendation.mixture import ORDINARY


def plan_lines(problem: Problem, *, budget: Budget, guests: int) -> Iterator[str]:
    """The plan before the first stage."""
    cells = cells_of(problem, next_parts(problem, standing_after(problem, []), seconds=0.0, drawn={}))
    in_loads = budget.unit == "loads"
    seconds = budget.amount * (core_seconds(cells) / len(cells) if in_loads else guests)
    whole = next_parts(problem, standing_after(problem, []), seconds=seconds, drawn={})
    draws = math.fsum(part.draws for part in whole)
    loads = sum(part.loads for part in whole)
    others = sum(1 for one in problem.conditions if one != ORDINARY)
    yield (
        f"{len(problem.recipes):,} pages and {len(problem.networks)} networks; IW "
        f"{', '.join(map(str, problem.windows))}, of which IW {problem.incumbent} is in force"
    )
    yield (
        f"budget: {seconds / guests / 60:.0f} minutes on {guests} guests, {seconds / 3600:.1f} core-hours: "
        f"at most {budget.amount if in_loads else loads:,.0f} loads; {draws:,.0f} draws of a page and a "
        "network, each at every window that is not lost"
    )
    yield (
        f"first stage: {len(cells):,} loads, about {core_seconds(cells) / guests / 60:.1f} minutes; then "
        f"looks at {', '.join(f'{step:.0%}' for step in STEPS)} of the budget"
    )
    yield (
        "expected half-intervals if half of the loads go to the harm conditions, "
        "for candidates that nothing speaks against:"
    )
    by_condition = {name: draws / 2 / (1 if name == ORDINARY else others) for name in problem.conditions}
    found = expectations(
        problem.statements,
        by_condition,
        pages=len(problem.recipes),
        worthwhile=problem.rule.worthwhile_percent,
    )
    yield from map(_line, _rows(found))
    if len(problem.recipes) < problem.rule.minimum_pages:
        yield f"these pages decide nothing: the rule asks for at least {problem.rule.minimum_pages}"


def _rows(found: Iterable[Expectation]) -> list[tuple[str, list[Expectation]]]:
    """Expectations by effect; those of one effect under all harm conditions are one row,
    for they are alike."""
    rows: dict[str, list[Expectation]] = collections.defaultdict(list)
    for one in found:
        margin = one.statement.margin
        title = "gain over the incumbent" if margin is None else margin.title
        rows[title + ("" if one.statement.condition == ORDINARY else ", harm conditions")].append(one)
    return list(rows.items())


def _line(row: tuple[str, list[Expectation]]) -> str:
    """The effect, its limit, and the widest half-interval."""
    title, alike = row
    one = max(alike, key=lambda found: found.half)
    wanted = "more pages" if one.asks_for_pages else "a longer budget"
    said = "" if one.is_reachable else f"  not to be met: it takes {wanted}"
    many = f" ({len(alike)})" if len(alike) > 1 else ""
    return f"  {title + many:<82} limit {one.limit:>5g} {one.unit:<2} ± {one.half:>6.2f}{said}"

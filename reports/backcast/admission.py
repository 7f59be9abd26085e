"""What the recommendation's rule says of IW 10 in the back-cast, with IW 3 as the incumbent."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from replay.backcast.networks import populations
from replay.backcast.published import BASE, EXPERIMENT
from reports.recommendation.candidate_verdicts import AppliedRule
from reports.recommendation.estimates import estimates_of
from reports.recommendation.rule import MARGINS, RULE, Role, Rule
from reports.statistics.paired_loads import pair_rows

BACKCAST_RULE: Rule = dataclasses.replace(RULE, permanent_incumbent=BASE, harm_conditions=(), margins=MARGINS)
"""The rule with the incumbent of 2010, over the ordinary cells: the paper measured no other condition.

No margin is changed.
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The rule's verdict on IW 10."""

    is_admitted: bool
    """True if every harm bound holds and the gain is worthwhile."""
    sentence: str
    bounds: tuple[dict[str, Any], ...]
    """Each margin: its title, unit, limit, worsening with interval, and verdict."""


def admission(rows: Sequence[dict[str, Any]], rule: Rule = BACKCAST_RULE) -> Admission:
    """Apply the rule to the rows of an experiment."""
    loads = pair_rows(rows, congestion_control=rule.congestion_control)
    roles: dict[Role, Mapping[str, float]] = {
        "slow" if one.slow else "average": dict(one.weights) for one in populations()
    }
    applied = AppliedRule(estimates_of(loads, roles, rule=rule), rule)
    (verdict,) = (one for one in applied.verdicts() if one.candidate.window == EXPERIMENT)
    return Admission(
        is_admitted=verdict.is_admissible and verdict.is_worthwhile,
        sentence=verdict.sentence,
        bounds=tuple(
            {
                "title": harm.margin.title,
                "unit": harm.margin.unit,
                "limit": harm.limit,
                "worsening": dataclasses.asdict(harm.worsening) if harm.worsening else None,
                "verdict": harm.verdict,
            }
            for harm in verdict.harms
        ),
    )

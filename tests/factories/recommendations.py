"""Recommendations from made-up cells."""

import dataclasses

import pyarrow as pa

from reports.recommendation.estimates import estimates_of
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import RULE
from reports.statistics.paired_loads import pair_loads
from tests.factories.made_up import POPULATIONS

QUICK = dataclasses.replace(RULE, replicates=400, harm_conditions=(), asks_for_alias=False)
"""The rule with few replicates, which asks for the ordinary cells only."""


def recommend(table: pa.Table) -> Recommendation:
    """Decide by QUICK."""
    loads = pair_loads(table, congestion_control="cubic")
    return decide(estimates_of(loads, POPULATIONS, rule=QUICK), rule=QUICK)

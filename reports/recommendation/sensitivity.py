"""Sensitivity analysis: the answers of the rule with one choice changed."""

import dataclasses

from reports.recommendation.estimates import Estimates
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import RULE, Rule


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """A rule with one choice changed."""

    id: str
    title: str
    rule: Rule


def _margins(rule: Rule, factor: float) -> Rule:
    margins = tuple(
        dataclasses.replace(
            margin,
            limit=factor * margin.limit,
            worsening_limit=None if margin.worsening_limit is None else factor * margin.worsening_limit,
        )
        for margin in rule.margins
    )
    return dataclasses.replace(rule, margins=margins)


def variants(rule: Rule = RULE) -> tuple[Variant, ...]:
    """The variants of every report; they share the estimates, so none needs another bootstrap."""
    change = dataclasses.replace
    return (
        Variant("worthwhile_half", "a gain of 0.5 % is worthwhile", change(rule, worthwhile_percent=0.5)),
        Variant(
            "worthwhile_double", "only a gain of 2 % is worthwhile", change(rule, worthwhile_percent=2.0)
        ),
        Variant("margins_half", "half of every harm margin", _margins(rule, 0.5)),
        Variant("margins_double", "twice every harm margin", _margins(rule, 2.0)),
        Variant("harm_ignored", "no harm margin at all", change(rule, margins=())),
        Variant("confidence_90", "bounds of the 90 % interval", change(rule, confidence=0.90)),
        Variant("confidence_99", "bounds of the 99 % interval", change(rule, confidence=0.99)),
        Variant("harm_ordinary", "harm only in the ordinary cells", change(rule, harm_conditions=())),
        Variant("aa_wide", "an A/A tolerance of ±3 %", change(rule, aa_tolerance_percent=3.0)),
    )


def sensitivity(estimates: Estimates, *, rule: Rule = RULE) -> list[tuple[Variant, Recommendation]]:
    """Decide again with each variant of `rule`."""
    tried = variants(rule)
    beyond = dataclasses.replace(rule, counts_beyond_core=True)
    if estimates.harm_conditions and {one.id for one in beyond.deciding_conditions} == {
        *estimates.harm_conditions
    }:
        tried += (
            Variant("harm_beyond_core", "harm also where others ask for 80 % of the bottleneck", beyond),
        )
    return [(variant, decide(estimates, rule=variant.rule)) for variant in tried]

"""Titles claim no more than their intervals: a difference is stated only where its interval excludes zero."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from replay.runs.policy import Policy
from reports.sections.same_sites import years_figure
from reports.sections.shape import Figure, Section
from reports.sections.sizes.kinds import title_of
from reports.sections.verdict import (
    costs_section,
    describe_growth,
    describe_plane,
    gains_section,
    otherwise_section,
    plane_figure,
)
from tests.verdict.test_groups import with_lines
from tests.verdict.worlds import PACED, World
from verdict.arms import EVERYONE
from verdict.effects import BY_ID, measure
from verdict.judgement import Look, judge
from verdict.ledger import judge_groups, make_ledger
from verdict.rule import RULE
from verdict.stored import VerdictFacts, round_numbers, verdict_of

CLAIMS = re.compile(r"\b(saves|takes|more|less|longer|but|than|most|grows)\b|\d.?(%|pp)")
"""Words and numbers by which a title states a difference."""


def verdict(*, noise: float) -> VerdictFacts:
    """A verdict on 16 segments at once and paced, with lines of all rates and others on the line."""
    rule = dataclasses.replace(RULE, candidates=(Policy(10), PACED, Policy(16)), guards=())
    world = World(
        log_time={PACED: -0.03, Policy(16): -0.02},
        resent={PACED: 0.2, Policy(16): 0.4},
        of_pages=noise,
        of_networks=noise,
        of_pairs=noise,
    )
    rng = np.random.default_rng(5)
    evidence = with_lines(world.evidence(rng, pages=60, networks=64, each=2), slow_resent_pp=0.0)
    values = dict(evidence.values)
    slower = np.exp(0.05 + noise * rng.standard_normal((len(evidence), 3)))
    values["short_flow_ms"] = 100 * np.column_stack([np.ones(len(evidence)), slower[:, 1:]])
    everyone = dataclasses.replace(evidence, values=values)
    look = Look(evidence=evidence)
    shared = measure(
        everyone, rule.rivals(), incumbent=Policy(10), quantities=(BY_ID["page"], BY_ID["short flows"])
    )
    facts: VerdictFacts = round_numbers(
        verdict_of(
            judge([look], rule),
            rule,
            effects=look.effects(rule),
            ledger=make_ledger([look], rule),
            groups=judge_groups(look, rule),
            shared={EVERYONE: shared},
        )
    )
    return facts


def sections(facts: VerdictFacts) -> Iterator[Section]:
    plane = plane_figure(facts, source="")
    return iter((gains_section(facts), costs_section(facts), otherwise_section(facts, plane)))


def titles(facts: VerdictFacts) -> dict[str, str]:
    return {figure.id: figure.title for section in sections(facts) for figure in section.figures}


def differences(figure: Figure) -> Iterator[Any]:
    return (value for row in figure.rows for value in row.values() if isinstance(value, dict))


def test_no_title_states_a_difference_that_no_interval_tells() -> None:
    facts = verdict(noise=0.5)
    for section in sections(facts):
        for figure in section.figures:
            ends = [(each["lower"], each["upper"]) for each in differences(figure)]
            assert all(lower is None or lower <= 0 <= upper for lower, upper in ends), figure.id
    then = describe_plane(None).removesuffix(" No window of today was measured.")
    for name, title in titles(facts).items():
        assert not CLAIMS.search(title.removeprefix(then)), (name, title)
    assert not CLAIMS.search(gains_section(facts).lead.partition("compute.")[2])


def test_titles_state_the_differences_that_intervals_tell() -> None:
    told = titles(verdict(noise=0.002))
    assert told.keys() >= {"fig-gains", "fig-groups", "fig-resent", "fig-everyone", "fig-plane"}
    for name in ("fig-gains", "fig-groups", "fig-resent", "fig-everyone", "fig-plane"):
        assert CLAIMS.search(told[name]), (name, told[name])
    assert re.match(r"IW 16 at once sends 0\.4.* more of the payload again; paced, 0\.2", told["fig-resent"])
    assert told["fig-everyone"].endswith("longer")


def gain(estimate: float, half: float) -> Any:
    return {"estimate": estimate, "lower": estimate - half, "upper": estimate + half}


def test_saved_time_grows_only_where_intervals_lie_apart() -> None:
    rates = ("slow", "middle", "quick")
    apart = describe_growth({name: gain(at, 0.4) for at, name in enumerate(rates)})
    assert apart.startswith(" Saved time grows with rate")
    assert describe_growth({name: gain(at, 0.6) for at, name in enumerate(rates)}) == ""
    assert describe_growth({}) == ""


@pytest.mark.parametrize(
    ("half", "title"),
    [
        (3.0, "IW 10 holds less of the same sites\u2019 responses than in 2020"),
        (6.2, "how much of the same sites\u2019 responses IW 10 holds"),
    ],
)
def test_years_are_compared_in_a_title_only_where_the_change_is_told(half: float, title: str) -> None:
    row = {"since": "2020-07, a list", "responses": "all responses", "sizes": "as counted", "sites": 35}
    row |= {"window": "IW 10", "before": 65.7, "now": 61.3, "change": gain(-4.4, half)}
    figure = years_figure([row], iw=10, now="2025-08", source="", query="")
    assert figure.title == f"Over the years: {title}"


def test_kinds_are_compared_in_a_title_only_where_their_intervals_lie_apart() -> None:
    for half, title in (
        (9.0, "IW 10 holds 80 % of scripts, but 60 % of images"),
        (11.0, "Responses that fit into IW 10, by type and protocol"),
    ):
        rows = [
            {"kind": kind, "share": gain(share, half)} for kind, share in (("scripts", 80), ("images", 60))
        ]
        assert title_of(rows, iw=10).replace("\u202f", " ") == title

"""Titles claim no more than their intervals: a difference is stated only where its interval excludes zero."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from reports.sections.same_sites import years_figure
from reports.sections.shape import Figure, Section
from reports.sections.sizes.kinds import title_of
from reports.sections.verdict import (
    lists_section,
    otherwise_section,
    plane_figure,
    policies_section,
    round_trips_section,
)
from tests.factories.answers import made_up_verdict
from verdict.verdict import Verdict

CLAIMS = re.compile(r"\b(saves|takes|more|less|longer|but|than|most|grows)\b|\d.?(%|pp)")
"""Words and numbers by which a title states a difference."""


def sections(verdict: Verdict) -> Iterator[Section]:
    yield policies_section(verdict, plane_figure(verdict, source=""))
    yield round_trips_section(verdict)
    yield from lists_section(verdict)
    yield otherwise_section(verdict)


def figures(verdict: Verdict) -> dict[str, Figure]:
    return {figure.id: figure for section in sections(verdict) for figure in section.figures}


def gain(estimate: float, half: float) -> Any:
    return {"estimate": estimate, "lower": estimate - half, "upper": estimate + half}


def test_no_title_states_a_difference_that_no_interval_tells() -> None:
    drawn = figures(made_up_verdict("raise", noise=3.0, size=400))
    assert drawn.keys() >= {"fig-plane", "fig-everyone", "fig-groups", "fig-lists", "fig-ledger"}
    for name, figure in drawn.items():
        title = figure.title.removesuffix("16 paced, beyond 100 ms")
        assert not CLAIMS.search(title), (name, title)


def test_titles_state_the_differences_that_intervals_tell() -> None:
    drawn = figures(made_up_verdict("raise"))
    for name in ("fig-plane", "fig-everyone"):
        assert CLAIMS.search(drawn[name].title), (name, drawn[name].title)
    assert re.match(r"16 paced, beyond 100 ms saves 2\.0", drawn["fig-plane"].title)
    assert drawn["fig-everyone"].title.endswith("longer")


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

"""What holds the method to account: the back-cast on 2010, and RFC 9040's step."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import stated
from reports.answer.shape import Findings
from reports.backcast.stored import Standing, missed_sentence
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, not_measured

BACKCAST_SOURCE = "Dukkipati et al. 2010, Tables 3 and 7"
BACKCAST_QUERY = "firstflight replay backcast"


def backcast_section(instrument: Standing) -> Section:
    """The published figures of 2010 beside ours."""
    title = "The method on 2010's experiment"
    lead = (
        "The same replay and rule are asked about the experiment that made IW 10 the standard. A method that "
        "misses what production saw then is not believed on larger windows."
    )
    if instrument.content is None:
        return not_measured("backcast", title, lead, instrument.sentence)
    content = instrument.content
    judging = [one for one in content["figures"] if one["half"] == "judgement"]
    return Section(
        id="backcast",
        title=title,
        lead=lead,
        figures=(backcast_figure(judging, content["factor"]),),
        tables=(
            Table(
                id="backcast-figures",
                title="Published figures that judge, which must be met within a factor of "
                f"{stated(content['factor'])}",
                columns=(
                    Column(id="what", title="figure", kind="text"),
                    Column(id="published", title="published"),
                    Column(id="ours", title="ours"),
                    Column(id="unit", title="unit", kind="text"),
                    Column(id="verdict", title="verdict", kind="text"),
                ),
                rows=tuple(
                    {
                        **{name: one[name] for name in ("what", "published", "ours", "unit")},
                        "verdict": ("met" if one["is_met"] else "missed")
                        + (", decides" if one["decides"] else ""),
                    }
                    for one in judging
                ),
                source=BACKCAST_SOURCE,
                query=BACKCAST_QUERY,
                notes=(instrument.sentence, content["admission"]["sentence"]),
            ),
        ),
        notes=(missed_sentence(content),),
    )


def backcast_figure(judging: Sequence[Mapping[str, Any]], factor: float) -> Figure:
    """Our figures as multiples of the published ones; zero has no multiple."""
    return Figure(
        id="fig-backcast",
        title="Our figures of 2010 as multiples of the published ones.",
        caption=f"A figure is met between {stated(1 / factor)} and {stated(factor)}.",
        drawing="forest",
        x="times",
        y="what",
        columns=(
            Column(id="what", title="figure", kind="text"),
            Column(id="times", title="ours, in multiples of the published figure"),
            Column(id="verdict", title="verdict", kind="text"),
        ),
        rows=tuple(
            {
                "what": one["what"],
                "times": one["ours"] / one["published"],
                "verdict": "met" if one["is_met"] else "missed",
            }
            for one in judging
            if one["published"] and one["ours"] is not None
        ),
        source=BACKCAST_SOURCE,
        query=BACKCAST_QUERY,
        lines=(
            Line(value=1.0, label="as published"),
            Line(value=1 / factor, label=""),
            Line(value=factor, label="bounds"),
        ),
    )


def rfc9040_section(findings: Findings, *, step: int, year: int) -> Section:
    """The windows that RFC 9040's automatic adjustment would pass,
    to the rule's window or else to the largest candidate."""
    lead = (
        "RFC 9040 (Appendix C) lets a host raise its initial window by itself, "
        f"by at most {step} segments a year. "
    )
    if findings.iw is None or findings.iw <= findings.incumbent:
        target = max((*findings.windows, findings.incumbent))
        lead += (
            f"The rule chooses no larger window, so that it stays at IW {findings.incumbent}. "
            f"The years are those of a host that would take the step in {year} and in each year after it."
        )
    else:
        target = findings.iw
        lead += f"The years are those on the way to the window that the rule chooses, IW {target}."
    title = "RFC 9040's automatic window"
    rows = tuple(steps(findings.incumbent, target, step=step, year=year, candidates=findings.windows))
    if not rows:
        return Section(id="rfc9040", title=title, lead=lead)
    columns = (
        Column(id="year", title="year", kind="text"),
        Column(id="window", title="largest window", unit="segments", kind="count"),
        Column(id="candidates", title="candidates that come within it", kind="text"),
    )
    source, query = "RFC 9040, Appendix C", "arithmetic"
    return Section(
        id="rfc9040",
        title=title,
        lead=lead,
        figures=(
            Figure(
                id="fig-rfc9040",
                title="Largest window that the step allows, by year.",
                caption=f"From IW {findings.incumbent}, by arithmetic.",
                drawing="bars",
                x="year",
                y="window",
                columns=columns,
                rows=rows,
                source=source,
                query=query,
            ),
        ),
        tables=(
            Table(
                id="rfc9040-steps",
                title="Largest window by year",
                columns=columns,
                rows=rows,
                source=source,
                query=query,
            ),
        ),
    )


def steps(
    incumbent: int, target: int, *, step: int, year: int, candidates: Sequence[int] = ()
) -> Iterator[Row]:
    """The largest window of each year until the target, with the candidates that the year's step reaches.

    >>> [row["window"] for row in steps(10, 15, step=2, year=2026)], list(steps(10, 10, step=2, year=2026))
    ([12, 14, 15], [])
    """
    for at in itertools.count():
        before = incumbent + step * at
        if before >= target:
            return
        window = min(target, before + step)
        reached = ", ".join(f"IW {one}" for one in candidates if before < one <= window)
        yield {"year": str(year + at), "window": window, "candidates": reached or "none"}

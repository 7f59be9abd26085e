"""Pictures to take: what a report found, each told in one sentence and drawn so that it is read at arm's
length, with its data.

A title states a difference only if its interval excludes zero.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from figures.distributions import CdfSeries, cdf
from figures.estimates import EstimateRow, bars
from figures.findings import tell_change, tell_unfitting
from figures.frame import DESK, AltairChart, Frame, Upright
from figures.series import SlopeLine, slope
from releases.changes import RESPONSES
from releases.formatting import quantity
from reports.content import Published
from reports.document.charts import draw_figure
from reports.sections.shape import Column, Figure, Row, is_less, is_told
from reports.sections.verdict import policy_name

ASKED = 10

SINCE = "2019"
"""Year with which the same sites are compared."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture with its data."""

    id: str
    chart: AltairChart
    columns: tuple[Column, ...]
    rows: Sequence[Row]


def draw_pictures(report: Published, *, width: int = DESK) -> list[Picture]:
    """Draw how much does not fit, what a larger window saves by distance, the same sites then and now, and
    2010's responses.
    """
    figures = {figure.id: figure for figure in report.figures()}
    tables = {table.id: table.rows for table in report.tables()}
    drawn: list[Picture] = []
    if "cdf" in figures:
        drawn += _not_fitting(figures["cdf"], report, width)
    drawn += _by_distance(report, width)
    drawn += _same_sites(tables.get("same-sites-shares", ()), figures.get("fig-years"), report, width)
    if "fig-2010" in figures:
        then = figures["fig-2010"]
        chart = draw_figure(then, width=width, note="" if then.is_published else report.marks)
        if chart is not None:
            drawn.append(Picture(id="google-2010", chart=chart, columns=then.columns, rows=then.rows))
    return drawn


def _not_fitting(figure: Figure, report: Published, width: int) -> Iterator[Picture]:
    window = next((line.value for line in figure.lines if line.label == f"IW {ASKED}"), None)
    first = figure.rows[0][figure.series] if figure.series and figure.rows else None
    rows = [row for row in figure.rows if figure.series and row[figure.series] == first]
    if window is None or not rows:
        return
    share = max((row[figure.y] for row in rows if row[figure.x] <= window), default=0.0)
    series = CdfSeries(name=str(first), steps=[(row[figure.x], row[figure.y]) for row in rows])
    frame = Frame(
        title=tell_unfitting(share / 100, "responses", ASKED),
        subtitle=f"Share of {first} of at most so many bytes; upright, windows in segments.",
        source=figure.source,
        note=report.marks,
        width=width,
    )
    lines = [Upright(value=line.value, label=line.label) for line in figure.lines]
    chart = cdf(frame, [series], lines, domain=figure.domain)
    yield Picture(id="not-fitting", chart=chart, columns=figure.columns, rows=rows)


def _by_distance(report: Published, width: int) -> Iterator[Picture]:
    verdict = report.verdict
    table = next((table for table in report.tables() if table.id == "round-trips"), None)
    if verdict is None or verdict.asked is None or table is None:
        return
    policy = policy_name(dataclasses.replace(verdict.asked, beyond_ms=None))
    row = next((row for row in table.rows if row["policy"] == policy), None)
    if row is None:
        return
    known: list[tuple[str, Mapping[str, Any]]] = [
        (group.title, row[f"{group.id}-gain"]) for group in verdict.groups if row.get(f"{group.id}-gain")
    ]
    if len(known) < 2:
        return
    (_, near), (_, far) = known[0], known[-1]
    title = f"What a first flight of {policy} saves, by the client\u2019s distance"
    if is_told(near) and is_told(far) and is_less(near, far):
        title = (
            f"{policy} saves {quantity(far['estimate'], '%', 2)} of page time for distant clients, "
            f"{quantity(near['estimate'], '%', 2)} for near ones"
        )
    frame = Frame(
        title=title,
        subtitle=f"Page time saved per load against {ASKED} segments at once, by the longest handshake of a "
        "page, with 95 % intervals; pale if chance may explain it.",
        source=table.source,
        note=report.marks,
        width=width,
    )
    rows = [{"pages": name, "saved": gain} for name, gain in known]
    estimates = [
        EstimateRow(name=name, value=gain["estimate"], lower=gain["lower"], upper=gain["upper"])
        for name, gain in known
    ]
    columns = (
        Column(id="pages", title="pages", kind="text"),
        Column(id="saved", title="page time saved", unit="%", kind="interval"),
    )
    chart = bars(frame, estimates, unit="%", axis="page time saved")
    yield Picture(id="saved-by-distance", chart=chart, columns=columns, rows=rows)


def _same_sites(
    rows: Sequence[Row], figure: Figure | None, report: Published, width: int
) -> Iterator[Picture]:
    whole = [row for row in rows if row["responses"] == RESPONSES["all"]]
    since = next((row["since"] for row in whole if row["since"].startswith(SINCE)), None)
    if since is None or figure is None:
        return
    ends: dict[int, list[Row]] = {}
    for row in whole:
        if row["since"] == since:
            ends.setdefault(int(row["window"].removeprefix("IW ")), []).append(row)
    signs = {window: _sign(of_window) for window, of_window in sorted(ends.items())}
    # A window has a row for each way of counting headers; the last has them.
    ordered = {window: ends[window][-1] for window in signs}
    now = str(figure.rows[-1][figure.series or ""]).removeprefix("in ")
    frame = Frame(
        title=tell_change(signs, sites=next(iter(ordered.values()))["sites"], year=since[:4]),
        subtitle="Mean over sites of the share that fits; dashed if chance may explain the change.",
        source=figure.source,
        note=report.marks,
        width=width,
    )
    lines = [
        SlopeLine(name=f"IW {window}", before=row["before"], after=row["now"], is_clear=signs[window] != 0)
        for window, row in ordered.items()
    ]
    chart = slope(frame, lines, before=since[:7], after=now)
    columns = next(table.columns for table in report.tables() if table.id == "same-sites-shares")
    yield Picture(id="same-sites", chart=chart, columns=columns, rows=[*ordered.values()])


def _sign(rows: Sequence[Row]) -> int:
    """Return -1 or 1 if every row's change is told with this sign; else 0."""
    signs = {(1 if row["change"]["estimate"] > 0 else -1) if is_told(row["change"]) else 0 for row in rows}
    return signs.pop() if len(signs) == 1 else 0

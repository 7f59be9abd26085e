"""The curves of a figure, with all that its drawing, its table and its files are made of."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastapi import Request

from api.explorer.charts import Drawn
from api.explorer.choice import Choice, Line
from api.explorer.months import USUAL
from api.explorer.strata import in_words
from api.stored.open_releases import KeptSample
from releases.formatting import capital, grouped, listed, measured, percent, stated
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Estimate, Statistic, estimate
from schema.computed_tables import LABELS, NOUNS, UNITS

STEPS = 240
"""Steps drawn of a CDF: more than a figure has pixels."""

TAIL = 0.005
"""Share at either end for which no axis is made longer."""

BINS_A_DECADE = 10

PERCENTS = (5, 25, 50, 75, 95)

KINDS = {"cdf": "CDFs", "histogram": "Histograms", "quantiles": "5th, 25th, 50th, 75th and 95th percentiles"}

NAMED = 3
"""Curves up to which a title has each one's number."""


BYTES = re.compile("size_bytes|bytes")

Step = tuple[int, float, float | None, float | None]
"""Size, share up to it, and ends of its interval."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The sizes of one line of a figure."""

    line: Line
    held: KeptSample | None
    """None if unknown; `median` says why."""
    shares: tuple[Estimate, ...]
    median: Estimate
    p95: Estimate
    """95th percentile."""

    @property
    def known(self) -> int | None:
        return self.held.sample.cdf.known if self.held else None

    @property
    def unknown(self) -> int:
        return self.held.sample.cdf.unknown if self.held else 0

    @property
    def is_drawn(self) -> bool:
        return self.unknown_because is None

    @property
    def unknown_because(self) -> str | None:
        return self.median.value_unknown

    @property
    def interval_unknown(self) -> str | None:
        return self.median.interval_unknown

    def steps(self, exact: Sequence[int]) -> list[Step]:
        """Steps of the CDF, exact at these sizes."""
        return [] if self.held is None or not self.is_drawn else steps_of(self.held, exact)

    def bins(self, edges: Sequence[int]) -> list[tuple[int, int, int]]:
        """Neighbouring edges, with the items above the first up to the second; the first bin has its lower
        edge too.
        """
        if self.held is None or not self.is_drawn:
            return []
        least, *others = edges
        counts = [self.held.sample.cdf.fit(1, mss=edge).count for edge in (least - 1, *others)]
        pairs = zip(edges[:-1], edges[1:], counts[:-1], counts[1:], strict=True)
        return [(low, high, after - before) for low, high, before, after in pairs]

    def quantiles(self) -> list[tuple[int, Estimate]]:
        if self.held is None or not self.is_drawn:
            return []
        return [(at, _quantile(at, self.held)) for at in PERCENTS]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A figure: curves on the same axes, and the windows that all are compared with."""

    choice: Choice
    curves: tuple[Curve, ...]

    @property
    def unit(self) -> str:
        return UNITS[self.measures[0]]

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Windows in segments and bytes, the smallest first."""
        windows = windows_of(self.choice, self.measures[0])
        return tuple((iw, iw * self.choice.mss) for iw in windows)

    def written(self, value: float) -> str:
        """Return a value with its unit."""
        return measured(value, self.unit)

    @property
    def known(self) -> list[Curve]:
        return [curve for curve in self.curves if curve.is_drawn]

    @property
    def measures(self) -> list[str]:
        return list(dict.fromkeys(curve.line.measure for curve in self.curves))

    @property
    def releases(self) -> list[str]:
        return list(dict.fromkeys(curve.line.version.name for curve in self.curves))

    @property
    def alone(self) -> Choice:
        versions = {curve.line.version.name: curve.line.version for curve in self.curves}
        return dataclasses.replace(self.choice, releases=[*versions.values()], measures=self.measures)

    def query(self) -> str:
        """Return the choice of this figure as a query, which pins its releases."""
        return self.alone.among(*self.alone.releases)

    @property
    def what(self) -> str:
        return "; ".join(filter(None, [listed([LABELS[name] for name in self.measures]), self.stratum]))

    @property
    def stratum(self) -> str:
        strata = {curve.line.stratum for curve in self.curves}
        return in_words(strata.pop() if len(strata) == 1 else self.choice.stratum)

    @property
    def title(self) -> str:
        """The finding: what fits into the usual window, or the medians."""
        if not self.known:
            return f"No size is known of {listed([NOUNS[name] for name in self.measures])}"
        if self.unit != "bytes":
            return self._state(
                lambda curve: curve.median.value or 0,
                self.written,
                one="{values} {of} at the median",
                several="{values} at the median",
                joint=" ",
            )
        if self.choice.form == "quantiles":
            return self._state(
                lambda curve: curve.median.value or 0,
                self.written,
                one="Half of {of} have at most {values}",
                several="Median sizes: {values}",
            )
        place = self.choice.windows.index(USUAL) if USUAL in self.choice.windows else 0
        return self._state(
            lambda curve: curve.shares[place].value or 0,
            percent,
            one="{values} of {of} fit into " + f"{self.choice.windows[place]} segments",
            several="{values} fit into " + f"{self.choice.windows[place]} segments",
        )

    def _state(
        self,
        of: Callable[[Curve], float],
        written: Callable[[float], str],
        *,
        one: str,
        several: str,
        joint: str = " of ",
    ) -> str:
        """Return a sentence of each value, or of many the least and largest; `joint` stands before what
        they are of.
        """
        ordered = sorted(self.known, key=of)
        curves = self.known if len(self.known) <= NAMED else [ordered[0], ordered[-1]]
        if len(curves) == 1:
            return one.format(values=written(of(curves[0])), of=curves[0].line.noun)
        shared = NOUNS[self.measures[0]] if len(self.measures) == 1 else ""
        values = [
            f"{written(of(curve))} "
            + (f"({curve.line.beside_measure})" if shared else f"of {curve.line.noun}")
            for curve in curves
        ]
        text = listed(values) if len(self.known) <= NAMED else f"from {values[0]} to {values[1]}"
        text = several.format(values=f"{text}{joint}{shared}" if shared else text)
        return capital(text)

    @property
    def subtitle(self) -> str:
        """What is drawn, and of what."""
        sizes = "sizes: " if self.unit == "bytes" else ""
        return f"{KINDS[self.choice.form]} of {sizes}{self.what}; {listed(self.releases)}"

    @property
    def source(self) -> str:
        has_bands = self.choice.form == "cdf" and any(curve.interval_unknown is None for curve in self.known)
        bands = f". Bands: intervals of {stated(100 * CONFIDENCE, '%')} over sites" if has_bands else ""
        segments = f". IW: window of segments of {grouped(self.choice.mss)} bytes" if self.windows else ""
        return f"firstflight, CC BY 4.0{segments}{bands}"

    @property
    def edges(self) -> list[int]:
        held = [curve.held for curve in self.known if curve.held]
        return find_edges(held, [at for _, at in self.windows])


def steps_of(kept: KeptSample, exact: Sequence[int]) -> list[Step]:
    sample = kept.sample
    sizes = sorted({size_bytes for size_bytes, _ in kept.points(STEPS).steps} | {*exact})
    if sample.has_intervals:
        shares = zip(sizes, sample.shares_up_to(sizes), strict=True)
        return [(at, share.estimate, share.lower, share.upper) for at, share in shares]
    return [(at, sample.cdf.fit(1, mss=at).share or 0.0, None, None) for at in sizes]


def find_edges(held: Sequence[KeptSample], windows: Sequence[int]) -> list[int]:
    """Return edges of bins that enclose all windows, and all values but half per cent at either end."""
    ends = [
        next(at for at, share in kept.points(STEPS).steps if share >= least)
        for kept in held
        for least in (TAIL, 1 - TAIL)
    ]
    low = math.floor(BINS_A_DECADE * math.log10(max(1, min([*ends, *windows]))))
    high = math.ceil(BINS_A_DECADE * math.log10(max([*ends, *windows])))
    edges = (round(10 ** (place / BINS_A_DECADE)) for place in range(low, max(high, low + 1) + 1))
    return list(dict.fromkeys(edges))


def windows_of(choice: Choice, measure: str) -> list[int]:
    return choice.windows if UNITS[measure] == "bytes" else []


def compare(request: Request, choice: Choice, lines: Sequence[Line]) -> Panel:
    return Panel(choice=choice, curves=tuple(_curve(request, choice, line) for line in lines))


def _curve(request: Request, choice: Choice, line: Line) -> Curve:
    why = line.stratum.unknown_in(line.version) or line.stratum.lacking_in(line.measure)
    windows = windows_of(choice, line.measure)
    if why is not None:
        unknown = Estimate(value=None, value_unknown=why, interval_unknown=why)
        shares = (unknown,) * len(windows)
        return Curve(line=line, held=None, shares=shares, median=unknown, p95=unknown)
    held = line.stratum.subject(request, line.version, line.measure)
    shares = tuple(
        estimate(Statistic(name="share", iw=iw, mss=choice.mss, percent=50), held.sample) for iw in windows
    )
    median, p95 = (_quantile(at, held) for at in (50, 95))
    return Curve(line=line, held=held, shares=shares, median=median, p95=p95)


def _quantile(at: int, held: KeptSample) -> Estimate:
    return estimate(Statistic(name="quantile", iw=1, mss=1, percent=at), held.sample)


def to_draw(panel: Panel) -> Drawn:
    edges = panel.edges
    windows = [size_bytes for _, size_bytes in panel.windows]
    series: list[tuple[str, Sequence[Any]]] = []
    for curve in panel.known:
        rows: Sequence[Any]
        if panel.choice.form == "histogram":
            rows = [(low, high, 100 * count / (curve.known or 1)) for low, high, count in curve.bins(edges)]
        elif panel.choice.form == "quantiles":
            rows = [(at, quantile.value) for at, quantile in curve.quantiles()]
        else:
            rows = [
                (at, *(None if share is None else 100 * share for share in shares))
                for at, *shares in curve.steps(windows)
            ]
        series.append((curve.line.name, rows))
    return Drawn(
        form=panel.choice.form,
        title=panel.title,
        subtitle=panel.subtitle,
        source=panel.source,
        note="; ".join(
            ": ".join(filter(None, (curve.line.name, curve.unknown_because)))
            for curve in panel.curves
            if not curve.is_drawn
        ),
        unit=panel.unit,
        windows=panel.windows,
        ends=(edges[0], edges[-1]),
        series=series,
    )


OF_LINE = ("release", "measure")
OF_ITEMS = ("known", "unknown", "stratum")
COLUMNS = {
    "cdf": (*OF_LINE, "size_bytes", "cdf", "iw", "lower", "upper", *OF_ITEMS),
    "histogram": (*OF_LINE, "from_bytes", "to_bytes", "count", "share", *OF_ITEMS),
    "quantiles": (*OF_LINE, "percent", "size_bytes", "lower", "upper", *OF_ITEMS),
}
"""Columns of each form; a number's unit stands in place of bytes."""


def as_csv(panels: Sequence[Panel]) -> str:
    """Return figures of the first one's unit as CSV (RFC 4180).

    Of a CDF, `cdf` is the share of items of at most `size_bytes`, and `lower` and `upper` are the ends of
    its confidence interval; in the rows of the windows, `iw` is the window in segments. A bin of a
    histogram has the items larger than `from_bytes`, or in the first bin also as large, and not larger
    than `to_bytes`. `stratum` has the columns of the table `item` that have one value, with the value. A
    release without a known share has no row.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    unit = panels[0].unit
    columns = COLUMNS[panels[0].choice.form]
    writer.writerow(columns if unit == "bytes" else [BYTES.sub(unit, column) for column in columns])
    for panel in panels:
        if panel.unit != unit:
            continue
        for curve in panel.known:
            line = curve.line
            for row in _rows(panel, curve):
                fixed = "; ".join(f"{name}: {value}" for name, value in line.stratum.parameters().items())
                of_items = (curve.known, curve.unknown, fixed)
                writer.writerow((escape_formula(line.version.name), line.measure, *row, *of_items))
    return text.getvalue()


def _rows(panel: Panel, curve: Curve) -> Iterator[tuple[object, ...]]:
    if panel.choice.form == "histogram":
        for low, high, count in curve.bins(panel.edges):
            yield low, high, count, count / (curve.known or 1)
    elif panel.choice.form == "quantiles":
        for at, quantile in curve.quantiles():
            yield at, int(quantile.value or 0), quantile.lower, quantile.upper
    else:
        windows = {size_bytes: iw for iw, size_bytes in panel.windows}
        for at, share, lower, upper in curve.steps([*windows]):
            yield at, share, windows.get(at), lower, upper


def escape_formula(text: str) -> str:
    """Return text that no spreadsheet takes for a formula.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula("2026-11.desktop")
    ("'=HYPERLINK(1)", '2026-11.desktop')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text

"""Distributions of several releases on common axes: the content of the explorer's figure, table and files."""

import csv
import dataclasses
import io
from collections.abc import Mapping, Sequence

from api.charts import decades
from api.routes.pages import label
from api.stored.open_releases import KeptSample
from releases.formatting import grouped, stated
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Estimate, Statistic, estimate

STEPS = 240
"""Approximate number of steps drawn of each CDF: more than a figure has pixels from one share to the next."""

TAIL = 0.005
"""Share of items at either end for which no axis is made longer."""

Subject = KeptSample | str
"""What a curve is drawn of: a sample, or the sentence that says why it is not known."""


Band = Sequence[tuple[int, float, float]]
"""Sizes in bytes, each with the ends of the interval of the share up to it."""


def listed(words: Sequence[str]) -> str:
    """Words in a list.

    >>> listed(["pages"]), listed(["hosts", "pages"])
    ('pages', 'hosts and pages')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The CDF of one measure in one release."""

    release: str
    """Name of the crawl and version of its release."""
    known: int | None = None
    """Items of known size; None if the release does not say."""
    unknown: int = 0
    shares: tuple[Estimate, ...]
    """Share that fits into each window of the comparison."""
    median: Estimate
    p95: Estimate
    """95th percentile."""
    steps: tuple[tuple[int, float], ...] = ()
    """Size in bytes and share of items of at most that size, exact at each window;
    empty if the shares are unknown."""
    band: tuple[tuple[float, float], ...] = ()
    """Confidence interval of the share at each of `steps`; empty if the intervals are unknown."""

    @property
    def drawn_band(self) -> Band:
        """Sizes with the ends of the share's interval, up to the smallest size that every item fits;
        what is beyond is certain."""
        last = next((place for place, (_, share) in enumerate(self.steps) if share == 1), 0)
        band = [(size, *ends) for (size, _), ends in zip(self.steps, self.band, strict=False)][:last]
        return [*band, (self.steps[last][0], *band[-1][1:])] if band else []

    @property
    def unknown_because(self) -> str | None:
        """Why shares and quantiles are unknown; None if they are known."""
        return self.median.value_unknown

    @property
    def interval_unknown(self) -> str | None:
        """Why the intervals of shares and quantiles are unknown; None if they are known."""
        return self.median.interval_unknown


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """The curves of one measure, one for each release."""

    measure: str
    curves: tuple[Curve, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Panels that share their axes, and the windows that all are compared with."""

    releases: tuple[str, ...]
    panels: tuple[Panel, ...]
    windows: tuple[tuple[int, int], ...]
    """Each window in segments and in bytes, the smallest first."""
    mss: int
    stratum: str = ""
    """The values that all items have, in words; empty for every item of home pages."""

    @property
    def heading(self) -> str:
        """Heading of the figure."""
        return f"Sizes of {'; '.join(label(panel.measure) for panel in self.panels)}"

    @property
    def title(self) -> str:
        """What the figure shows, in a sentence."""
        measures = listed([label(panel.measure) for panel in self.panels])
        of = f" ({self.stratum})" if self.stratum else ""
        return f"CDF of sizes: {measures}{of}, in {listed(self.releases)}"

    @property
    def source(self) -> str:
        """What a copy of the figure says of itself."""
        has_bands = any(curve.band for panel in self.panels for curve in panel.curves)
        return f"firstflight, CC BY 4.0. IW: initial window, in segments of {grouped(self.mss)} bytes." + (
            f" Bands: intervals of {stated(100 * CONFIDENCE, '%')} over sites." if has_bands else ""
        )

    @property
    def decades(self) -> tuple[int, int]:
        """Exponents of the powers of ten that enclose every window, and all sizes but the smallest and the
        largest half per cent of each curve, at least one apart."""
        ends = [
            next(size for size, share in curve.steps if share >= least)
            for panel in self.panels
            for curve in panel.curves
            if curve.steps
            for least in (TAIL, 1 - TAIL)
        ]
        return decades([*ends, *(size for _, size in self.windows)])


def compare(
    subjects: Mapping[str, Mapping[str, Subject]],
    *,
    measures: Sequence[str],
    windows: Sequence[int],
    mss: int,
    stratum: str = "",
) -> Comparison:
    """The `measures` of releases, whose subjects are given by the releases' names,
    compared with `windows` in segments."""
    ordered = sorted(set(windows))
    return Comparison(
        releases=tuple(subjects),
        panels=tuple(
            Panel(
                measure=measure,
                curves=tuple(
                    _curve(by_measure[measure], release=release, windows=ordered, mss=mss)
                    for release, by_measure in subjects.items()
                ),
            )
            for measure in measures
        ),
        windows=tuple((iw, iw * mss) for iw in ordered),
        mss=mss,
        stratum=stratum,
    )


def _curve(subject: Subject, *, release: str, windows: Sequence[int], mss: int) -> Curve:
    if isinstance(subject, str):
        unknown = Estimate(value=None, value_unknown=subject, interval_unknown=subject)
        return Curve(release=release, shares=(unknown,) * len(windows), median=unknown, p95=unknown)
    sample, cdf = subject.sample, subject.sample.cdf
    shares = tuple(estimate(Statistic(name="share", iw=iw, mss=mss, percent=50), sample) for iw in windows)
    median, p95 = (
        estimate(Statistic(name="quantile", iw=1, mss=mss, percent=percent), sample) for percent in (50, 95)
    )
    steps = _steps(subject, [iw * mss for iw in windows]) if median.value_unknown is None else ()
    return Curve(
        release=release,
        known=cdf.known,
        unknown=cdf.unknown,
        shares=shares,
        median=median,
        p95=p95,
        steps=steps,
        band=tuple((share.lower, share.upper) for share in sample.shares_up_to(size for size, _ in steps))
        if median.interval_unknown is None
        else (),
    )


def _steps(held: KeptSample, exact: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Steps to draw, with the value at each size of `exact` that is not below the smallest item."""
    thinned = dict(held.points(STEPS).steps)
    values = {size: held.sample.cdf.fit(1, mss=size).share for size in exact}
    return tuple(sorted((thinned | {size: share for size, share in values.items() if share}).items()))


COLUMNS = ("release", "measure", "size_bytes", "cdf", "iw", "lower", "upper", "known", "unknown", "stratum")

PNG_SCALE = 2
"""Pixels of a PNG for each CSS pixel."""


def draw_png(svg: str) -> bytes:
    """A figure as PNG, in the colours for light ground."""
    import vl_convert  # It takes 10 MB of memory, which a service that draws no PNG saves.

    drawn: bytes = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
    return drawn


def as_csv(comparison: Comparison) -> str:
    """The drawn steps of every CDF as CSV (RFC 4180).

    `cdf` is the share of items of at most `size_bytes`, and `lower` and `upper` are the ends of its
    confidence interval where it is known. In the rows of the windows, `iw` is the window in segments.
    `stratum` has the values that all items have. A release without a known share has no row.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for panel in comparison.panels:
        for curve in panel.curves:
            rows = _rows(curve, panel.measure, comparison.windows)
            writer.writerows([*row, comparison.stratum] for row in rows)
    return text.getvalue()


def _rows(curve: Curve, measure: str, windows: tuple[tuple[int, int], ...]) -> list[list[object]]:
    band = curve.band or ((None, None),) * len(curve.steps)
    steps: dict[int, tuple[object, ...]] = {
        size: (share, None, *ends) for (size, share), ends in zip(curve.steps, band, strict=True)
    }
    for (iw, size), share in zip(windows, curve.shares, strict=True):
        if share.value is not None:  # a window below the smallest item is no step
            steps[size] = (share.value, iw, share.lower, share.upper)
    return [
        [escape_formula(curve.release), measure, size, *values, curve.known, curve.unknown]
        for size, values in sorted(steps.items())
    ]


def escape_formula(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula("2026-11.desktop")
    ("'=HYPERLINK(1)", '2026-11.desktop')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text

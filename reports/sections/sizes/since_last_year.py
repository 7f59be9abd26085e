"""Sizes of this release against the release of twelve months earlier of the same kind."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from releases.catalogue import Release
from releases.cdf import Cdf, read_cdfs
from releases.interval import Interval
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval, not_measured
from reports.sections.sizes.counts import size_section
from schema.crawls import CrawlName

TITLE = "Against last year's sizes"

LEAD = (
    "What fits into a window this year and did not a year ago, or the reverse, "
    "shows whether the web grows out of it."
)

DRAWN = ("responses", "first_flights")
"""Measures of the figure."""

POINTS = 100
"""Points of a curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    """A release with its sizes."""

    release: Release
    sizes: Mapping[str, Any]
    """The content's sizes."""
    cdfs: Mapping[str, Cdf]

    @property
    def month(self) -> str:
        """Month of the crawl, as 2026-11."""
        return self.release.crawl.month


def year_of(release: Release, *, windows: Sequence[int]) -> Year:
    """A release with its sizes against these windows."""
    return Year(
        release=release,
        sizes=size_section(release, windows=windows).content,
        cdfs=read_cdfs(release.file("distribution")),
    )


def without_last_year(wanted: CrawlName) -> Section:
    """The section where the release of the crawl `wanted` is not there."""
    return not_measured(
        "since-last-year",
        TITLE,
        LEAD,
        f"there is no release of {wanted} to compare it with. "
        "A release of that name would fill this section.",
    )


def since_last_year_section(now: Year, before: Year, *, labels: Mapping[str, str], source: str) -> Section:
    """Shares that fit into each window in both years with their difference, and the curves of both."""
    source = f"{source}; release {before.release.crawl}, version {before.release.version}"
    mss = now.sizes["mss_bytes"]
    query = "SELECT measure, size_bytes, cdf FROM 'distribution.parquet' ORDER BY measure, size_bytes"
    columns = (
        Column(id="curve", title="sizes of", kind="text"),
        Column(id="bytes", title="size", unit="B", kind="count"),
        Column(id="percent", title="cumulative share", unit="%"),
    )
    return Section(
        id="since-last-year",
        title=TITLE,
        lead=f"{LEAD} Here {now.month} stands beside {before.month}.",
        figures=(
            Figure(
                id="fig-last-year",
                title=f"Sizes in {before.month} and {now.month}.",
                caption="Cumulative share by size, on a logarithmic axis.",
                drawing="lines",
                x="bytes",
                y="percent",
                series="curve",
                columns=columns,
                rows=tuple(curve_rows((before, now), labels)),
                source=source,
                query=query,
                lines=tuple(Line(value=iw * mss, label=f"IW {iw}") for iw in now.sizes["windows"]),
                is_logarithmic=True,
            ),
        ),
        tables=(
            Table(
                id="fits-last-year",
                title="Share that fits into each window, a year apart",
                columns=(
                    Column(id="measure", title="measure", kind="text"),
                    Column(id="window", title="window", kind="text"),
                    Column(id="before", title=before.month, unit="%"),
                    Column(id="now", title=now.month, unit="%"),
                    Column(id="change", title="change", unit="pp", kind="interval"),
                ),
                rows=tuple(fit_rows(now.sizes, before.sizes, labels)),
                source=source,
                query=query,
                notes=(
                    "Intervals of a change are of two independent samples of sites, made of the intervals of "
                    "both shares (Zou and Donner 2008); the lists have sites in common, "
                    "so that they are rather too wide.",
                    *breaks(now.release, before.release),
                ),
            ),
        ),
    )


def breaks(now: Release, before: Release) -> Iterator[str]:
    """A sentence for each difference between the releases that is not the web's."""
    for name, title in (
        ("method_version", "method version"),
        ("list_id", "site list"),
        ("browser", "browser"),
    ):
        values = [getattr(one.manifest, name) for one in (before, now)]
        if values[0] != values[1]:
            yield (
                f"The {title} differs ({values[0]}, then {values[1]}), "
                "so that a part of the change may be due to it."
            )


def curve_rows(years: Sequence[Year], labels: Mapping[str, str]) -> Iterator[Row]:
    """Points of each curve whose sizes are mostly known in its year."""
    for measure in DRAWN:
        for year in years:
            cdf = year.cdfs[measure]
            for size, share in cdf.thinned(POINTS) if cdf.is_stated else ():
                yield {
                    "curve": f"{labels[measure]}, {year.month}",
                    "bytes": max(1, size),
                    "percent": 100 * share,
                }


def fit_rows(now: Mapping[str, Any], before: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Row]:
    """A row for each measure of the report's opening and each window that both years have."""
    measures = [{one["id"]: one["shares"] for one in year["measures"]} for year in (now, before)]
    for measure in now["headline"]:
        earlier = {share["iw"]: share for share in measures[1][measure]}
        for share in measures[0][measure]:
            last = earlier[share["iw"]]
            yield {
                "measure": labels[measure],
                "window": f"IW {share['iw']}",
                "before": last["percent"],
                "now": share["percent"],
                "change": interval(difference(_interval(share), _interval(last))),
            }


def _interval(share: Mapping[str, Any]) -> Interval | None:
    ends = [share[name] for name in ("percent", "lower_percent", "upper_percent")]
    return None if None in ends else Interval(*ends)


def difference(one: Interval | None, other: Interval | None) -> Interval | None:
    """One estimate less an independent other, with the interval that both intervals
    give (Zou and Donner 2008, MOVER).

    >>> difference(Interval(9, 6, 12), Interval(5, 1, 9))
    Interval(estimate=4, lower=-1.0, upper=9.0)
    """
    if one is None or other is None:
        return None
    found = one.estimate - other.estimate
    down = math.hypot(one.estimate - one.lower, other.upper - other.estimate)
    up = math.hypot(one.upper - one.estimate, other.estimate - other.lower)
    return Interval(found, found - down, found + up)

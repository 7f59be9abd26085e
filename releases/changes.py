"""Changes between two releases over the sites that both have: of shares that fit, of quantiles,
and of bytes a page.

Lists differ from release to release, so that only the same sites compare like with like. Redirects are left
out, since not every recorder counts them. Sites are resampled, and nothing is stated of fewer than
LEAST_SITES.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from releases.catalogue import Release
from releases.interval import Interval
from releases.measures import open_tables
from releases.strata.bootstrap import GROUPS, LEAST_SITES, draw_sums, groups_of, intervals, number_sites
from releases.strata.sample import Sample
from schema.computed_tables import LABELS
from schema.vocabulary import IN_PART, SELECTED, VALUE_LABELS

Z = 1.959964

ChangeMeasure = Literal["share", "quantile", "page_bytes"]

MEASURES: dict[ChangeMeasure, str] = {
    "share": "mean over sites of each site's share of responses that fit into the window; the change is in "
    "the share itself",
    "quantile": "median over sites of each site's quantile of sizes, in bytes; "
    "the change is the median of each site's ratio, after over before",
    "page_bytes": "median over sites of the bytes of each site's page, in bytes; "
    "the change is the median of each site's ratio, after over before",
}

RESPONSES: dict[str, str] = {
    "all": LABELS["responses"],
    "main": "main documents",
    **{kind: VALUE_LABELS["resource_type"][kind] for kind in ("image", "script", "style", "font")},
    "html": "HTML, frames included",
    "other": "other responses",
}
"""Responses that are compared; types by the media type, which every recorder has."""

End = Literal["whole", "bodies", "headers"]

ENDS: dict[End, str] = {
    "whole": "header and body, as counted",
    "bodies": "bodies alone where a header was not counted",
    "headers": "with the header's text where a header was not counted, over HTTP/2 half of it",
}
"""Parts that a size counts. Where a header was not counted, the truth lies between the two ends."""

END_LABELS: dict[End, str] = {
    "whole": "as counted",
    "bodies": "bodies alone",
    "headers": "with headers' text",
}
"""What sizes hold, in a few words."""

ENDS_OF_SIZES: tuple[End, End] = ("bodies", "headers")

SIZES = f"""
WITH typed AS (
    SELECT v.rank, r.visit_id, r.wire_bytes AS headers, r.id IS NOT DISTINCT FROM v.main_response_id AS is_main,
           CASE WHEN size_basis IN {IN_PART} THEN coalesce(body_bytes, wire_bytes) ELSE wire_bytes END AS bodies,
           size_basis = '{SELECTED}' AS is_selected, coalesce(mime_type, resource_type) AS kind
    FROM response AS r JOIN visit AS v ON v.id = r.visit_id SEMI JOIN studied ON studied.visit_id = r.visit_id
    WHERE r.wire_bytes IS NOT NULL AND is_complete IS NOT FALSE
          AND (r.status BETWEEN 300 AND 399 AND r.status <> 304) IS NOT TRUE),
sized AS (
    SELECT site, visit_id, bodies, headers, unnest([if(is_selected, NULL, 'all'), if(is_main, 'main', NULL),
           CASE WHEN kind LIKE 'image%' THEN 'image' WHEN is_selected THEN NULL WHEN kind LIKE '%html%' THEN 'html'
                WHEN kind LIKE '%javascript%' OR kind LIKE '%ecmascript%' THEN 'script' WHEN kind LIKE '%css%' THEN 'style'
                WHEN kind LIKE '%font%' OR kind LIKE '%woff%' THEN 'font' ELSE 'other' END]) AS responses
    FROM typed JOIN named USING (rank))
"""  # noqa: E501, S608
"""Sizes with their site; sizes of selected types say nothing of all responses."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Windows, segment size and quantile that are compared."""

    windows: tuple[int, ...] = (3, 10, 16, 30)
    mss: int = 1430
    percent: int = 50
    measures: tuple[ChangeMeasure, ...] = tuple(MEASURES)
    responses: tuple[str, ...] = tuple(RESPONSES)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change over the same sites."""

    responses: str
    measure: ChangeMeasure
    end: End
    iw: int | None
    sites: int
    before: float | None
    after: float | None
    change: Interval | None
    """Difference of a share, or ratio; None below LEAST_SITES."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The share of a release's responses that fit into a window, all sites together."""

    responses: str
    end: End
    iw: int
    sites: int
    share: Interval


def pooled_shares(release: Release, names: pa.Table, asked: Selection) -> Iterator[Share]:
    """Yield the shares of a release's responses, of each kind; `names` are of sites, by rank."""
    query = f"{SIZES} SELECT responses, site, bodies, headers FROM sized WHERE responses IS NOT NULL"  # noqa: S608
    with open_tables(release.path) as database:
        database.execute("CREATE VIEW named AS SELECT DISTINCT rank, rank AS site FROM visit")
        columns = database.sql(query).to_arrow_table()
    for responses in asked.responses:
        own = columns.filter(pc.equal(columns["responses"], responses))
        sizes: dict[End, NDArray[np.int64]] = {end: own[end].to_numpy() for end in ENDS_OF_SIZES}
        if np.array_equal(sizes["bodies"], sizes["headers"]):
            sizes = {"whole": sizes["headers"]}
        for end, values in sizes.items():
            sample = Sample.of(values, number_sites(own["site"].to_numpy(), names))
            if not sample.has_intervals:
                continue
            shares = sample.shares_up_to(iw * asked.mss for iw in asked.windows)
            for iw, share in zip(asked.windows, shares, strict=True):
                yield Share(responses=responses, end=end, iw=iw, sites=sample.sites, share=share)


Values = dict[tuple[str, str], dict[str, float]]
"""By responses and site: values by name and end."""


def values_by_site(release: Release, names: pa.Table, asked: Selection) -> Values:
    """Return each site's values; `names` are of sites, by rank."""
    columns = [
        column
        for end in ENDS_OF_SIZES
        for column in (
            *(f"avg(({end} <= {iw * asked.mss})::INT) AS share_{iw}_{end}" for iw in asked.windows),
            f"quantile_disc({end}, {asked.percent / 100}) AS quantile_{end}",
            f"sum({end}) / count(DISTINCT visit_id) AS page_bytes_{end}",
        )
    ]
    chosen = f"SELECT responses, site, {', '.join(columns)} FROM sized"  # noqa: S608  # numbers and names of our own
    query = f"{SIZES} {chosen} WHERE responses IS NOT NULL GROUP BY ALL"
    with open_tables(release.path) as database:
        database.register("named", names)
        rows = database.sql(query).to_arrow_table().to_pylist()
    return {(row.pop("responses"), row.pop("site")): row for row in rows}


def compare_values(before: Values, after: Values, asked: Selection) -> Iterator[Change]:
    """Yield the changes of each kind of responses, by measure, window and end."""
    for responses in asked.responses:
        sites = sorted(site for kind, site in before.keys() & after.keys() if kind == responses)
        pairs = [(before[responses, site], after[responses, site]) for site in sites]
        whole = all(row["page_bytes_bodies"] == row["page_bytes_headers"] for pair in pairs for row in pair)
        ends: tuple[End, ...] = ("whole",) if whole else ENDS_OF_SIZES
        for measure in asked.measures:
            for iw in asked.windows if measure == "share" else (None,):
                for end in ends:
                    window, held = "" if iw is None else f"_{iw}", "headers" if end == "whole" else end
                    column = f"{measure}{window}_{held}"
                    values = np.array([[float(row[column]) for row in pair] for pair in pairs]).reshape(-1, 2)
                    compared = share_change if measure == "share" else ratio_change
                    first, last, change = compared(values[:, 0], values[:, 1])
                    yield Change(
                        responses=responses,
                        measure=measure,
                        end=end,
                        iw=iw,
                        sites=len(sites),
                        before=first,
                        after=last,
                        change=change,
                    )


Compared = tuple[float | None, float | None, Interval | None]
"""A value before, a value after, and the change."""


def share_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> Compared:
    """Return the mean share of the same sites, before and after, and the difference.

    >>> few = np.full(LEAST_SITES - 1, 0.5)
    >>> share_change(few, few)
    (None, None, None)
    """
    sites = len(before)
    if sites < LEAST_SITES:
        return None, None, None
    difference = after - before
    group_of = groups_of(np.arange(sites, dtype=np.int32))
    sums = np.bincount(group_of, difference, minlength=GROUPS).astype(np.float64)[:, np.newaxis]
    counts = np.bincount(group_of, minlength=GROUPS).astype(np.float64)
    groups = min(sites, GROUPS)
    lower, upper = intervals(draw_sums(sums, groups=groups), draw_sums(counts, groups=groups))
    change = Interval(float(difference.mean()), float(lower[0]), float(upper[0]))
    return float(before.mean()), float(after.mean()), change


def ratio_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> Compared:
    """Return the median of the same sites, before and after, and the median ratio, with the interval of its
    order statistics, which resampling gives as sites grow in number.

    >>> ratio_change(np.arange(1.0, 22), 2 * np.arange(1.0, 22))[2]
    Interval(estimate=2.0, lower=2.0, upper=2.0)
    """
    sites = len(before)
    if sites < LEAST_SITES or not before.all():
        return None, None, None
    ratios = np.sort(after / before)
    half = Z * math.sqrt(sites) / 2
    lower, upper = max(0, math.floor(sites / 2 - half)), min(sites - 1, math.ceil(sites / 2 + half) - 1)
    change = Interval(float(np.median(ratios)), float(ratios[lower]), float(ratios[upper]))
    return float(np.median(before)), float(np.median(after)), change

"""What fits into the first flight: sizes, their shares that fit into each window, and their quantiles,
with the queries in DuckDB's SQL that compute them in the folder of a release."""

# ruff: noqa: S608  # nothing in the queries comes from outside: labels, windows and column names are the code's

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from figures.findings import LEADING
from releases.cdf import Cdf
from releases.formatting import grouped, quantity
from releases.interval import Interval
from reports.sections.shape import Column, Figure, ReferenceLine, Row, Table, interval
from reports.sections.sizes.counts import FittingShare, Measure, Sizes
from schema.computed_tables import LABELS

SLICES = 125
"""Slices of probability of a drawn curve, two steps of each; 0.8 % is less than three pixels."""

QUANTILES = ("p10", "p50", "p90", "p99")


def sizes_figure(
    sizes: Sizes,
    curves: Sequence[Row],
    bands: Mapping[str, Mapping[int, Interval]],
    *,
    iw: int,
    marked: Sequence[int],
) -> Figure:
    """Build the curves of sizes, with the `marked` windows.

    `curves` are points (measure, size, percent), exact at every window; `bands` their intervals.
    """
    mss, windows = sizes["mss_bytes"], sizes["windows"]
    stated = next(
        (
            measure
            for name in LEADING
            for measure in sizes["measures"]
            if measure["id"] == name and measure["is_stated"]
        ),
        None,
    )
    title = "Sizes of responses and pages"
    if stated is not None:
        (share,) = (share["percent"] for share in stated["shares"] if share["iw"] == iw)
        title = f"{quantity(share, '%', 2)} of {LABELS[stated['id']]} fit into the ten segments of IW {iw}"
    return Figure(
        id="cdf",
        title=title,
        caption=f"Share of at most so many bytes; upright, windows of segments of {grouped(mss)} bytes. "
        "Bands are 95 % intervals.",
        drawing="curves",
        x="size",
        y="percent",
        series="measure",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            Column(id="size", title="size of an item", unit="B", kind="count"),
            Column(id="percent", title="share up to this size", unit="%"),
        ),
        rows=tuple(curves),
        query=curves_query([window * mss for window in windows], _measures_of(curves)),
        lines=tuple(ReferenceLine(value=window * mss, label=f"IW {window}") for window in marked),
        bands=tuple(band_rows(bands)),
        is_logarithmic=True,
        domain=(100.0, 1e7),
    )


def select_steps(
    sizes: NDArray[np.int64],
    cumulative: NDArray[np.int64],
    *,
    thresholds: Sequence[int],
    slices: int = SLICES,
) -> NDArray[np.bool_]:
    """Select the first and last step of each slice of probability, and those next to thresholds.

    The drawn curve is exact at thresholds, and differs elsewhere by less than 1/slices.
    """
    keep = np.zeros(len(sizes), np.bool_)
    if not len(sizes):
        return keep
    place = -(-cumulative * slices // cumulative[-1])
    changes = place[:-1] != place[1:]
    keep[:-1] |= changes
    keep[1:] |= changes
    keep[[0, -1]] = True
    for threshold in thresholds:
        above = int(np.searchsorted(sizes, threshold, side="right"))
        keep[max(0, above - 1)] = True
        keep[min(len(sizes) - 1, above)] = True
    return keep


def curve(cdf: Cdf, measure: str, *, thresholds: Sequence[int]) -> list[Row]:
    """Return points of a CDF in percent, from 0 at its smallest size."""
    name = LABELS[measure]
    sizes = cdf.sizes.astype(np.int64)
    cumulative = cdf.cumulative.astype(np.int64)
    keep = select_steps(sizes, cumulative, thresholds=thresholds)
    if not keep.any():
        return []
    # A logarithmic axis has no zero: an empty response is drawn at one byte.
    drawn = np.maximum(sizes[keep], 1).tolist()
    shares = (100 * (cumulative[keep] / cumulative[-1])).tolist()
    return [{"measure": name, "size": drawn[0], "percent": 0.0}] + [
        {"measure": name, "size": size, "percent": percent}
        for size, percent in zip(drawn, shares, strict=True)
    ]


def band_rows(bands: Mapping[str, Mapping[int, Interval]]) -> Iterator[Row]:
    for measure, band in bands.items():
        for size, share in band.items():
            yield {"measure": LABELS[measure], "size": max(1, size), "percent": interval(share.times(100))}


def _measures_of(curves: Sequence[Row]) -> list[str]:
    """Return the drawn measures in the order of the curves."""
    ids = {label: name for name, label in LABELS.items()}
    return [ids[label] for label in dict.fromkeys(str(point["measure"]) for point in curves)]


def shares_table(sizes: Sizes) -> Table:
    """Build shares that fit; unknown where most sizes are."""
    windows, mss = sizes["windows"], sizes["mss_bytes"]
    return Table(
        id="shares",
        title="Share that fits, with 95 % interval",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            Column(id="known", title="of known size", kind="count"),
            Column(id="unknown", title="of unknown size", kind="count"),
            *(Column(id=f"iw{iw}", title=f"IW {iw}", unit="%", kind="interval") for iw in windows),
        ),
        rows=tuple(
            {
                "measure": LABELS[measure["id"]],
                "known": measure["known"],
                "unknown": measure["unknown"],
                **{f"iw{share['iw']}": _share(share) for share in measure["shares"]},
            }
            for measure in stated_measures(sizes)
        ),
        query=shares_query(windows, mss),
        notes=("Intervals are from a bootstrap over sites.", *describe_unstated(sizes)),
    )


def stated_measures(sizes: Sizes) -> list[Measure]:
    return [
        measure
        for measure in sizes["measures"]
        if measure["known"] + measure["unknown"]
        and measure["is_stated"]
        and measure["id"] != "responses_incomplete"
    ]


def describe_unstated(sizes: Sizes) -> Iterator[str]:
    """Yield a sentence on measures of which few sizes are known."""
    counts = [
        f"{LABELS[measure['id']]} ({grouped(measure['known'])} of "
        f"{grouped(measure['known'] + measure['unknown'])})"
        for measure in sizes["measures"]
        if measure["known"] + measure["unknown"] and not measure["is_stated"]
    ]
    if counts:
        yield (
            "Measures whose sizes are mostly unknown have no shares and no quantiles here; "
            f"known are: {', '.join(counts)}."
        )


def measures_table(sizes: Sizes) -> Table:
    return Table(
        id="measures",
        is_folded=True,
        title="What each measure counts",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            Column(id="definition", title="definition", kind="text"),
        ),
        rows=tuple(
            {"measure": LABELS[measure["id"]], "definition": measure["definition"]}
            for measure in sizes["measures"]
        ),
        source="the data dictionary",
        query="SELECT unnest(sizes.measures, recursive := true) FROM 'report.json'",
        is_published=True,
    )


def _share(share: FittingShare) -> dict[str, float | None] | None:
    if share["percent"] is None:
        return None
    return {"estimate": share["percent"], "lower": share["lower_percent"], "upper": share["upper_percent"]}


def quantiles_table(sizes: Sizes) -> Table:
    return Table(
        id="quantiles",
        is_folded=True,
        title="Quantiles of size",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            *(Column(id=name, title=name, unit="B", kind="count") for name in QUANTILES),
        ),
        rows=tuple(
            {
                "measure": LABELS[measure["id"]],
                **{
                    name: measure["quantiles_bytes"].get(name) if measure["is_stated"] else None
                    for name in QUANTILES
                },
            }
            for measure in stated_measures(sizes)
        ),
        query=quantiles_query([int(name[1:]) for name in QUANTILES]),
    )


def curves_query(thresholds: Sequence[int], measures: Sequence[str]) -> str:
    """Return SQL of the drawn curves, as `select_steps` has them."""
    return f"""
WITH step AS (
  SELECT measure, size_bytes, cumulative, max(cumulative) OVER one AS known,
         (cumulative * {SLICES} + max(cumulative) OVER one - 1) // max(cumulative) OVER one AS slice
  FROM 'distribution.parquet' WHERE size_bytes IS NOT NULL WINDOW one AS (PARTITION BY measure)
), place AS (
  SELECT *, lag(slice) OVER sorted AS before, lead(slice) OVER sorted AS after,
         lag(size_bytes) OVER sorted AS smaller, lead(size_bytes) OVER sorted AS larger
  FROM step WINDOW sorted AS (PARTITION BY measure ORDER BY size_bytes)
)
SELECT {_case(measures)} AS measure, greatest(size_bytes, 1) AS size, 100 * share AS percent FROM (
  SELECT *, cumulative / known AS share FROM place
  UNION ALL SELECT *, 0 FROM place WHERE smaller IS NULL
) AS place
WHERE measure IN ({_quote(measures)})
  AND (before IS DISTINCT FROM slice OR after IS DISTINCT FROM slice
       OR EXISTS (FROM unnest({list(thresholds)}) AS marked(bytes)
                  WHERE (size_bytes <= bytes AND coalesce(larger > bytes, true))
                     OR (size_bytes > bytes AND coalesce(smaller <= bytes, true))))
ORDER BY list_position([{_quote(measures)}], place.measure), size_bytes, share
""".strip()


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _case(measures: Iterable[str]) -> str:
    whens = " ".join(f"WHEN '{name}' THEN '{LABELS[name]}'" for name in measures)
    return f"CASE place.measure {whens} END"


def shares_query(windows: Sequence[int], mss: int) -> str:
    fitting = ", ".join(
        f"100 * coalesce(max(cumulative) FILTER (size_bytes <= {iw} * {mss}), 0) / max(cumulative) AS iw{iw}"
        for iw in windows
    )
    return (
        f"SELECT {_case(LABELS)} AS measure, coalesce(max(cumulative), 0) AS known, {fitting} FROM "
        "'distribution.parquet' AS place GROUP BY place.measure ORDER BY "
        f"list_position([{_quote(LABELS)}], place.measure)"
    )


def quantiles_query(percents: Sequence[int]) -> str:
    columns = ", ".join(
        f"min(size_bytes) FILTER (cumulative * 100 >= {percent} * known) AS p{percent}"
        for percent in percents
    )
    return (
        f"SELECT {_case(LABELS)} AS measure, {columns} FROM (SELECT *, max(cumulative) OVER (PARTITION BY "
        "measure) AS known FROM 'distribution.parquet') AS place WHERE size_bytes IS NOT NULL GROUP BY "
        f"place.measure ORDER BY list_position([{_quote(LABELS)}], place.measure)"
    )

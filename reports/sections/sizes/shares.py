"""What fits into the first flight: sizes, their shares that fit into each window, and their quantiles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import grouped, quantity
from releases.interval import Interval
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval
from reports.sections.sizes import size_queries

QUANTILES = ("p10", "p50", "p90", "p99")
"""Quantiles of the page's table; report.json has more."""


def sizes_section(
    sizes: Mapping[str, Any],
    curves: Sequence[Row],
    bands: Mapping[str, Mapping[int, Interval]],
    *,
    windows: Sequence[int],
    labels: Mapping[str, str],
    source: str,
) -> Section:
    """The section from the content's sizes.

    `curves` are points (measure, size, cdf) of the measures that are drawn, exact at `windows`; `bands` their
    intervals by measure and size.
    """
    mss = sizes["mss_bytes"]
    incomplete = sizes["incomplete_responses"]
    told = (
        ""
        if incomplete["percent"] is None
        else f" {grouped(incomplete['count'])} responses ({quantity(incomplete['percent'], '%')} of all) "
        "broke off or had not ended when recording stopped; they are counted apart."
    )
    return Section(
        id="sizes",
        title="What fits into the first flight",
        lead="A new connection may send its initial window before anything is acknowledged. The table shows "
        f"the share of each measure that fits into a window, with segments of {grouped(mss)} bytes as in "
        f"Figure 1 of the 2010 paper.{told}",
        figures=(
            Figure(
                id="cdf",
                title=f"Sizes: {', '.join(dict.fromkeys(point['measure'] for point in curves))}.",
                caption="Cumulative share by size, on a logarithmic axis; vertical lines mark initial "
                f"windows of segments with {grouped(mss)} bytes. Bands are 95 % intervals of each point, "
                "from a bootstrap over sites.",
                drawing="lines",
                x="size",
                y="cdf",
                series="measure",
                columns=(
                    Column(id="measure", title="measure", kind="text"),
                    Column(id="size", title="size", unit="B", kind="count"),
                    Column(id="cdf", title="cumulative share"),
                ),
                rows=tuple(curves),
                source=source,
                query=size_queries.curves([iw * mss for iw in windows], _drawn(curves, labels)),
                lines=tuple(Line(value=iw * mss, label=f"IW {iw}") for iw in windows),
                bands=tuple(band_rows(bands, labels)),
                is_logarithmic=True,
            ),
        ),
        tables=(
            shares_table(sizes, labels, source),
            quantiles_table(sizes, labels, source),
            measures_table(sizes, labels),
        ),
    )


def band_rows(bands: Mapping[str, Mapping[int, Interval]], labels: Mapping[str, str]) -> Iterator[Row]:
    """The bands as rows of the figure."""
    for measure, band in bands.items():
        for size, one in band.items():
            yield {"measure": labels[measure], "size": max(1, size), "cdf": interval(one)}


def _drawn(curves: Sequence[Row], labels: Mapping[str, str]) -> dict[str, str]:
    """Names of the drawn measures by id, in the order of the curves."""
    ids = {label: name for name, label in labels.items()}
    return {ids[label]: label for label in dict.fromkeys(str(point["measure"]) for point in curves)}


def shares_table(sizes: Mapping[str, Any], labels: Mapping[str, str], source: str) -> Table:
    """Shares that fit, with intervals; unknown where most sizes of a measure are."""
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
                "measure": labels[one["id"]],
                "known": one["known"],
                "unknown": one["unknown"],
                **{f"iw{share['iw']}": _share(share) for share in one["shares"]},
            }
            for one in told_measures(sizes)
        ),
        source=source,
        query=size_queries.shares(windows, mss, labels),
        notes=("Intervals are from a bootstrap over sites.", *untold(sizes, labels)),
    )


def told_measures(sizes: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The measures of which most sizes are known."""
    return [one for one in sizes["measures"] if one["known"] + one["unknown"] and one["is_stated"]]


def untold(sizes: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    """A sentence on the measures whose shares and quantiles would be those of a few known sizes."""
    found = [
        f"{labels[one['id']]} ({grouped(one['known'])} of {grouped(one['known'] + one['unknown'])})"
        for one in sizes["measures"]
        if one["known"] + one["unknown"] and not one["is_stated"]
    ]
    if found:
        yield (
            "Measures whose sizes are mostly unknown have no shares and no quantiles here; "
            f"known are: {', '.join(found)}."
        )


def measures_table(sizes: Mapping[str, Any], labels: Mapping[str, str]) -> Table:
    """What each measure counts."""
    return Table(
        id="measures",
        title="What each measure counts",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            Column(id="definition", title="definition", kind="text"),
        ),
        rows=tuple(
            {"measure": labels[one["id"]], "definition": one["definition"]} for one in sizes["measures"]
        ),
        source="the data dictionary",
        query="SELECT unnest(sizes.measures, recursive := true) FROM 'report.json'",
        is_published=True,
    )


def _share(share: Mapping[str, Any]) -> dict[str, float] | None:
    if share["percent"] is None:
        return None
    return {
        "estimate": share["percent"],
        "lower": share["lower_percent"],
        "upper": share["upper_percent"],
    }


def quantiles_table(sizes: Mapping[str, Any], labels: Mapping[str, str], source: str) -> Table:
    """Quantiles of size in bytes."""
    return Table(
        id="quantiles",
        title="Quantiles of size",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            *(Column(id=name, title=name, unit="B", kind="count") for name in QUANTILES),
        ),
        rows=tuple(
            {
                "measure": labels[one["id"]],
                **{
                    name: one["quantiles_bytes"].get(name) if one["is_stated"] else None for name in QUANTILES
                },
            }
            for one in told_measures(sizes)
        ),
        source=source,
        query=size_queries.quantiles([int(name[1:]) for name in QUANTILES], labels),
    )

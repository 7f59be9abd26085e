"""Sizes of this release against the services of 2010, digitised from Figure 1 of Dukkipati et al."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from releases.cdf import Cdf
from releases.formatting import grouped
from replay.backcast.published import SERVICES
from replay.backcast.services import sizes
from reports.sections.shape import Column, Figure, Line, Row, Section, Table

POINTS = 100
"""Points of a curve of this release."""

NAMES = {"search": "web search, 2010", "maps": "Maps, 2010", "photos": "Photos and Blogger, 2010"}


def since_2010_section(
    cdfs: Mapping[str, Cdf], *, year: int, windows: Sequence[int], mss: int, source: str
) -> Section:
    """Curves of responses, and the shares of both that fit into each window."""
    columns = (
        Column(id="curve", title="responses of", kind="text"),
        Column(id="bytes", title="size", unit="B", kind="count"),
        Column(id="percent", title="cumulative share", unit="%"),
    )
    return Section(
        id="since-2010",
        title="Against 2010's responses",
        lead="IW 10 was chosen by the sizes of Google's services in 2010. Those were responses of single "
        "services; this release has all responses of pages, so that the curves say how the web's responses "
        "lie to them, and not how the same services grew.",
        figures=(
            Figure(
                id="fig-2010",
                title=f"Sizes of responses, 2010 and {year}.",
                caption="Cumulative share by size, on a logarithmic axis.",
                drawing="lines",
                x="bytes",
                y="percent",
                series="curve",
                columns=columns,
                rows=tuple(curve_rows(cdfs["responses"], year)),
                source=f"{source}; Dukkipati et al. 2010, Figure 1, digitised",
                query="SELECT size_bytes, cdf FROM 'distribution.parquet' WHERE measure = "
                "'responses' ORDER BY size_bytes",
                lines=tuple(Line(value=iw * mss, label=f"IW {iw}") for iw in windows),
                is_logarithmic=True,
            ),
        ),
        tables=(
            Table(
                id="fits-2010",
                title="Responses that fit into each window",
                columns=(columns[0], *(Column(id=f"iw{iw}", title=f"IW {iw}", unit="%") for iw in windows)),
                rows=tuple(fit_rows(cdfs["responses"], year, windows, mss)),
                source=f"{source}; Dukkipati et al. 2010, Figure 1, digitised",
                query=f"segments of {grouped(mss)} bytes",
            ),
        ),
    )


def curve_rows(responses: Cdf, year: int) -> Iterator[Row]:
    """Points of each curve."""
    for service in SERVICES:
        for share, size in zip(*sizes(service), strict=True):
            yield {"curve": NAMES[service], "bytes": size, "percent": 100 * share}
    for size, share in responses.thinned(POINTS):
        yield {"curve": f"this release, {year}", "bytes": max(1, size), "percent": 100 * share}


def fit_rows(responses: Cdf, year: int, windows: Sequence[int], mss: int) -> Iterator[Row]:
    """Shares that fit: of 2010 by the digitised curves, of this release exactly."""
    for service in SERVICES:
        shares, values = sizes(service)
        yield {
            "curve": NAMES[service],
            **{f"iw{iw}": 100 * float(np.interp(iw * mss, values, shares)) for iw in windows},
        }
    yield {
        "curve": f"this release, {year}",
        **{
            f"iw{iw}": 100 * responses.fit(iw, mss=mss).count / responses.known
            if responses.is_stated
            else None
            for iw in windows
        },
    }

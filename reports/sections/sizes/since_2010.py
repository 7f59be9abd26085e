"""Sizes of this release against the services of 2010, digitised from Figure 1 of Dukkipati et al."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from releases.cdf import Cdf
from releases.formatting import grouped, quantity
from replay.backcast.published import SERVICE_LABELS, SERVICES
from replay.backcast.services import sizes
from reports.sections.shape import Column, Figure, ReferenceLine, Row, Table

POINTS = 100

NAMES = {service: f"{label}, 2010" for service, label in SERVICE_LABELS.items()}

CURVE = (
    Column(id="curve", title="responses of", kind="text"),
    Column(id="bytes", title="size of a response", unit="B", kind="count"),
    Column(id="percent", title="share up to this size", unit="%"),
)


def since_2010(
    cdfs: Mapping[str, Cdf], *, year: int, windows: Sequence[int], iw: int, mss: int, source: str
) -> Iterator[tuple[Figure, Table]]:
    """Yield curves of responses, and shares of both that fit; nothing if most sizes are unknown."""
    if not cdfs["responses"].is_stated:
        return
    rows = tuple(fit_rows(cdfs["responses"], year, windows, mss))
    search, now = (
        next(row[f"iw{iw}"] for row in rows if row["curve"] == name) for name in (NAMES["search"], own(year))
    )
    sources = f"{source} 2010: Dukkipati et al., Figure 1, digitised."
    yield (
        Figure(
            id="fig-2010",
            title=f"IW {iw} held {quantity(search, '%', 2)} of web search in 2010, and holds "
            f"{quantity(now, '%', 2)} of {year}\u2019s responses",
            caption="Responses of Google\u2019s services in 2010, by which IW 10 was chosen, beside all "
            f"responses of pages in {year}: another mix, not the same services grown.",
            drawing="curves",
            x="bytes",
            y="percent",
            series="curve",
            columns=CURVE,
            rows=tuple(curve_rows(cdfs["responses"], year)),
            source=sources,
            query="SELECT size_bytes, cdf FROM 'distribution.parquet' WHERE measure = "
            "'responses' ORDER BY size_bytes",
            lines=tuple(ReferenceLine(value=window * mss, label=f"IW {window}") for window in windows),
            is_logarithmic=True,
            domain=(100.0, 1e6),
        ),
        Table(
            id="fits-2010",
            is_folded=True,
            title="Responses that fit into each window, 2010 and now",
            columns=(
                CURVE[0],
                *(Column(id=f"iw{window}", title=f"IW {window}", unit="%") for window in windows),
            ),
            rows=rows,
            source=sources,
            query=f"segments of {grouped(mss)} bytes",
        ),
    )


def own(year: int) -> str:
    return f"pages, {year}"


def curve_rows(responses: Cdf, year: int) -> Iterator[Row]:
    for service in SERVICES:
        for share, size in zip(*sizes(service), strict=True):
            yield {"curve": NAMES[service], "bytes": size, "percent": 100 * share}
    for size, share in responses.thinned(POINTS):
        yield {"curve": own(year), "bytes": max(1, size), "percent": 100 * share}


def fit_rows(responses: Cdf, year: int, windows: Sequence[int], mss: int) -> Iterator[Row]:
    for service in SERVICES:
        shares, values = sizes(service)
        yield {
            "curve": NAMES[service],
            **{f"iw{iw}": 100 * float(np.interp(iw * mss, values, shares)) for iw in windows},
        }
    yield {
        "curve": own(year),
        **{f"iw{iw}": 100 * responses.fit(iw, mss=mss).count / responses.known for iw in windows},
    }

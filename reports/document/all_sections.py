"""All sections of a report, in their order, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from releases.cdf import read_cdfs
from reports.document.examination import Examination
from reports.document.report_inputs import ReportInputs
from reports.document.size_figures import HEADLINE, curve
from reports.document.theme import CURVES
from reports.sections.gains import gains_section
from reports.sections.judging import judging_section
from reports.sections.quic import quic_section
from reports.sections.servers import servers_table_section
from reports.sections.shape import Row, Section
from reports.sections.sizes import sizes_section

LABELS = {measure: curve.label for measure, curve in CURVES.items()}

THIRD_WINDOW = 16
"""Window marked in the figure of sizes besides 3 and 10 segments, unless another window is recommended."""


def sections_of(inputs: ReportInputs, found: Examination, content: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the sections; `content` has the parts of the report that they show."""
    release = inputs.release
    query = f"firstflight report build --year {inputs.year} --crawl {release.manifest.crawl}"
    source = f"release {release.manifest.crawl}, version {release.version}"
    if found.findings:
        yield gains_section(found.findings, query=query)
    windows = marked_windows(content["recommendation"])
    yield sizes_section(
        content["sizes"],
        curves_of(inputs, content["sizes"]["mss_bytes"], windows),
        windows=windows,
        labels=LABELS,
        source=source,
    )
    yield quic_section(read_cdfs(release.file("distribution")), labels=LABELS, source=source)
    yield servers_table_section(content["servers"], source=source)
    if content["rule"]:
        yield judging_section(content, query=query)


def marked_windows(recommendation: Mapping[str, Any] | None) -> tuple[int, ...]:
    """Windows that the figure of sizes marks."""
    recommended = recommendation["iw"] if recommendation else None
    return (3, 10, recommended if recommended and recommended not in (3, 10) else THIRD_WINDOW)


def stated_headline(inputs: ReportInputs) -> list[str]:
    """Measures of the first figure of which most sizes are known."""
    cdfs = read_cdfs(inputs.release.file("distribution"))
    return [measure for measure in HEADLINE if cdfs[measure].is_stated]


def curves_of(inputs: ReportInputs, mss: int, windows: tuple[int, ...]) -> list[Row]:
    """Points of the curves of the first figure."""
    cdfs = read_cdfs(inputs.release.file("distribution"))
    return [
        point
        for measure in stated_headline(inputs)
        for point in curve(cdfs[measure], measure, thresholds=[iw * mss for iw in windows])
    ]

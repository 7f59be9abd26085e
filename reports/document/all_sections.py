"""All sections of a report, in their order, as data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.cdf import Cdf, read_cdfs
from releases.interval import Interval
from releases.ranks import ranks_of
from releases.share_weights import fits_query, page_fits, shares_by_weight
from reports.document.size_figures import HEADLINE, curve
from reports.document.theme import CURVES
from reports.inputs.report_inputs import ReportInputs
from reports.sections.protocols import protocols_section
from reports.sections.quic_window import quic_section
from reports.sections.ranks import ranks_section
from reports.sections.same_sites import same_sites_section
from reports.sections.segments import segments_section
from reports.sections.servers import servers_table_section
from reports.sections.shape import Row, Section
from reports.sections.sizes.shares import sizes_section
from reports.sections.sizes.since_2010 import since_2010_section
from reports.sections.sizes.since_last_year import Year, since_last_year_section, without_last_year, year_of
from reports.sections.tail import tail_section
from reports.sections.verdict import backcast_section, gains_section, ledger_section
from verdict.rule import RULE

LABELS = {measure: curve.label for measure, curve in CURVES.items()}


def sections_of(
    inputs: ReportInputs,
    content: Mapping[str, Any],
    *,
    bands: Mapping[str, Mapping[int, Interval]],
) -> Iterator[Section]:
    """Yield the sections; `content` has the parts of the report that they show,
    `bands` the intervals along the first figure's curves."""
    release = inputs.release
    query = f"firstflight report build --year {inputs.year} --crawl {release.manifest.crawl}"
    source = f"release {release.manifest.crawl}, version {release.version}"
    cdfs = read_cdfs(release.file("distribution"))
    sizes = content["sizes"]
    windows = sizes["windows"]
    verdict = content["verdict"]
    if verdict is not None:
        yield gains_section(verdict, query=query)
        yield ledger_section(verdict, query=query)
    yield sizes_section(
        sizes,
        curves_of(cdfs, sizes["mss_bytes"], windows),
        bands,
        windows=windows,
        labels=LABELS,
        source=source,
    )
    yield since_2010_section(
        cdfs,
        year=int(release.crawl.month[:4]),
        windows=sizes["windows"],
        mss=sizes["mss_bytes"],
        source=source,
    )
    yield last_year(inputs, sizes, cdfs, source=source)
    same_sites = same_sites_section(release, inputs.other_years, mss=sizes["mss_bytes"])
    if same_sites is not None:
        yield same_sites
    yield protocols_section(release, source=source)
    yield segments_section(cdfs, iw=RULE.incumbent, source=source)
    yield quic_section(cdfs, labels=LABELS, source=source)
    yield servers_table_section(content["servers"], source=source)
    yield tail_section(release, window_bytes=RULE.incumbent * sizes["mss_bytes"], source=source)
    yield popularity(inputs, windows=sizes["windows"], mss=sizes["mss_bytes"])
    if verdict is not None:
        yield backcast_section(inputs.back_cast)


def last_year(
    inputs: ReportInputs, sizes: Mapping[str, Any], cdfs: Mapping[str, Cdf], *, source: str
) -> Section:
    """The sizes beside those of the release of twelve months earlier."""
    if inputs.year_before is None:
        return without_last_year(inputs.release.crawl.year_before)
    return since_last_year_section(
        Year(release=inputs.release, sizes=sizes, cdfs=cdfs),
        year_of(inputs.year_before, windows=sizes["windows"]),
        labels=LABELS,
        source=source,
    )


def popularity(inputs: ReportInputs, *, windows: Sequence[int], mss: int) -> Section:
    """What weights by popularity would change."""
    release, ranks = inputs.release, ranks_of(inputs.release)
    pages = page_fits(release, windows=windows, mss=mss)
    return ranks_section(
        shares_by_weight(pages, ranks, windows=windows),
        windows=windows,
        is_ranked=bool(ranks),
        source=f"release {release.manifest.crawl}, version {release.version}",
        shares_query=fits_query(
            windows=windows, mss=mss, visit="'visit.parquet'", response="'response.parquet'"
        ),
    )


def stated_headline(cdfs: Mapping[str, Cdf]) -> list[str]:
    """Measures of the first figure of which most sizes are known."""
    return [measure for measure in HEADLINE if cdfs[measure].is_stated]


def curves_of(cdfs: Mapping[str, Cdf], mss: int, windows: Sequence[int]) -> list[Row]:
    """Points of the curves of the first figure."""
    return [
        point
        for measure in stated_headline(cdfs)
        for point in curve(cdfs[measure], measure, thresholds=[iw * mss for iw in windows])
    ]

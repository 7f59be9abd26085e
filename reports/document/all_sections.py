"""All sections of a report, in the order that argues, as data."""

import re
from collections.abc import Iterator, Mapping, Sequence

from figures.findings import DRAWN, tell_incomplete
from releases.cdf import Cdf
from releases.citation.licences import licence_text
from releases.formatting import apart
from reports.inputs.report_inputs import ReportInputs
from reports.sections.instrument import instrument_section
from reports.sections.related import related_section
from reports.sections.same_sites import same_sites
from reports.sections.servers import ServersFacts, servers_parts
from reports.sections.shape import Row, Section, state_origin
from reports.sections.sizes.counts import SizeCounts, Sizes
from reports.sections.sizes.kinds import kinds_of
from reports.sections.sizes.shares import curve, measures_table, quantiles_table, shares_table, sizes_figure
from reports.sections.sizes.since_2010 import since_2010
from reports.sections.verdict import (
    asked_candidate,
    lists_section,
    otherwise_section,
    plane_figure,
    policies_section,
    round_trips_section,
)
from schema.recorded import is_recorded
from verdict.rule import RULE
from verdict.verdict import Verdict

MARKED = (3, RULE.incumbent.window)
"""Windows that figures of sizes mark, beside the asked policy's."""


def sections_of(
    inputs: ReportInputs, counted: SizeCounts, *, servers: ServersFacts | None, verdict: Verdict | None
) -> Iterator[Section]:
    """Yield the sections of what captured packets and verdict.json tell."""
    query = f"firstflight report build --year {inputs.year} --crawl {inputs.release.manifest.crawl}"
    pages = source_of(inputs)
    yield state_origin(sizes_section(inputs, counted, servers=servers, verdict=verdict), source=pages)
    if verdict is None:
        return
    month, licence = inputs.release.manifest.crawl.month, licence_of(inputs)
    source = f"firstflight, pages of {month} replayed over networks from published distributions. {licence}."
    plane = plane_figure(verdict, source=f"{pages} 2010: Dukkipati et al., Tables 3 and 7.")
    for section in (
        policies_section(verdict, plane),
        round_trips_section(verdict),
        *lists_section(verdict),
        otherwise_section(verdict),
    ):
        yield state_origin(section, source=source, query=query)
    yield instrument_section(inputs.back_cast)
    yield state_origin(related_section(), source="RFC 9743, and docs/methods.md", query=query)


def sizes_section(
    inputs: ReportInputs, counted: SizeCounts, *, servers: ServersFacts | None, verdict: Verdict | None
) -> Section:
    release, sizes, cdfs = inputs.release, counted.content, counted.cdfs
    mss, iw = sizes["mss_bytes"], RULE.incumbent.window
    asked = asked_candidate(verdict)
    marked = sorted({*MARKED, asked.policy.window if asked else RULE.candidates[0].window})
    stated = {name: band for name, band in counted.bands.items() if name in drawn_measures(cdfs)}
    kinds = [*kinds_of(release, iw=iw, mss=mss)]
    years = [*same_sites(release, inputs.other_years, iw=iw, mss=mss, licence=licence_of(inputs))]
    seen = [*servers_parts(servers)]
    year = int(release.crawl.month[:4])
    then = [*since_2010(cdfs, year=year, windows=marked, iw=iw, mss=mss, source=source_of(inputs))]
    curves = curves_of(cdfs, sizes)
    incomplete = tell_incomplete(**sizes["incomplete_responses"])
    first = sizes_figure(sizes, curves, stated, iw=iw, marked=marked)
    return Section(
        id="sizes",
        title="What fits into the first flight",
        lead="A server may send its initial window, today ten segments, before it hears from the browser. "
        f"What fits arrives in one round trip; what does not waits for another. {incomplete}".rstrip(),
        figures=(
            *([first] if curves else []),
            *(figure for parts in (kinds, then, years, seen) for figure, *_ in parts),
        ),
        tables=(
            shares_table(sizes),
            quantiles_table(sizes),
            measures_table(sizes),
            *(table for parts in (kinds, then, years, seen) for _, *tables in parts for table in tables),
        ),
    )


def fuller(inputs: ReportInputs, sizes: Sizes, sections: Sequence[Section]) -> str:
    """State what a fuller release or replay would add; empty if nothing is missing."""
    is_replayed = inputs.replay is not None
    shown = {figure.id for section in sections for figure in section.figures}
    stated = {measure["id"] for measure in sizes["measures"] if measure["is_stated"]}
    missing = [
        name
        for name, is_there in (
            ("what windows save and cost, by a replay", is_replayed),
            ("the sizes of first flights", "first_flights" in stated),
            ("the windows that servers use, from captured packets", "initial_windows" in shown),
            ("the same sites in other years", "fig-years" in shown),
            ("what others pay if everyone raises the window", not is_replayed or "fig-everyone" in shown),
            ("the experiment of 2010 again", not is_replayed or inputs.back_cast.content is not None),
        )
        if not is_there
    ]
    return f"A fuller release would add: {'; '.join(missing)}." if missing else ""


def source_of(inputs: ReportInputs) -> str:
    release = inputs.release
    origin = (release.recording or {}).get("source")
    recorder = f"; pages recorded by others: {apart(re.split('[,;] ', str(origin))[0])}" if origin else ""
    return f"firstflight, {release.manifest.crawl.month}{recorder}. {licence_of(inputs)}."


def licence_of(inputs: ReportInputs) -> str:
    manifest = inputs.release.manifest
    return licence_text(manifest.licence, is_recorded=is_recorded(manifest.crawl.kind))


def drawn_measures(cdfs: Mapping[str, Cdf]) -> list[str]:
    return [measure for measure in DRAWN if cdfs[measure].is_stated]


def curves_of(cdfs: Mapping[str, Cdf], sizes: Sizes) -> list[Row]:
    """Return points of the first figure's curves, exact at every window."""
    thresholds = [iw * sizes["mss_bytes"] for iw in sizes["windows"]]
    return [
        point
        for measure in drawn_measures(cdfs)
        for point in curve(cdfs[measure], measure, thresholds=thresholds)
    ]

"""All sections of a report, in their order, as data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.cdf import Cdf, read_cdfs
from releases.formatting import grouped
from releases.interval import Interval
from releases.ranks import ranks_of
from releases.share_weights import fits_query, page_fits, shares_by_weight
from reports.answer.key_numbers import rival
from reports.answer.shape import Findings
from reports.document.examination import Examination
from reports.document.size_figures import HEADLINE, curve
from reports.document.theme import CURVES
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.rule import RULE
from reports.sections.arms import WholeReplay, by_http, of_replay, of_stages
from reports.sections.cells import cells_section
from reports.sections.evidence import Evidence
from reports.sections.gains import gains_section
from reports.sections.harm import others_section, retransmission_section
from reports.sections.judging import judging_section
from reports.sections.ledger import ledger_section
from reports.sections.method import backcast_section, rfc9040_section
from reports.sections.networks.by_network import by_network_section, slow_section
from reports.sections.networks.countries import countries_section
from reports.sections.protocols import protocols_section
from reports.sections.quic_window import quic_section
from reports.sections.ranks import ranks_section
from reports.sections.segments import segments_section
from reports.sections.senders import Sender, senders_section
from reports.sections.servers import servers_table_section
from reports.sections.shape import Row, Section
from reports.sections.sizes.shares import sizes_section
from reports.sections.sizes.since_2010 import since_2010_section
from reports.sections.sizes.since_last_year import Year, since_last_year_section, without_last_year, year_of
from reports.sections.stages import stages_table_section
from reports.sections.tail import tail_section

LABELS = {measure: curve.label for measure, curve in CURVES.items()}

BURSTS: Sender = (RULE.congestion_control, False)
"""The senders that the rule decides on."""

PACED: Sender = (RULE.congestion_control, True)


def sections_of(
    inputs: ReportInputs,
    found: Examination,
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
    if found.findings:
        yield gains_section(found.findings, query=query)
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
    whole = whole_replay(found)
    senders = dict(of_replay(whole, query=query)) if whole else {}
    evidence = of_stages(found.staged, query=query) if found.staged else senders.get(BURSTS)
    arms = senders if PACED in senders or evidence is None else {BURSTS: evidence}
    if evidence:
        beside = senders.get(BURSTS) if found.staged else None
        yield from replay_sections(found, evidence, arms, beside=beside, query=query)
    versions = by_http(whole, query=query) if whole else {}
    yield protocols_section(release, evidence, versions, source=source)
    yield segments_section(cdfs, iw=RULE.permanent_incumbent, source=source)
    yield quic_section(
        cdfs,
        labels=LABELS,
        source=source,
        bursts=arms.get(BURSTS),
        paced=arms.get(PACED),
        crawl=str(release.manifest.crawl),
    )
    yield servers_table_section(content["servers"], source=source)
    yield tail_section(release, window_bytes=RULE.permanent_incumbent * sizes["mss_bytes"], source=source)
    yield popularity(inputs, found, windows=sizes["windows"], mss=sizes["mss_bytes"])
    if found.findings and content["rule"]:
        yield from answer_sections(inputs, found.findings, content, query=query)


def answer_sections(
    inputs: ReportInputs, findings: Findings, content: Mapping[str, Any], *, query: str
) -> Iterator[Section]:
    """The sections that hold the answer to account."""
    yield rfc9040_section(findings, step=content["rule"]["rfc9040_step"], year=inputs.year)
    yield judging_section(content, query=query)
    if content["stages"]:
        loads = f"{grouped(content['stages']['outcome']['loads'])} loads in stages"
        yield stages_table_section(content["stages"]["ledger"], source=loads, query=query)
    yield ledger_section(
        content.get("ledger"),
        content["earlier_ledgers"],
        year=inputs.year,
        incumbent=findings.incumbent,
        worthwhile=content["rule"]["worthwhile_percent"],
        query=query,
    )
    yield backcast_section(inputs.instrument)


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


def replay_sections(
    found: Examination,
    evidence: Evidence,
    arms: Mapping[Sender, Evidence],
    *,
    beside: Evidence | None,
    query: str,
) -> Iterator[Section]:
    """The sections that measure the loads again: those that decide, those `beside` them,
    and `arms` by how servers sent."""
    yield by_network_section(evidence)
    window = rival(found.findings) if found.findings else None
    if window is not None:
        yield countries_section(evidence, average_population(found), window=window)
    yield slow_section(evidence)
    yield retransmission_section(evidence)
    yield others_section(evidence, beside=beside)
    yield senders_section(arms, decides=BURSTS)
    if found.analysis:
        yield cells_section(found.analysis.loads, query=query)


def average_population(found: Examination) -> Mapping[str, Any]:
    """Facts of the average population of a replay; empty without one."""
    if found.staged:
        populations = found.staged.provenance["populations"]
    else:
        populations = found.analysis.replay.populations if found.analysis else []
    return next((one for one in populations if not one["slow"]), {})


def whole_replay(found: Examination) -> WholeReplay | None:
    """The full replay, whether it decides or stands beside stages; None without one."""
    analysis = found.analysis or found.beside
    if analysis is None:
        return None
    return WholeReplay(
        cells=analysis.replay.own_cells,
        profiles=analysis.replay.profiles,
        populations=analysis.replay.population_weights,
        harm_loads=analysis.harm_loads,
        rule=analysis.rule,
        incumbent=analysis.recommendation.incumbent,
    )


def popularity(inputs: ReportInputs, found: Examination, *, windows: Sequence[int], mss: int) -> Section:
    """What weights by popularity would change."""
    release, ranks = inputs.release, ranks_of(inputs.release)
    pages = page_fits(release, windows=windows, mss=mss)
    return ranks_section(
        shares_by_weight(pages, ranks, windows=windows),
        found.analysis.strata if found.analysis else (),
        windows=windows,
        incumbent=found.findings.incumbent if found.findings else RULE.permanent_incumbent,
        is_ranked=bool(ranks),
        source=f"release {release.manifest.crawl}, version {release.version}",
        shares_query=fits_query(
            windows=windows, mss=mss, visit="'visit.parquet'", response="'response.parquet'"
        ),
        query=f"firstflight report build --year {inputs.year} --crawl {release.manifest.crawl}",
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

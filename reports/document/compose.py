"""Composes the content of report.json from the inputs of a report: its parts, why it is illustrative, and the
commands that rebuild it."""

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow.parquet as pq

from recordings.pages.sets import AUGUST_2025, SETS, recorder_of
from releases.catalogue import Release, ReleaseFacts
from releases.citation.forms import cite
from releases.citation.work import NotCitable, cite_report
from releases.formatting import apart, grouped, quantity
from releases.slow_start import WINDOWS
from replay.networks.profiles import MOST_MONTHS, is_stale
from replay.runs.policy import AT_ONCE
from replay.runs.replay_folder import is_dirty
from reports.answer import answer_of, fits_number
from reports.content import (
    FORMAT_VERSION,
    CitationFacts,
    CrawlFacts,
    ProvenanceFacts,
    RecordedFacts,
    ReplayFacts,
    Report,
    ReportedRelease,
    parse_content,
)
from reports.document.all_sections import fuller, sections_of
from reports.document.method import LIMITS, glossary_of, method_of
from reports.forms.typesetting import in_type
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.sections.servers import servers_section
from reports.sections.sizes.counts import size_section
from schema.authors import MAINTAINERS
from schema.crawls import CrawlName
from schema.recorded import is_recorded
from storage.report_versions import Publication
from verdict.judgement import Reason
from verdict.replay_file import DEFAULTS, command_of
from verdict.rule import RULE
from verdict.verdict import Verdict
from verdict.verdict_file import round_numbers, to_data

READ = ("answer", "sections", "limits", "fuller", "method", "glossary")


def compose(inputs: ReportInputs) -> dict[str, Any]:
    """Return the content of report.json without OF_A_VERSION, by the inputs and the code alone."""
    release, because = inputs.release, illustrative_because(inputs)
    windows = {*WINDOWS, *(policy.window for policy in RULE.candidates if policy.sending == AT_ONCE)}
    counted = size_section(release, windows=sorted(windows))
    servers, verdict, recorded = servers_section(release), verdict_of_inputs(inputs), recorded_facts(release)
    sections = [*sections_of(inputs, counted, servers=servers, verdict=verdict)]
    answer = answer_of(
        verdict,
        illustrative_because=because,
        limits=limits_sentence(recorded, vantage=release.crawl.vantage) if recorded else None,
        fits=fits_number(counted.content["measures"], iw=RULE.incumbent.window),
        command=replay_command(release.crawl, {"budget_minutes": 2 * DEFAULTS["budget_minutes"]}),
    )
    limits = [
        *LIMITS,
        *dirty_limit(inputs.replay),
        *list_limit(release),
        *([] if recorded else [months_limit(inputs.months, release.crawl.month)]),
    ]
    method = method_of(counted.content["mss_bytes"], verdict.rule if verdict else None)
    words = (dataclasses.asdict(answer), [*map(dataclasses.asdict, sections)], limits, method, because)
    report = Report(
        format_version=FORMAT_VERSION,
        year=inputs.year,
        is_illustrative=bool(because),
        illustrative_because=because,
        recorded_pages=recorded,
        answer=answer,
        verdict=verdict,
        release=reported_release(release),
        crawl=crawl_facts(release),
        sizes=counted.content,
        servers=servers,
        replay=replay_facts(inputs.replay) if inputs.replay else None,
        sections=sections,
        limits=limits,
        fuller=fuller(inputs, counted.content, sections),
        method=method,
        glossary=glossary_of(*words),
        redo=rebuild_commands(inputs),
    )
    rest = dataclasses.replace(report, verdict=None)
    whole: dict[str, Any] = round_numbers(dataclasses.asdict(rest))
    return {
        **whole,
        "verdict": to_data(verdict) if verdict else None,
        **{name: in_type(whole[name]) for name in READ},
    }


def publish_content(
    composed: Mapping[str, Any], publication: Publication, release: Release
) -> dict[str, Any]:
    return {
        **composed,
        "redo": [*composed["redo"][:-1], composed["redo"][-1] + publishing_options(publication)],
        "publication": {**dataclasses.asdict(publication), "changed": [*publication.changed]},
        "citation": citation(parse_content(Report, composed), publication, release),
    }


def verdict_of_inputs(inputs: ReportInputs) -> Verdict | None:
    """Return the verdict of the replay; that of illustrative inputs is marked."""
    if inputs.replay is None:
        return None
    mark = illustrative_mark(inputs)
    reasons = [Reason(level="low", sentence="The inputs are illustrative.")] if mark else []
    confirming = [other.replayed for other in inputs.replay.confirming]
    return inputs.replay.replayed.verdict(inputs.back_cast, confirming=confirming, mark=mark, reasons=reasons)


def recorded_facts(release: Release) -> RecordedFacts | None:
    """State whence recorded pages are, what was inferred, and what they cannot tell."""
    stated = release.recording
    if stated is None:
        return None
    return cast("RecordedFacts", {name: stated.get(name) for name in RecordedFacts.__annotations__})


def reported_release(release: Release) -> ReportedRelease:
    manifest = release.manifest
    facts = {field.name: getattr(manifest, field.name) for field in dataclasses.fields(ReleaseFacts)}
    return ReportedRelease(**facts, crawl=str(release.crawl), sha256=release.checksum)


def crawl_facts(release: Release) -> CrawlFacts:
    (row,) = pq.ParquetFile(release.file("crawl")).read().to_pylist()
    visits = pq.ParquetFile(release.file("visit")).read(columns=["is_final", "outcome"]).to_pylist()
    outcomes = sorted(visit["outcome"] for visit in visits if visit["is_final"])
    names = [name for name in CrawlFacts.__annotations__ if name not in ("sites", "outcomes")]
    columns = {name: _plain(row.get(name)) for name in names}
    counts = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)}
    return cast("CrawlFacts", columns | {"sites": len(outcomes), "outcomes": counts})


def _plain(value: Any) -> Any:  # noqa: ANN401  # a value of a table
    return value.isoformat() if hasattr(value, "isoformat") else value


def replay_facts(replay: Replay) -> ReplayFacts:
    evidence = replay.replayed.pages.looks[-1].evidence
    return {
        "name": replay.name,
        "stages": len(replay.loads),
        "loads": sum(len(table) for table in replay.loads),
        "states": dict(evidence.states),
        "pages": len(set(evidence.visits.tolist())),
        "networks": len(set(evidence.places.tolist())),
        "sha256": replay.checksum,
        "provenance": cast("ProvenanceFacts", _condense(replay.provenance)),
    }


def citation(report: Report, publication: Publication, release: Release) -> CitationFacts:
    """Return the citation, whose BibTeX says of an illustrative report why there is none."""
    manifest = release.manifest
    title = f"First flights in {report.year}: how much of the web fits into the initial window"
    qualified = f"{title} ({report.marks})" if report.marks else title
    recorder = recorder_of(manifest)
    recorded = f"recorded by {recorder}, " if recorder else ""
    data = f"release {manifest.crawl}, version {manifest.version}, {recorded}sha256:{manifest.data_checksum}"
    work = cite_report(
        title=qualified,
        year=report.year,
        version=publication.version,
        date=publication.date,
        data=data,
        licence=manifest.licence,
        is_recorded=report.recorded_pages is not None,
        is_illustrative=report.is_illustrative,
    )
    try:
        bibtex = cite(work, "bib").rstrip("\n")
    except NotCitable as exc:
        bibtex = f"% {exc}"
    return {
        "author": MAINTAINERS.name,
        "title": qualified,
        "year": report.year,
        "version": publication.version,
        "data": data,
        "licence": manifest.licence,
        "commit": manifest.commit,
        "line": work.line,
        "bibtex": bibtex,
    }


def dirty_limit(replay: Replay | None) -> list[str]:
    """Return the limit that loads were made by code that nobody can fetch, if any were."""
    if replay is None or not any(map(is_dirty, replay.provenance["commits"])):
        return []
    return [
        "A part of the loads was made by code with changes that were not committed (Provenance says which): "
        "it can be judged again from the loads, but not loaded again by the same code."
    ]


def list_limit(release: Release) -> list[str]:
    """Return the limit that the list is older than the crawl, if it is."""
    month = release.manifest.old_list_month
    if month is None:
        return []
    return [
        f"The list of sites is of {month}, before the month in which the crawl was planned: sites that have "
        "become popular since are missing."
    ]


def months_limit(months: Sequence[str], month: str) -> str:
    """State what one month of a year cannot tell; `months` have a release.

    >>> months_limit(["2026-10", "2026-11"], "2026-11")[:88]
    'The sizes are of one month, 2026-11. 10 months of 2026 have no release of the same kind '
    """
    year = month[:4]
    missing = [each for each in (f"{year}-{number:02}" for number in range(1, 13)) if each not in months]
    if not missing:
        return f"The sizes are of one month, {month}; every month of {year} has a release of the same kind."
    count = f"{len(missing)} months of {year} have" if len(missing) > 1 else f"One month of {year} has"
    return (
        f"The sizes are of one month, {month}. {count} no release of the same kind ({', '.join(missing)}), "
        "so that the year cannot be told from its season."
    )


def _condense(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance with the number of calibration checks and those that did not pass, and of later
    conditions what differs from the first.

    >>> check = {"guest": 1, "profile": "a", "name": "IW 10"}
    >>> _condense({"gates": [{**check, "passed": True}, {**check, "passed": False}]})["gates"]
    {'checked': 2, 'not_passed': [{'guest': 1, 'profile': 'a', 'name': 'IW 10', 'passed': False}]}
    >>> _condense({"parameters": {"conditions": [{"a": 1, "b": 1}, {"a": 1, "b": 2}]}})["parameters"]
    {'conditions': [{'a': 1, 'b': 1}, {'b': 2}]}
    """
    gates, parameters = provenance.get("gates", []), provenance.get("parameters", {})
    not_passed = [check for check in gates if not check["passed"]]
    condensed = {**provenance, "gates": {"checked": len(gates), "not_passed": not_passed}}
    if conditions := parameters.get("conditions"):
        first, *others = conditions
        condensed["parameters"] = {
            **parameters,
            "conditions": [first, *(_keep_differing(other, first) for other in others)],
        }
    return condensed


def _keep_differing(conditions: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if name not in first or value != first[name]}


def illustrative_because(inputs: ReportInputs) -> list[str]:
    crawl = inputs.release.manifest.crawl
    because = []
    if is_bundled(inputs):
        because.append("the crawl is of the bundled local web, not of live sites")
    populations = inputs.replay.populations if inputs.replay else ()
    old = [population["id"] for population in populations if is_stale(population["measured"], crawl.month)]
    if old:
        because.append(f"the network populations {', '.join(old)} are more than {MOST_MONTHS} months old")
    return because


def is_bundled(inputs: ReportInputs) -> bool:
    kind = inputs.release.manifest.crawl.kind
    return kind != "web" and not is_recorded(kind)


def illustrative_mark(inputs: ReportInputs) -> str:
    """Return what stands before an illustrative answer."""
    if is_bundled(inputs):
        return "By the bundled pages, illustrative"
    return "Illustrative" if illustrative_because(inputs) else ""


def limits_sentence(recording: RecordedFacts, *, vantage: str) -> str:
    source, day = re.split("[,;] ", recording["source"])[0], recording["recorded"].partition(",")[0]
    when = f"from {day}" if " to " in day else f"on one day, {day},"
    whence = "through a VPN" if "vpn" in vantage.split("-") else f"from the vantage {vantage}"
    share = recording["inferred"]["connections"]["share"]
    rebuilt = f"; connections are rebuilt for {quantity(100 * share, '%')} of the requests" if share else ""
    if "protocols" in recording["inferred"]:
        rebuilt = "; protocols and connections, which a proxy hid, are assigned"
    return (
        f"Recorded pages, not the live web: {grouped(recording['pages'])} from {apart(source)}, loaded "
        f"{when} by somebody else\u2019s browser {whence}{rebuilt}."
    )


def rebuild_commands(inputs: ReportInputs) -> list[str]:
    """Return the commands that make or verify the release, repeat the back-cast, replay and build.

    `publishing_options` gives what the last needs for a version.
    """
    name, replay = inputs.release.manifest.crawl, inputs.replay
    commands = [f"firstflight verify --offline release {name}"]
    if is_recorded(name.kind):
        commands.insert(0, _import_command(inputs.release))
        commands[1:1] = [_import_command(year) for year in inputs.other_years]
    if inputs.back_cast.content:
        commands.append(f"firstflight replay backcast --seeds {inputs.back_cast.content['seeds']}")
    if replay is not None:
        commands.append(replay_command(name, replay.provenance.get("asked", {"until": "all"})))
        commands += [
            command_of(other.provenance.get("asked", {}), pages=other.crawl) for other in replay.confirming
        ]
    without = "" if replay else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def replay_command(crawl: CrawlName, asked: Mapping[str, Any]) -> str:
    pages = "recorded" if is_recorded(crawl.kind) else str(crawl)
    return command_of({name: value for name, value in asked.items() if name != "pages"}, pages=pages)


def publishing_options(publication: Publication) -> str:
    """Return the options of `firstflight report build` for one version of a report.

    >>> publishing_options(Publication(version=2, date="2027-01-15", reason="a site was withdrawn", corrects="shares"))
    " --version 2 --reason 'a site was withdrawn' --corrects shares --date 2027-01-15"
    """  # noqa: E501
    options = {
        "version": publication.version if publication.version > 1 else None,
        "reason": publication.reason,
        "corrects": publication.corrects,
        "date": publication.date,
    }
    return "".join(f" --{name} {shlex.quote(str(value))}" for name, value in options.items() if value)


def _import_command(release: Release) -> str:
    """Return the command that makes a recorded release; FOLDER stands for pages that do not come with the
    code.
    """
    manifest = release.manifest
    named = manifest.list_id if manifest.list_id in SETS else "FOLDER"
    folder = "" if named == AUGUST_2025 else f" {named}"
    version = f" --version {manifest.version}" if manifest.version > 1 else ""
    return f"firstflight import pages{folder}{version}"

"""Where a report's numbers come from: release, crawl, list, browser, code, kernel and calibration,
as terms with their texts."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.formatting import UNKNOWN, apart, grouped, packet_agreement, quantity, significant, stated
from replay.runs.replay_folder import DIRTY, is_dirty
from reports.content import CrawlFacts, ProvenanceFacts, Report, ReportedRelease


def provenance(report: Report) -> list[tuple[str, str]]:
    """Return terms and texts, for every form of a report."""
    terms = list(_of_the_release(report.release, report.crawl, report.licence))
    if report.replay and report.verdict:
        terms += _of_the_replay(report.replay["provenance"])
        terms.append(("rule", f"version {report.verdict.rule.version}"))
    return terms


def _of_the_release(release: ReportedRelease, crawl: CrawlFacts, licence: str) -> Iterator[tuple[str, str]]:
    outcomes = ", ".join(f"{grouped(count)} {outcome}" for outcome, count in crawl["outcomes"].items())
    yield (
        "release",
        f"{release.crawl}, version {release.version}, schema {release.schema_version}, "
        f"{licence}; SHA-256 {release.sha256}",
    )
    yield (
        "crawl",
        f"{_dates(crawl)}{grouped(crawl['sites'])} sites{_describe_plan(crawl['top'])}; {outcomes}",
    )
    yield "list", f"{release.list_id}; SHA-256 {release.list_checksum}"
    yield "browser", "; ".join(str(name) for name in (release.browser, crawl["user_agent"]) if name)
    yield "flags of the browser", str(crawl["browser_flags"] or "not recorded")
    yield "method, code", f"method {release.method_version}, commit {release.commit}"
    if agreement := packet_agreement(release.packets):
        yield "audit", f"bytes by the browser\u2019s log and by captured packets: {agreement}"


def _dates(crawl: CrawlFacts) -> str:
    """State when a crawl was planned and sealed; recorded pages do not say so."""
    times = (("planned", crawl["planned_at"]), ("sealed", crawl["sealed_at"]))
    return "".join(f"{name} {time}; " for name, time in times if time)


def _describe_plan(top: int | None) -> str:
    return "" if top is None else f" of the first {grouped(top)} planned"


def _of_the_replay(facts: ProvenanceFacts) -> Iterator[tuple[str, str]]:
    kernel, gates = facts.get("kernel") or {}, facts["gates"]
    yield (
        "kernel",
        f"{kernel.get('package', 'Linux')} {kernel.get('version', 'of unknown version')}; recipe "
        f"{kernel.get('recipe', UNKNOWN)}",
    )
    yield "replay\u2019s code", describe_commits(facts)
    virtual, core = facts.get("virtual_s"), facts.get("core_s")
    if virtual and core:
        yield (
            "time",
            f"{quantity(virtual, 's')} of page loads in {quantity(core, 's')} of a core: "
            f"{significant(virtual / core)} times real time",
        )
    missed = "; ".join(
        f"{check.get('profile', UNKNOWN)}, {check['name']}: {significant(check.get('measured'))} instead of "
        f"{significant(check.get('expected'))}"
        for check in gates["not_passed"]
    )
    passed = gates["checked"] - len(gates["not_passed"])
    yield (
        "calibration",
        f"{grouped(passed)} of {grouped(gates['checked'])} checks passed without "
        f"loss{f': {missed}' if missed else ''}",
    )


def describe_commits(facts: Mapping[str, Any]) -> str:
    """Return the commits of the code that loaded, and which of them had changes that nobody committed.

    >>> describe_commits({"commit": "a", "commits": ["a", "b-dirty"]})
    'commits a, b, the last with changes that were not committed'
    """
    commits = sorted(facts.get("commits") or [facts.get("commit", UNKNOWN)], key=is_dirty)
    dirty = sum(map(is_dirty, commits))
    names = [commit.removesuffix(DIRTY) for commit in commits]
    text = f"commit{'s' * (len(names) > 1)} {', '.join(names)}"
    if not dirty:
        return text
    which = "" if len(names) == 1 else " the last" if dirty == 1 else f" the last {dirty}"
    return f"{text},{which} with changes that were not committed"


def parameters(report: Report) -> list[tuple[str, str]]:
    """Return the replay's parameters; those with parts are in report.json alone."""
    settings = report.replay["provenance"].get("parameters", {}) if report.replay else {}
    lists = {name: value if isinstance(value, list) else [value] for name, value in settings.items()}
    return [
        (name.replace("_", " "), ", ".join(map(_format_setting, values)))
        for name, values in lists.items()
        if not any(isinstance(value, Mapping) for value in values)
    ]


def _format_setting(value: Any) -> str:  # noqa: ANN401  # a parameter has any type
    """Return a parameter as it was stated; a count keeps every digit."""
    if isinstance(value, int) and not isinstance(value, bool):
        return grouped(value)
    return stated(value) if isinstance(value, float) else apart(str(value))

"""Publishes a report as a version of its year: never in place of another,
and not again if nothing has changed."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from reports.content import content_digest
from reports.document.compose import compose
from reports.document.report import origin, write_report
from reports.inputs.report_inputs import ReportInputs
from storage.report_versions import (
    CONTENT,
    Publication,
    ReportVersion,
    ReportVersionError,
    newest_version,
    next_place,
    report_versions,
)
from storage.signatures import Signer, find_faults
from storage.sums import SIGNATURE, checksum_of, manifest_of

NEXT: Literal["next"] = "next"
"""The next number, where the content differs."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The version to publish, and the reason for it."""

    version: int | Literal["next"] | None = None
    """None for the first alone."""
    reason: str | None = None
    corrects: str | None = None
    date: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PublishedReport:
    """The version that has the content."""

    version: ReportVersion
    digest: str
    """SHA-256 by `content_digest`."""
    is_new: bool
    """False if equal content was there."""


def publish_report(
    inputs: ReportInputs,
    reports_dir: Path,
    wanted: Wanted,
    *,
    commit: str,
    allowed_signers: Path,
    signer: Signer | None = None,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> PublishedReport:
    """Publish the report, unless a version in force has equal content.

    `progress` is told of figures, drawn and in all.

    ReportVersionError if that would replace a version, leave out a number, make a later one without a
    reason, or publish again what was withdrawn.
    """
    folder = reports_dir / str(inputs.year)
    place, before = next_place(folder), newest_version(report_versions(folder))
    _check_number(wanted, place)
    if before is not None:
        _check_sound(before, allowed_signers)
    composed = compose(inputs)
    digest = content_digest(composed)
    if equal := _with_equal_content(report_versions(folder), wanted, digest, place):
        if signer is not None and not (equal.folder / SIGNATURE).exists():
            signer.sign(equal.folder)
        return PublishedReport(version=equal, digest=digest, is_new=False)
    facts = origin(inputs, commit=commit)
    changed = [] if before is None else list(changes(manifest_of(before.folder), facts))
    if place.number > 1 and wanted.version not in (NEXT, place.number):
        raise ReportVersionError(_refusal(place, before, changed))
    publication = Publication(version=place.number, date=wanted.date)
    if place.number > 1:
        publication = dataclasses.replace(
            publication,
            reason=wanted.reason,
            corrects=wanted.corrects,
            supersedes=checksum_of(before.folder) if before is not None else None,
            changed=changed,
        )
    write_report(
        inputs,
        composed,
        place.folder,
        facts=facts,
        signer=signer,
        publication=publication,
        progress=progress,
    )
    folder.chmod(0o755)  # regardless of the umask: the service may run as another user
    return PublishedReport(version=place, digest=digest, is_new=True)


def _with_equal_content(
    versions: Sequence[ReportVersion], wanted: Wanted, digest: str, place: ReportVersion
) -> ReportVersion | None:
    """Return the version in force with equal content, unless the next is asked for by its number.

    ReportVersionError if the content was withdrawn.
    """
    if wanted.version == place.number:
        return None
    equal = [version for version in versions if read_digest(version) == digest]
    if isinstance(wanted.version, int):
        equal = [version for version in equal if version.number == wanted.version]
    newest = newest_version(versions)
    in_force = [version for version in equal if version == newest or version.number == wanted.version]
    for same in in_force or equal:
        if same.withdrawal is not None:
            raise ReportVersionError(
                f"version {same.number} of the report for {same.year} has equal content and is withdrawn "
                f"({same.withdrawal.reason}): {_how(place)} publishes it again"
            )
    return in_force[0] if in_force else None


def _check_number(wanted: Wanted, place: ReportVersion) -> None:
    """Refuse a number out of turn, and a later version without reason or corrections."""
    number = place.number if wanted.version == NEXT else wanted.version
    if number is not None and number > place.number:
        raise ReportVersionError(f"the next version of the report for {place.year} is {place.number}")
    if number == place.number > 1 and not (wanted.reason and wanted.corrects):
        raise ReportVersionError(f"version {number} needs a reason and what it corrects: {_how(place)}")


def _check_sound(before: ReportVersion, allowed_signers: Path) -> None:
    if broken := find_faults(before.folder, allowed_signers):
        raise ReportVersionError(
            f"{before.folder} is damaged ({', '.join(broken)}): restore it from a copy, or withdraw it by "
            f"`firstflight report withdraw --year {before.year} --version {before.number} --reason '...'`"
        )


def _refusal(place: ReportVersion, before: ReportVersion | None, changed: list[str]) -> str:
    if before is None:
        return f"every version of the report for {place.year} is withdrawn: {_how(place)} makes the next"
    return (
        f"version {before.number} of the report for {place.year} is published and would not be the same now "
        f"({'; '.join(changed) or 'the same inputs give other content'}); a report is never replaced: "
        f"{_how(place)} makes the next"
    )


def _how(place: ReportVersion) -> str:
    return (
        f"`firstflight report build --year {place.year} --version {place.number} "
        "--reason '...' --corrects '...'`"
    )


def read_digest(version: ReportVersion) -> str:
    try:
        return content_digest(json.loads((version.folder / CONTENT).read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError):
        return ""


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each input that differs between two manifests.

    >>> list(changes({"commit": "a", "rule_version": "1"}, {"commit": "b", "rule_version": "1"}))
    ['the code: b in place of a']
    """
    old, new = before.get("release") or {}, now.get("release") or {}
    if old != new:
        yield f"the release: {_release(new)} in place of {_release(old)}"
    for name, title in (
        ("year_before", "the release of the year before"),
        ("replay", "the replay"),
        ("backcast", "the back-cast"),
        ("last_years_report", "last year's report"),
    ):
        sums = [(facts.get(name) or {}).get("checksum", "none") for facts in (before, now)]
        if sums[0] != sums[1]:
            yield f"{title}: {sums[1][:12]} in place of {sums[0][:12]}"
    confirming = [
        {replay["crawl"]: replay for replay in facts.get("confirming", ())} for facts in (before, now)
    ]
    for crawl in sorted({*confirming[0], *confirming[1]}):
        sums = [replays.get(crawl, {}).get("checksum", "none") for replays in confirming]
        if sums[0] != sums[1]:
            yield f"the replay of {crawl}: {sums[1][:12]} in place of {sums[0][:12]}"
    for name, title in (("rule_version", "the rule"), ("commit", "the code")):
        if before.get(name) != now.get(name):
            yield f"{title}: {now.get(name)} in place of {before.get(name)}"


def _release(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts.get('crawl', 'unknown')} version {facts.get('version', 'unknown')} "
        f"({str(facts.get('checksum'))[:12]})"
    )

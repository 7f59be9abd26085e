"""`firstflight report versions`, `verify` and `withdraw`: what is published of a year's report."""

import dataclasses
import datetime
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from firstflight.commands.options import AS_JSON, show
from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.verification import of_folders
from releases.catalogue import iter_versions
from storage.report_versions import (
    ReportVersion,
    ReportVersionError,
    all_report_versions,
    find_version,
    newest_version,
    report_versions,
    standing,
    withdraw,
)
from storage.signatures import SigningFailed, state
from storage.sums import find_misstated

YEARS = click.IntRange(2000, 9999)
YEAR = click.option("--year", type=YEARS, required=True, help="Year of the report.")
MOST_CHARACTERS = 1000


def plain(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Check a statement that readers are shown: some characters on one line, none of them invisible."""
    if value is None:
        return None
    stated = value.strip()
    if not stated or len(stated) > MOST_CHARACTERS or any(unicodedata.category(c)[0] == "C" for c in stated):
        raise click.BadParameter(f"write one line of 1 to {MOST_CHARACTERS} characters")
    return stated


@click.command()
@click.option("--year", type=YEARS, help="Year of the report; every year by default.")
@AS_JSON
@click.pass_obj
def versions(settings: Settings, *, year: int | None, as_json: bool) -> None:
    """List the versions of reports: which is the newest, why each was made, and which were withdrawn.

    Checksums of files are not computed: use `firstflight report verify` for that.

    \b
    Example:
      firstflight report versions --year 2026
      firstflight report versions --json
    """
    entries = [
        entry(settings, version, siblings) for siblings in _by_year(settings, year) for version in siblings
    ]
    lines = [*map(line_of, entries)] or [f"no reports yet in {settings.reports}"]
    show({"versions": entries}, as_json=as_json, lines=lines)


def _by_year(settings: Settings, year: int | None) -> Iterable[Sequence[ReportVersion]]:
    if year is not None:
        return [report_versions(settings.reports / str(year))]
    years = dict.fromkeys(report_version.year for report_version in all_report_versions(settings.reports))
    return [report_versions(settings.reports / year) for year in years]


def entry(settings: Settings, version: ReportVersion, siblings: Sequence[ReportVersion]) -> dict[str, Any]:
    """Return the facts of a version, and its standing among its `siblings`."""
    withdrawal = version.withdrawal
    is_damaged = version.is_there and bool(find_misstated(version.folder))
    return {
        "year": int(version.year),
        **dataclasses.asdict(version.publication),
        "standing": standing(withdrawal, is_newest=version == newest_version(siblings)),
        "withdrawal": dataclasses.asdict(withdrawal) if withdrawal else None,
        "is_damaged": is_damaged,
        "signature": str(state(version.folder, settings.allowed_signers)) if version.is_there else None,
        "path": str(version.folder) if version.is_there else None,
    }


def line_of(facts: dict[str, Any]) -> str:
    """Return the facts of a version as one line of text."""
    parts = [facts["standing"] + (", DAMAGED" if facts["is_damaged"] else "")]
    if facts["withdrawal"]:
        parts.append(f"withdrawn on {facts['withdrawal']['date']}: {facts['withdrawal']['reason']}")
    if facts["reason"]:
        parts += [f"made because: {facts['reason']}", f"corrects: {facts['corrects']}"]
    dated = f" of {facts['date']}" if facts["date"] else ""
    return f"{facts['year']} v{facts['version']}{dated}: {'; '.join(parts)}"


@click.command("withdraw")
@YEAR
@click.option("--version", type=click.IntRange(1, 9999), required=True, help="Version to withdraw.")
@click.option("--reason", callback=plain, required=True, help="Why readers should not use it any more.")
@click.pass_obj
def withdraw_(settings: Settings, *, year: int, version: int, reason: str) -> None:
    """Withdraw a version of a report.

    Its files stay, and every page of it says that it is withdrawn, and why. The notice is signed if
    FIRSTFLIGHT_SIGNING_KEY names a key. A withdrawal cannot be taken back: publish another version.

    \b
    Example:
      firstflight report withdraw --year 2026 --version 1 --reason "the replay had a wrong kernel"
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    with one_line(ReportVersionError, SigningFailed, OSError):
        report = find_version(settings.reports, year, version)
        withdraw(report, reason=reason, date=today, signer=settings.signer)
    click.echo(f"version {version} of the report for {year} is withdrawn: {reason}")


@click.command("verify")
@YEAR
@click.option("--version", type=click.IntRange(1, 9999), help="One version; all by default.")
@AS_JSON
@click.pass_context
def verify_(ctx: click.Context, *, year: int, version: int | None, as_json: bool) -> None:
    """Check the versions of a report, and the notices that withdraw them: sums, signatures,
    and the release named.

    Exit code 1 if one is damaged; a withdrawn version is not damaged by that.

    \b
    Example:
      firstflight report verify --year 2026
      firstflight report verify --year 2026 --version 1 --json
    """
    settings: Settings = ctx.obj
    with one_line(ReportVersionError):
        asked = report_versions(settings.reports / str(year))
        if version is not None or not asked:
            asked = [find_version(settings.reports, year, version or 1)]
    folders = ((kind, str(report), folder) for report in asked for kind, folder in report.folders())
    items = [check() for check in of_folders(settings, folders, iter_versions(settings.releases))]
    show({"items": [*map(dataclasses.asdict, items)]}, as_json=as_json, lines=map(str, items))
    ctx.exit(1 if any(item.state == "damaged" for item in items) else 0)

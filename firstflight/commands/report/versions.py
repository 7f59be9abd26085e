"""`firstflight report versions` and `withdraw`: what is published of a year's report."""

import dataclasses
import datetime
from collections.abc import Iterable, Sequence
from typing import Self

import click

from firstflight.commands.options import AS_JSON, OF_YEAR, VERSION, YEAR, Statement, show
from firstflight.errors import one_line
from firstflight.settings import Settings
from storage.notices import Withdrawal, status_of
from storage.report_versions import (
    EDITION,
    ReportVersion,
    ReportVersionError,
    all_report_versions,
    find_version,
    newest_version,
    report_versions,
    withdraw,
)
from storage.signatures import SigningFailed, state
from storage.sums import find_misstated


@click.command()
@click.option("--year", type=YEAR, help="Year of the report; every year by default.")
@AS_JSON
@click.pass_obj
def versions(settings: Settings, *, year: int | None, as_json: bool) -> None:
    """List the versions of reports: which is the newest, why each was made, and which were withdrawn.

    Checksums of files are not computed: use `firstflight verify report` for that.

    \b
    Example:
      firstflight report versions --year 2026
      firstflight report versions --json
    """
    entries = [
        VersionFacts.of(settings, version, siblings)
        for siblings in _by_year(settings, year)
        for version in siblings
    ]
    lines = [*map(str, entries)] or [f"no reports yet in {settings.reports}"]
    show({"versions": [*map(dataclasses.asdict, entries)]}, as_json=as_json, lines=lines)


def _by_year(settings: Settings, year: int | None) -> Iterable[Sequence[ReportVersion]]:
    if year is not None:
        return [report_versions(settings.reports / str(year))]
    years = dict.fromkeys(report_version.year for report_version in all_report_versions(settings.reports))
    return [report_versions(settings.reports / year) for year in years]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VersionFacts:
    """The facts of a version of a report, and its status among the versions of its year."""

    year: int
    is_edition: bool
    """True of the edition that a repository keeps, beside the folder's own report."""
    version: int
    date: str | None
    reason: str | None
    corrects: str | None
    supersedes: str | None
    changed: Sequence[str]
    standing: str
    withdrawal: Withdrawal | None
    is_damaged: bool
    signature: str | None
    path: str | None

    @classmethod
    def of(cls, settings: Settings, version: ReportVersion, siblings: Sequence[ReportVersion]) -> Self:
        """Read the facts of a version; checksums are not computed."""
        return cls(
            year=version.of_year,
            is_edition=version.is_edition,
            **dataclasses.asdict(version.publication),
            standing=status_of(version.withdrawal, is_newest=version == newest_version(siblings)),
            withdrawal=version.withdrawal,
            is_damaged=version.is_there and bool(find_misstated(version.folder)),
            signature=str(state(version.folder, settings.allowed_signers)) if version.is_there else None,
            path=str(version.folder) if version.is_there else None,
        )

    def __str__(self) -> str:
        parts = [self.standing + (", DAMAGED" if self.is_damaged else "")]
        if self.withdrawal:
            parts.append(f"withdrawn on {self.withdrawal.date}: {self.withdrawal.reason}")
        if self.reason:
            parts += [f"made because: {self.reason}", f"corrects: {self.corrects}"]
        dated = f" of {self.date}" if self.date else ""
        name = f"{self.year}{EDITION if self.is_edition else ''}"
        return f"{name} v{self.version}{dated}: {'; '.join(parts)}"


@click.command("withdraw")
@OF_YEAR
@click.option("--version", type=VERSION, required=True, help="Version to withdraw.")
@click.option("--reason", type=Statement(), required=True, help="Why readers should not use it any more.")
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

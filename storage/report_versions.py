"""Versions of annual reports on disk.

reports/2026/v1/              a version: its files, manifest.json, SHA256SUMS, and SHA256SUMS.sig if signed
reports/2026/v1-withdrawn/    the notice that withdraws it (storage/notices.py)
reports/2026-edition/v1/      a version of the edition that a repository keeps: beside the folder's own report

The files of a version never change; what is found out later lies beside them. A notice without its version
says that the version was erased; its number is not given again.
"""

import dataclasses
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from storage.notices import Withdrawal, facts_of, notice_of, read_withdrawal
from storage.signatures import Signer
from storage.staging import put_in_place, put_new
from storage.sums import checksum_of, seal

PAGE = "index.html"
CONTENT = "report.json"

EDITION = "-edition"
"""End of the name of a year whose report is the edition that a repository keeps of it."""

FOLDER = re.compile(r"v([1-9][0-9]{0,3})(-withdrawn)?")
YEAR = re.compile(rf"[0-9]{{4}}({EDITION})?")


class ReportVersionError(Exception):
    """A version of a report is missing, or cannot be made or withdrawn."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """Publication of a version, as its manifest states it."""

    version: int = 1
    date: str | None = None
    reason: str | None = None
    """Reason for the version; None for the first."""
    corrects: str | None = None
    """Correction of the version before; None for the first."""
    supersedes: str | None = None
    """Checksum of the version before; None for the first."""
    changed: Sequence[str] = ()
    """Inputs that differ from those of the version before, a line each."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReportVersion:
    """One version of a year's report, by the place of its files and of its notice."""

    year: str
    """Name of its year's folder: 2026, or 2026-edition."""
    number: int
    folder: Path
    """Folder of its files; missing if the version was erased."""

    def __str__(self) -> str:
        """Year and version, as `2026 v1`."""
        return f"{self.year} v{self.number}"

    @property
    def is_edition(self) -> bool:
        return self.year.endswith(EDITION)

    @property
    def of_year(self) -> int:
        return int(self.year.removesuffix(EDITION))

    @property
    def notice(self) -> Path:
        return notice_of(self.folder)

    @property
    def is_withdrawn(self) -> bool:
        return self.notice.is_dir()

    @property
    def is_there(self) -> bool:
        return self.folder.is_dir()

    def folders(self) -> Iterator[tuple[Literal["report", "withdrawal"], Path]]:
        """Yield the folders with checksums that belong to it."""
        if self.is_there:
            yield "report", self.folder
        if self.is_withdrawn:
            yield "withdrawal", self.notice

    @property
    def publication(self) -> Publication:
        """Publication that its manifest states; only its number if the manifest is damaged."""
        try:
            stated = msgspec.convert(facts_of(self.folder).get("publication"), type=Publication)
        except msgspec.ValidationError:
            return Publication(version=self.number)
        return dataclasses.replace(stated, version=self.number)

    @property
    def withdrawal(self) -> Withdrawal | None:
        """Notice that withdraws it, which may be damaged; None without one."""
        return read_withdrawal(self.folder)


def report_years(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("*") if YEAR.fullmatch(path.name) and path.is_dir())


def all_report_versions(root: Path) -> Iterator[ReportVersion]:
    """Yield every version of every year, the earliest first."""
    for year in report_years(root):
        yield from report_versions(root / year)


def report_versions(folder: Path) -> list[ReportVersion]:
    """Return the versions of a year, the lowest first; those that were erased too."""
    if not folder.is_dir():
        return []
    numbers = {int(match[1]) for path in folder.iterdir() if (match := FOLDER.fullmatch(path.name))}
    return [_version(folder, number) for number in sorted(numbers)]


def _version(folder: Path, number: int) -> ReportVersion:
    return ReportVersion(year=folder.name, number=number, folder=folder / f"v{number}")


def newest_version(versions: Sequence[ReportVersion]) -> ReportVersion | None:
    """Return the newest version that was not withdrawn.

    A damaged one is not replaced by an older one.
    """
    return max(
        (version for version in versions if not version.is_withdrawn),
        key=lambda version: version.number,
        default=None,
    )


def put_editions(editions: Path, root: Path) -> None:
    """Copy the editions that a repository keeps beside the reports below `root`."""
    for year in report_years(editions):
        number = facts_of(editions / year)["publication"]["version"]
        with put_new(_version(root / f"{year}{EDITION}", number).folder) as folder:
            shutil.copytree(editions / year, folder, dirs_exist_ok=True)


def next_place(folder: Path) -> ReportVersion:
    """Return the place of a year's next version: a number is never given twice."""
    return _version(
        folder, 1 + max((report_version.number for report_version in report_versions(folder)), default=0)
    )


def find_version(root: Path, year: int, number: int) -> ReportVersion:
    versions = {version.number: version for version in report_versions(root / str(year))}
    if number not in versions:
        numbers = ", ".join(map(str, versions)) or "none"
        raise ReportVersionError(f"the report for {year} has no version {number}; there are: {numbers}")
    return versions[number]


def withdraw(version: ReportVersion, *, reason: str, date: str, signer: Signer | None = None) -> None:
    """Put a notice beside a version that withdraws it; its files stay.

    ReportVersionError if it has one already.
    """
    if version.withdrawal is not None:
        raise ReportVersionError(
            f"version {version.number} of the report for {version.year} is withdrawn already: "
            f"{version.withdrawal.reason}"
        )
    with put_new(version.notice) as folder:
        _write_notice(folder, version, reason=reason, date=date, is_erased=False, signer=signer)


def erase(version: ReportVersion, *, reason: str, date: str, signer: Signer | None = None) -> None:
    """Replace a version's files, and any earlier notice, by a notice."""
    with put_in_place(version.notice) as folder:
        _write_notice(folder, version, reason=reason, date=date, is_erased=True, signer=signer)
    if version.is_there:
        shutil.rmtree(version.folder)


def _write_notice(
    folder: Path, version: ReportVersion, *, reason: str, date: str, is_erased: bool, signer: Signer | None
) -> None:
    try:
        checksum = checksum_of(version.folder)
    except OSError:  # erased before, or damaged
        checksum = None
    facts = {"kind": "withdrawal", "year": version.of_year, "version": version.number, "checksum": checksum}
    seal(folder, {**facts, "reason": reason, "date": date, "is_erased": is_erased})
    if signer is not None:
        signer.sign(folder)

"""Errata of releases on disk. A release never changes, so that what is found wrong in it lies beside it.

releases/errata/1/    an erratum: manifest.json, SHA256SUMS, and SHA256SUMS.sig if signed

An erratum never changes either: a later one may replace it. Numbers are never given twice.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from releases.catalogue import Release, ReleaseError, Withdrawn, check_intact, find_release, iter_versions
from schema.crawls import CrawlName
from storage.signatures import Signer
from storage.staging import put_new
from storage.sums import MANIFEST, manifest_of, seal

FOLDER = "errata"
"""Folder of the errata, below that of the releases."""

KIND = "erratum"

NUMBER = re.compile(r"[1-9][0-9]{0,5}")

SINCE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?")
"""A month or a day."""


class ErratumError(Exception):
    """An erratum cannot be recorded or read; the message says what to do."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Concerned:
    """One version of a release that an erratum is about."""

    crawl: str
    """Whole name of the crawl."""
    version: int
    checksum: str
    """SHA-256 of the release's SHA256SUMS."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Erratum:
    """What is wrong in releases, and what their readers should do."""

    number: int
    date: str
    """Day on which it was recorded, as 2026-12-03."""
    releases: tuple[Concerned, ...]
    wrong: str
    """What is wrong, in a line."""
    advice: str
    """What a reader should do, in a line."""
    columns: tuple[str, ...] = ()
    """Columns that are wrong, as `response.header_bytes`; empty if it is about no particular column."""
    since: str | None = None
    """First month or day whose observations are wrong, as 2026-10 or 2026-10-05; None for all of them."""
    replaces: int | None = None
    """Number of the erratum that this one stands in for; None for a new one."""

    def is_about(self, crawl: str, version: int) -> bool:
        """True if the version of the crawl of that whole name is concerned."""
        return any((release.crawl, release.version) == (crawl, version) for release in self.releases)


def folders(root: Path) -> list[Path]:
    """Folders of the errata of the releases below `root`, the lowest number first."""
    found = [path for path in (root / FOLDER).glob("*") if NUMBER.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=lambda path: int(path.name))


def read(folder: Path) -> Erratum:
    """The erratum in a folder; ErratumError if its manifest is unreadable or is that of another number."""
    try:
        facts = {name: value for name, value in manifest_of(folder).items() if name not in ("kind", "files")}
        found = Erratum(
            **{
                **facts,
                "releases": tuple(Concerned(**release) for release in facts["releases"]),
                "columns": tuple(facts["columns"]),
            }
        )
        _check_types(found)
    except (OSError, ValueError, TypeError, KeyError) as exc:
        raise ErratumError(f"{folder / MANIFEST} is damaged or missing: restore it from a copy") from exc
    if f"{found.number}" != folder.name:
        raise ErratumError(f"{folder / MANIFEST} is of erratum {found.number}: restore it from a copy")
    return found


def _check_types(erratum: Erratum) -> None:
    """Raise TypeError or ValueError if a field of an erratum from a file is not what its declaration says."""
    texts = [erratum.date, erratum.wrong, erratum.advice, erratum.since or "", *erratum.columns]
    numbers = [erratum.number, erratum.replaces or 1]
    for release in erratum.releases:
        CrawlName.from_text(release.crawl)
        texts += [release.crawl, release.checksum]
        numbers.append(release.version)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(number, int) for number in numbers
    ):
        raise TypeError("a field is of another type than that of an erratum")


def errata(root: Path) -> Iterator[Erratum]:
    """Every erratum of the releases below `root`, the lowest number first; ErratumError at a damaged one."""
    return map(read, folders(root))


def record(
    root: Path,
    names: Sequence[str],
    *,
    wrong: str,
    advice: str,
    date: str,
    columns: Sequence[str] = (),
    since: str | None = None,
    replaces: int | None = None,
    signer: Signer | None = None,
) -> Erratum:
    """Record an erratum of releases below `root`, each named as `2026-11`, or `2026-11/v1` for one version.

    Raises ReleaseError or ErratumError, after which nothing is left behind, and
    storage.signatures.SigningFailed.
    """
    by_path = {release.path: release for release in (_named(root, name) for name in names)}
    found = list(by_path.values())
    for release in found:
        _check_columns(release, columns)
    if since is not None and not SINCE.fullmatch(since):
        raise ErratumError(f"{since!r} is no month or day: write it as 2026-10 or 2026-10-05")
    there = [int(path.name) for path in folders(root)]
    if replaces is not None and replaces not in there:
        raise ErratumError(f"there is no erratum {replaces}: `firstflight erratum list` shows what there is")
    erratum = Erratum(
        number=1 + max(there, default=0),
        date=date,
        releases=tuple(
            Concerned(crawl=str(one.crawl), version=one.version, checksum=one.checksum) for one in found
        ),
        wrong=wrong,
        advice=advice,
        columns=tuple(columns),
        since=since,
        replaces=replaces,
    )
    facts: dict[str, Any] = dataclasses.asdict(erratum)
    try:
        with put_new(root / FOLDER / f"{erratum.number}") as made:
            seal(made, {"kind": KIND, **facts})
            if signer is not None:
                signer.sign(made)
    except FileExistsError as exc:
        raise ErratumError("another erratum was recorded at the same time: record this one again") from exc
    return erratum


def _named(root: Path, name: str) -> Release:
    """The release that a name means, which may end in its version."""
    crawl, slash, version = name.partition("/v")
    if not slash:
        return find_release(root, crawl)
    found = [one for one in iter_versions(root) if one.crawl.is_named(crawl) and f"{one.version}" == version]
    crawls: set[CrawlName] = {one.crawl for one in found}
    if len(crawls) != 1:
        names = ", ".join(sorted(map(str, crawls))) or "no release"
        raise ReleaseError(f"{name!r} names {names}; `firstflight release list` shows what there is")
    (one,) = found
    if isinstance(one, Withdrawn):
        raise ReleaseError(
            f"version {one.version} of {one.crawl} is withdrawn, which says more than an erratum"
        )
    return check_intact(one)


def _check_columns(release: Release, columns: Sequence[str]) -> None:
    """Raise ErratumError unless the release has each of the columns."""
    for column in columns:
        table, _, name = column.partition(".")
        path = release.file(table)
        is_table = re.fullmatch(r"[a-z_]+", table) is not None and path.is_file()
        try:
            is_there = is_table and name in pq.read_schema(path).names
        except (pa.ArrowException, OSError) as exc:
            raise ErratumError(f"{path} is damaged: restore the release from a copy") from exc
        if not is_there:
            raise ErratumError(
                f"version {release.version} of {release.crawl} has no column {column!r}: "
                "write it as response.header_bytes"
            )

"""Errata of releases on disk. A release never changes, so that what is found wrong in it lies beside it.

releases/errata/1/    an erratum: manifest.json, SHA256SUMS, and SHA256SUMS.sig if signed

An erratum never changes either: a later one may replace it. Numbers are never given twice.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from releases.catalogue import Release, ReleaseError, Withdrawn, check_intact, find_release, iter_versions
from schema.crawls import CrawlName
from storage.signatures import Signer
from storage.staging import put_new
from storage.sums import MANIFEST, manifest_of, seal

FOLDER = "errata"

KIND = "erratum"

NUMBER = re.compile(r"[1-9][0-9]{0,5}")

SINCE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?")


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
    """As 2026-12-03."""
    releases: tuple[Concerned, ...]
    wrong: str
    advice: str
    columns: tuple[str, ...] = ()
    """As `response.header_bytes`; empty for no particular column."""
    since: str | None = None
    """First month or day that is wrong, as 2026-10 or 2026-10-05; None for all."""
    replaces: int | None = None
    """Number of the erratum that it stands in for."""

    def is_about(self, crawl: str, version: int) -> bool:
        return any((release.crawl, release.version) == (crawl, version) for release in self.releases)


def folders(root: Path) -> list[Path]:
    named = [path for path in (root / FOLDER).glob("*") if NUMBER.fullmatch(path.name) and path.is_dir()]
    return sorted(named, key=lambda path: int(path.name))


def read(folder: Path) -> Erratum:
    """Return an erratum; ErratumError if its manifest is unreadable or of another number."""
    try:
        facts = manifest_of(folder)
        erratum = msgspec.convert(facts, type=Erratum)
        for release in erratum.releases:
            CrawlName.from_text(release.crawl)
        is_whole = facts.keys() == {"kind", "files", *(field.name for field in dataclasses.fields(Erratum))}
    except (OSError, ValueError, msgspec.ValidationError) as exc:
        raise ErratumError(f"{folder / MANIFEST} is damaged or missing: restore it from a copy") from exc
    if not is_whole or f"{erratum.number}" != folder.name:
        raise ErratumError(f"{folder / MANIFEST} is damaged or of another erratum: restore it from a copy")
    return erratum


def errata(root: Path) -> Iterator[Erratum]:
    """Return every erratum, the lowest number first; ErratumError at a damaged one."""
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
    """Record an erratum of releases, each named as `2026-11`, or `2026-11/v1` for one version.

    ReleaseError or ErratumError leave nothing behind; storage.signatures.SigningFailed.
    """
    concerned = {release.path: release for release in (_named(root, name) for name in names)}
    for release in concerned.values():
        _check_columns(release, columns)
    if since is not None and not SINCE.fullmatch(since):
        raise ErratumError(f"{since!r} is no month or day: write it as 2026-10 or 2026-10-05")
    numbers = [int(path.name) for path in folders(root)]
    if replaces is not None and replaces not in numbers:
        raise ErratumError(f"there is no erratum {replaces}: `firstflight erratum list` shows what there is")
    erratum = Erratum(
        number=1 + max(numbers, default=0),
        date=date,
        releases=tuple(
            Concerned(crawl=str(release.crawl), version=release.version, checksum=release.checksum)
            for release in concerned.values()
        ),
        wrong=wrong,
        advice=advice,
        columns=tuple(columns),
        since=since,
        replaces=replaces,
    )
    try:
        with put_new(root / FOLDER / f"{erratum.number}") as folder:
            seal(folder, {"kind": KIND, **dataclasses.asdict(erratum)})
            if signer is not None:
                signer.sign(folder)
    except FileExistsError as exc:
        raise ErratumError("another erratum was recorded at the same time: record this one again") from exc
    return erratum


def _named(root: Path, name: str) -> Release:
    crawl, slash, version = name.partition("/v")
    if not slash:
        return find_release(root, crawl)
    matching = [
        release
        for release in iter_versions(root)
        if release.crawl.is_named(crawl) and f"{release.version}" == version
    ]
    if len(matching) != 1:
        names = ", ".join(sorted(str(release.crawl) for release in matching)) or "no release"
        raise ReleaseError(f"{name!r} names {names}; `firstflight release list` shows what there is")
    (release,) = matching
    if isinstance(release, Withdrawn):
        raise ReleaseError(
            f"version {release.version} of {release.crawl} is withdrawn, which says more than an erratum"
        )
    return check_intact(release)


def _check_columns(release: Release, columns: Sequence[str]) -> None:
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

"""Checks everything that is stored: the database, releases, stages of replays with their parts, reports with
their withdrawals, and fetched populations."""

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from firstflight.erasing import NAME as UNFINISHED
from firstflight.settings import Settings
from releases.catalogue import Damaged, Release, Withdrawn, iter_versions
from releases.errata import FOLDER as ERRATA
from releases.errata import ErratumError
from releases.errata import folders as errata_folders
from releases.errata import read as read_erratum
from releases.verify import UNREADABLE, Check, verify
from replay.networks.population_csv import PopulationError
from replay.networks.stored_populations import check_population
from schema.crawls import name_of
from schema.tables import Crawl
from storage import integrity
from storage.crawls import crawls
from storage.engine import DatabaseError
from storage.exhaustion import Exhausted
from storage.report_versions import EDITION, all_report_versions
from storage.signatures import Signature, state
from storage.sums import broken_sums, find_misstated, manifest_of, sums_of

FolderKind = Literal["stage", "part", "report", "withdrawal", "erratum"]

Kind = Literal["erasure", "database", "release", "population"] | FolderKind

What = Literal["database", "release", "replay", "report", "erratum", "population"]

WHATS: tuple[What, ...] = get_args(What)

DAMAGE = (*UNREADABLE, DatabaseError, Exhausted, SQLAlchemyError)
"""Exceptions that damaged content may raise in a check."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """The verdict on one stored folder or crawl."""

    kind: Kind
    name: str
    state: Literal["ok", "damaged", "withdrawn"]
    said: str
    signature: str | None = None
    """State of the signature (storage.signatures.Signature); None where signatures do not apply."""
    checks: tuple[Check, ...] = ()

    def __str__(self) -> str:
        verdict = "ok" if self.state == "ok" else self.state.upper()
        signed = f" [{self.signature}]" if self.signature else ""
        return f"{verdict:9} {self.kind} {self.name}: {self.said}{signed}"


@dataclasses.dataclass(frozen=True, slots=True)
class Verification:
    """The verification of a stored thing; calling it returns a verdict, whatever its state."""

    kind: Kind
    name: str
    judge: Callable[[], Item]

    def __call__(self) -> Item:
        """Verify it; what cannot be read is damaged, and keeps nothing else from being verified."""
        try:
            item = self.judge()
        except DAMAGE as exc:
            item = _unreadable(self.kind, self.name, exc)
        return dataclasses.replace(item, said=_printable(item.said))


def _unreadable(kind: Kind, name: str, exc: BaseException) -> Item:
    message = str(exc).split("\n", 1)[0]
    evidence = (
        message if isinstance(exc, DatabaseError) else f"cannot be read ({type(exc).__name__}: {message})"
    )
    return Item(kind=kind, name=name, state="damaged", said=evidence)


def _printable(text: str) -> str:
    r"""Escape control characters and stray bytes.

    >>> _printable("two\nlines.csv")
    'two\\nlines.csv'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def list_verifications(
    settings: Settings, engine: Engine | None, *, what: What | None = None, name: str | None = None
) -> list[Verification]:
    """Return a verification of each stored thing, in the database only with an engine.

    `what` selects a kind, `name` what it names whole or by its first parts.
    """
    versions = list(iter_versions(settings.releases))
    errata = settings.releases / ERRATA
    listings: dict[What | None, tuple[Kind, Path | str, Iterable[Verification]]] = {
        None: ("erasure", UNFINISHED, _list_unfinished_erasures(settings)),
        "database": ("database", "PostgreSQL", _list_crawls(engine)),
        "release": ("release", settings.releases, _list_versions(settings, engine, versions)),
        "replay": ("stage", settings.replays, _list_folders_of(settings, _list_stages(settings), versions)),
        "report": ("report", settings.reports, _list_folders_of(settings, _list_reports(settings), versions)),
        "erratum": ("erratum", errata, _list_folders_of(settings, _list_errata(settings), versions)),
        "population": ("population", settings.populations, _list_populations(settings.populations)),
    }
    selected = listings.values() if what is None else [listings[what]]
    return [
        verification
        for listing in selected
        for verification in _list_readable(*listing)
        if name is None or f"{verification.name} ".startswith((f"{name} ", f"{name}."))
    ]


def _list_readable(kind: Kind, place: Path | str, listing: Iterable[Verification]) -> Iterator[Verification]:
    """Yield a listing; a place that cannot be listed is a verification that fails."""
    try:
        if isinstance(place, Path) and os.path.lexists(place) and not place.is_dir():
            raise NotADirectoryError(f"{place} is no folder")
        yield from listing
    except DAMAGE as exc:
        yield Verification(kind, str(place), partial(_unreadable, kind, str(place), exc))


def _list_unfinished_erasures(settings: Settings) -> Iterator[Verification]:
    if (settings.data_dir / UNFINISHED).exists():
        said = "it was cut short: finish it by `firstflight optout add HOST --erase`, and verify again"
        item = Item(kind="erasure", name=UNFINISHED, state="damaged", said=said)
        yield Verification("erasure", UNFINISHED, lambda: item)


def _list_crawls(engine: Engine | None) -> Iterator[Verification]:
    if engine is not None:
        with engine.connect() as connection:
            known = list(crawls(connection))
        for crawl in known:
            yield Verification("database", str(name_of(crawl)), partial(judge_crawl, engine, crawl))


def _list_versions(
    settings: Settings, engine: Engine | None, versions: list[Release | Damaged | Withdrawn]
) -> Iterator[Verification]:
    newest = {version.crawl: version for version in versions}
    for version in versions:
        # An older version is one because the rows have changed since: the database has those of the newest.
        of_newest = engine if newest[version.crawl] is version else None
        name = f"{version.crawl} version {version.version}"
        yield Verification(
            "release", name, partial(judge_version, name, version, of_newest, settings.allowed_signers)
        )


def _list_folders_of(
    settings: Settings,
    folders: Iterable[tuple[FolderKind, str, Path]],
    versions: Iterable[Release | Damaged | Withdrawn],
) -> Iterator[Verification]:
    """Yield the verification of each folder; `versions` may be what it was made from.

    One whose SHA256SUMS is damaged says nothing about that.
    """
    sound = (
        version for version in versions if isinstance(version, Release) and not find_misstated(version.path)
    )
    sums = {(str(release.crawl), release.version): release.checksum for release in sound}
    for kind, name, folder in folders:
        yield Verification(
            kind, name, partial(judge_folder, kind, name, folder, sums, settings.allowed_signers)
        )


def _list_populations(folder: Path) -> Iterator[Verification]:
    files = [file for suffix in ("csv", "json") for file in folder.glob(f"*.{suffix}")]
    for name in sorted({file.stem for file in files}):
        yield Verification("population", name, partial(judge_population, folder, name))


def list_stored_folders(settings: Settings) -> Iterator[tuple[FolderKind, str, Path]]:
    """Yield kind, name and folder of all with checksums, in the order of names."""
    return itertools.chain(_list_stages(settings), _list_reports(settings), _list_errata(settings))


def _list_stages(settings: Settings) -> Iterator[tuple[FolderKind, str, Path]]:
    for replay in _list_folders(settings.replays):
        for stage in _list_folders(replay):
            if stage.suffix == ".parts":
                for part in _list_folders(stage):
                    yield "part", f"{replay.name} {stage.stem} {part.name}", part
            else:
                yield "stage", f"{replay.name} {stage.name}", stage


def _list_reports(settings: Settings) -> Iterator[tuple[FolderKind, str, Path]]:
    for version in all_report_versions(settings.reports):
        for kind, folder in version.folders():
            yield kind, str(version), folder


def _list_errata(settings: Settings) -> Iterator[tuple[FolderKind, str, Path]]:
    for folder in errata_folders(settings.releases):
        yield "erratum", folder.name, folder


def _list_folders(above: Path) -> list[Path]:
    if not above.is_dir():
        return []
    return sorted(path for path in above.iterdir() if path.is_dir() and not path.name.startswith("."))


def judge_crawl(engine: Engine, crawl: Crawl) -> Item:
    with engine.connect() as connection:
        checks = tuple(
            Check(invariant.name, not invariant.offenders, f"{invariant.offenders:,} against it")
            for invariant in integrity.check(connection, crawl)
        )
    wrong = [f"not so: {check.name} ({check.evidence})" for check in checks if not check.holds]
    return Item(
        kind="database",
        name=str(name_of(crawl)),
        state="damaged" if wrong else "ok",
        said="; ".join(wrong) or f"{len(checks)} checks hold",
        checks=checks,
    )


def judge_version(
    name: str, version: Release | Damaged | Withdrawn, engine: Engine | None, allowed_signers: Path
) -> Item:
    if isinstance(version, Withdrawn):
        return Item(kind="release", name=name, state="withdrawn", said="a tombstone stands in its place")
    if isinstance(version, Damaged):
        return Item(kind="release", name=name, state="damaged", said=version.problem)
    checks = tuple(verify(version, engine))
    wrong = [f"{check.name}: {check.evidence}" for check in checks if not check.holds]
    evidence = f"{len(checks)} checks hold"
    item = _judge("release", name, wrong, evidence, state(version.path, allowed_signers))
    return dataclasses.replace(item, checks=checks)


def judge_folder(
    kind: FolderKind, name: str, folder: Path, releases: Mapping[tuple[str, int], str], allowed_signers: Path
) -> Item:
    """Check a folder by its sums and the checksum of the release it was made from, one of `releases` by crawl
    and version.
    """
    if broken := broken_sums(folder):
        wrong = [f"missing, or not as SHA256SUMS says: {', '.join(broken)}"]
        return _judge(kind, name, wrong, "", state(folder, allowed_signers))
    try:
        wrong = list(find_misplacement(kind, name, folder, releases))
    except DAMAGE as exc:
        wrong = [f"its manifest cannot be read ({type(exc).__name__}: {exc})"]
    evidence = f"{len(sums_of(folder))} files are as in SHA256SUMS"
    return _judge(kind, name, wrong, evidence, state(folder, allowed_signers))


def judge_population(folder: Path, name: str) -> Item:
    try:
        networks = len(check_population(folder, name).profiles)
    except PopulationError as exc:
        return Item(kind="population", name=name, state="damaged", said=str(exc))
    evidence = f"{networks} networks and their facts are as in their checksums"
    return Item(kind="population", name=name, state="ok", said=evidence)


def find_misplacement(
    kind: FolderKind, name: str, folder: Path, releases: Mapping[tuple[str, int], str]
) -> Iterator[str]:
    """Yield why a sound folder is in the wrong place, as beside another release than its own."""
    manifest = manifest_of(folder)
    if kind in ("report", "withdrawal") and (stated := _read_stated(manifest)) != name.replace(EDITION, ""):
        yield f"it is the {kind} of {stated}"
    if kind == "erratum":
        yield from _other_releases(folder, releases)
    match manifest.get("release"):
        case {"crawl": str(crawl), "version": int(version), "checksum": checksum}:
            if kind == "stage" and folder.parent.name.rpartition(".")[0] != crawl:
                yield f"it is a stage of {crawl}"
            # The release of an edition is imported anew, and its manifest has another commit.
            is_edition = kind == "report" and EDITION in name
            if releases.get((crawl, version), checksum) != checksum and not is_edition:
                yield f"made from another {crawl} version {version} than the one that is there"


def _other_releases(folder: Path, releases: Mapping[tuple[str, int], str]) -> Iterator[str]:
    try:
        concerned = read_erratum(folder).releases
    except ErratumError as exc:
        yield str(exc)
        return
    for report in concerned:
        if releases.get((report.crawl, report.version), report.checksum) != report.checksum:
            yield f"about another {report.crawl} version {report.version} than the one that is there"


def _read_stated(manifest: Mapping[str, Any]) -> str:
    """Return the year and version of a report's, or a withdrawal's, manifest."""
    match manifest:
        case {"year": year, "version": version} | {"year": year, "publication": {"version": version}}:
            return f"{year} v{version}"
    return "no version"


def _judge(
    kind: Literal["release"] | FolderKind, name: str, wrong: list[str], evidence: str, signature: Signature
) -> Item:
    is_ok = not wrong and signature.kind != "bad"
    return Item(
        kind=kind,
        name=name,
        state="ok" if is_ok else "damaged",
        said="; ".join(wrong) or evidence,
        signature=str(signature),
    )

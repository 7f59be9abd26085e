"""Checks everything that is stored: the database, releases, replays with their chunks, reports with their
withdrawals, and fetched populations."""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine

from firstflight.settings import Settings
from releases.catalogue import Damaged, Release, Withdrawn, listed
from releases.errata.stored import ErratumError
from releases.errata.stored import folders as errata_folders
from releases.errata.stored import read as read_erratum
from releases.verify import verify
from replay.networks.population_csv import PopulationError
from replay.networks.stored_populations import find_population
from schema.crawls import name_of
from schema.tables import Crawl
from storage import integrity
from storage.crawls import crawls
from storage.report_versions import all_report_versions
from storage.signatures import Signature, state
from storage.sums import broken_sums, manifest_of, sums_of

FolderKind = Literal["replay", "chunk", "report", "withdrawal", "erratum"]
"""What a folder with checksums holds."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """The verdict on one stored folder or crawl."""

    kind: Literal["database", "release", "population"] | FolderKind
    name: str
    state: Literal["ok", "damaged", "withdrawn"]
    said: str
    """The evidence, in a line."""
    signature: str | None = None
    """State of the signature (storage.signatures.Signature); None where signatures do not apply."""

    def __str__(self) -> str:
        """The line that a command prints."""
        verdict = "ok" if self.state == "ok" else self.state.upper()
        signed = f" [{self.signature}]" if self.signature else ""
        return f"{verdict:9} {self.kind} {self.name}: {self.said}{signed}"


def checks(settings: Settings, engine: Engine | None) -> list[Callable[[], Item]]:
    """A function for each stored thing, which checks it; those of the database only with an engine."""
    there = list(listed(settings.releases))
    newest = {one.crawl: one for one in there}
    found: list[Callable[[], Item]] = []
    if engine is not None:
        with engine.connect() as connection:
            found += [functools.partial(of_crawl, engine, crawl) for crawl in crawls(connection)]
    for one in there:
        # An older version is one because the rows have changed since: the database has those of the newest.
        of_newest = engine if newest[one.crawl] is one else None
        found.append(functools.partial(of_version, one, of_newest, settings.allowed_signers))
    sums = {(str(one.crawl), one.version): one for one in there if isinstance(one, Release)}
    for kind, name, folder in stored_folders(settings):
        found.append(functools.partial(of_folder, kind, name, folder, sums, settings.allowed_signers))
    files = [file for suffix in ("csv", "json") for file in settings.populations.glob(f"*.{suffix}")]
    for name in sorted({file.stem for file in files}):
        found.append(functools.partial(of_population, settings.populations, name))
    return found


def stored_folders(settings: Settings) -> Iterator[tuple[FolderKind, str, Path]]:
    """Replays, chunks, versions of reports, notices of withdrawal and errata of releases: kind, name and
    folder, in the order of their names."""
    for folder in _folders(settings.replays):
        if folder.suffix == ".chunks":
            for chunk in _folders(folder):
                yield "chunk", f"{folder.stem} {chunk.name}", chunk
        else:
            yield "replay", folder.name, folder
    for version in all_report_versions(settings.reports):
        for kind, folder in version.folders():
            yield kind, str(version), folder
    for folder in errata_folders(settings.releases):
        yield "erratum", folder.name, folder


def _folders(above: Path) -> list[Path]:
    if not above.is_dir():
        return []
    return sorted(path for path in above.iterdir() if path.is_dir() and not path.name.startswith("."))


def of_crawl(engine: Engine, crawl: Crawl) -> Item:
    """Check one crawl in the database for what constraints cannot hold."""
    with engine.connect() as connection:
        findings = list(integrity.check(connection, crawl))
    wrong = [f"not so: {one.name} ({one.offenders:,} against it)" for one in findings if one.offenders]
    said = "; ".join(wrong) or f"{len(findings)} checks hold"
    return Item(kind="database", name=str(name_of(crawl)), state="damaged" if wrong else "ok", said=said)


def of_version(one: Release | Damaged | Withdrawn, engine: Engine | None, allowed_signers: Path) -> Item:
    """Check one version of a release."""
    name = f"{one.crawl} version {one.version}"
    if isinstance(one, Withdrawn):
        return Item(kind="release", name=name, state="withdrawn", said="a tombstone stands in its place")
    if isinstance(one, Damaged):
        return Item(kind="release", name=name, state="damaged", said=one.said)
    found = list(verify(one, engine))
    wrong = [f"{check.name}: {check.said}" for check in found if not check.holds]
    said = f"{len(found)} checks hold"
    return _judged("release", name, wrong, said, state(one.path, allowed_signers))


def of_folder(
    kind: FolderKind,
    name: str,
    folder: Path,
    releases: dict[tuple[str, int], Release],
    allowed_signers: Path,
) -> Item:
    """A replay, a chunk of one, a version of a report or its withdrawal,
    by its sums and the release that it was made from."""
    if broken := broken_sums(folder):
        wrong = [f"missing, or not as SHA256SUMS says: {', '.join(broken)}"]
        return _judged(kind, name, wrong, "", state(folder, allowed_signers))
    wrong = list(misplaced(kind, name, folder, releases))
    said = f"{len(sums_of(folder))} files are as in SHA256SUMS"
    return _judged(kind, name, wrong, said, state(folder, allowed_signers))


def of_population(folder: Path, name: str) -> Item:
    """Check a fetched population of networks against its checksum."""
    try:
        networks = len(find_population(folder, name).profiles)
    except PopulationError as exc:
        return Item(kind="population", name=name, state="damaged", said=str(exc))
    said = f"{networks} networks are as its SHA-256 says"
    return Item(kind="population", name=name, state="ok", said=said)


def misplaced(
    kind: FolderKind, name: str, folder: Path, releases: dict[tuple[str, int], Release]
) -> Iterator[str]:
    """The reason why a sound folder is in the wrong place, such as beside another release than its own."""
    manifest = manifest_of(folder)
    if kind in ("report", "withdrawal") and (stated := _stated(manifest)) != name:
        yield f"it is the {kind} of {stated}"
    if kind == "erratum":
        yield from _other_releases(folder, releases)
    match manifest.get("release"):
        case {"crawl": str(crawl), "version": int(version), "checksum": checksum}:
            if kind == "replay" and crawl != folder.name:
                yield f"it is the replay of {crawl}"
            release = releases.get((crawl, version))
            if release is not None and release.checksum != checksum:
                yield f"made from another {crawl} version {version} than the one that is there"


def _other_releases(folder: Path, releases: dict[tuple[str, int], Release]) -> Iterator[str]:
    """The reasons why an erratum is not one of the releases that are there."""
    try:
        concerned = read_erratum(folder).releases
    except ErratumError as exc:
        yield str(exc)
        return
    for one in concerned:
        release = releases.get((one.crawl, one.version))
        if release is not None and release.checksum != one.checksum:
            yield f"about another {one.crawl} version {one.version} than the one that is there"


def _stated(manifest: Mapping[str, Any]) -> str:
    """Year and version that the manifest of a report or of its withdrawal states."""
    match manifest:
        case {"year": year, "version": version} | {"year": year, "publication": {"version": version}}:
            return f"{year} v{version}"
    return "no version"


def _judged(
    kind: Literal["release"] | FolderKind,
    name: str,
    wrong: list[str],
    said: str,
    signature: Signature,
) -> Item:
    is_ok = not wrong and signature.kind != "bad"
    return Item(
        kind=kind,
        name=name,
        state="ok" if is_ok else "damaged",
        said="; ".join(wrong) or said,
        signature=str(signature),
    )

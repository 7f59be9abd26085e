"""Erases a site from the data folder, the database and the store;
the next run completes an erasure that was killed."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from sqlalchemy import Engine

from crawler.sites import forgetting, optout
from crawler.sites.optout import hash_host
from firstflight.settings import Settings
from releases.catalogue import Damaged, Release, ReleaseError, Withdrawn, find_release, iter_versions
from releases.erasing import finish_tombstones, has_site, lay_tombstone, mentions, without_site
from releases.publish import publish, withdraw
from schema.crawls import CrawlName, name_of
from schema.tables import Crawl
from storage import backup, data_lock, erasing, report_versions
from storage.crawls import crawls
from storage.erased_site import ErasedSite
from storage.erasing import Found
from storage.notices import ERASED
from storage.report_versions import ReportVersion
from storage.signatures import Signer
from storage.staging import put_file_in_place
from storage.sums import broken_sums

MOST_SITES = 20
"""Most sites of a crawl in an erasure; a host with more below it is probably a public suffix."""

NAME = "erasure.json"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ErasurePlaces:
    """The database, folders and store of an erasure."""

    settings: Settings
    engine: Engine
    database_url: str
    store: str | None
    signer: Signer | None = None
    progress: Callable[[int], None] = lambda _: None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """Places that contain a site."""

    crawls: list[tuple[Crawl, Found]]
    releases: list[Release]
    derived: list[Path]
    """Replays of withdrawn versions, and all that name the site."""
    lists: list[Path]

    @property
    def anything(self) -> bool:
        return bool(self.crawls or self.releases or self.derived or self.lists)


def survey(where: ErasurePlaces, site: ErasedSite) -> Survey:
    """Find the site without changing anything.

    ReleaseError if a damaged release cannot be searched; ErasureError beyond MOST_SITES.
    """
    settings = where.settings
    with where.engine.connect() as connection:
        traces_by_crawl = [(crawl, erasing.find(connection, crawl, site)) for crawl in crawls(connection)]
    most = max((traces.sites for _, traces in traces_by_crawl), default=0)
    if most > MOST_SITES:
        raise ErasureError(
            f"{most:,} sites of one crawl lie below {site.host}, more than {MOST_SITES}: "
            "name them one by one, if that is meant"
        )
    holding = [release for release in _read_sound(settings.releases) if has_site(release, site)]
    return Survey(
        crawls=[(crawl, traces) for crawl, traces in traces_by_crawl if traces.anything],
        releases=holding,
        derived=[
            *_find_derived(settings, site, holding),
            *(report.folder for report in _find_reports(settings, site)),
        ],
        lists=list(forgetting.find_lists(settings.lists, site.host)),
    )


def erase(where: ErasurePlaces, journal: Journal) -> Iterator[str]:
    """Erase the site everywhere, a line a step; every step can be repeated."""
    site, settings = journal.site, where.settings
    if journal.is_resumed:
        finish_tombstones(settings.releases)
    places = survey(where, site)
    new = optout.add(settings.opt_out, site.host, hashed=True)
    yield f"{site.host} is {'now' if new else 'already'} left out of later plans, by its hash"
    if not places.anything and not journal.is_resumed:
        yield "nothing of it is here"
        return
    if journal.is_lost:
        with where.engine.connect() as connection:
            journal.crawls = [crawl.id for crawl in crawls(connection)]
    journal.save()
    yield from _erase_from_database(where, journal, places)
    yield from _withdraw_releases(where, site, places.releases)
    if where.store is not None:
        yield from _withdraw_from_store(settings.releases, where.store)
    # Once more: what was derived from versions that are withdrawn by now.
    for path in _find_derived(settings, site, []):
        shutil.rmtree(path)
        yield f"{path.relative_to(settings.data_dir)} was made with it and is removed: make it again"
    for version in _find_reports(settings, site):
        report_versions.erase(version, reason=ERASED, date=_format_today(), signer=where.signer)
        yield (
            f"version {version.number} of the report for {version.year} was made with it and is erased: "
            "make the next"
        )
    for path in places.lists:
        forgetting.forget_host(settings.lists, path, site.host)
        yield (
            f"the list {path.name} no longer has it"
            if path.exists()
            else f"the list {path.name} is removed: fetch it again"
        )
    if backup.list_backups(settings.backups):
        copy = backup.backup(where.database_url, settings.backups, keep=1)
        yield f"copies of the database from before are removed, {copy.name} is made"
    journal.end()


def _erase_from_database(where: ErasurePlaces, journal: Journal, places: Survey) -> Iterator[str]:
    for crawl, traces in places.crawls:
        journal.note(crawl.id)
        erasing.erase(where.engine, crawl, journal.site)
        yield (
            f"{name_of(crawl)}: erased from the database with {traces.visits} visits; "
            f"{traces.named} rows of other sites name it no more"
        )
        if crawl.sealed_at is None:
            yield (
                f"{name_of(crawl)} is still open: erase again once it is sealed, "
                "for pages of others may name it until then"
            )
    for crawl_id in journal.crawls:
        erasing.rewrite(where.engine, crawl_id)


def _withdraw_releases(where: ErasurePlaces, site: ErasedSite, holding: list[Release]) -> Iterator[str]:
    root = where.settings.releases
    for name in dict.fromkeys(release.crawl for release in holding):
        newest = find_release(root, str(name))
        if newest in holding:
            version = 1 + max(version.version for version in iter_versions(root) if version.crawl == name)
            place = name.path(root, version=version)
            without_site(newest, site, place, version=version, signer=where.signer, progress=where.progress)
            yield f"{name}: version {version} is made without it"
    for release in holding:
        lay_tombstone(release.path, release.crawl, version=release.version)
        yield f"{release.crawl}: version {release.version} is withdrawn"


def _withdraw_from_store(root: Path, store: str) -> Iterator[str]:
    withdrawn = [version for version in iter_versions(root) if isinstance(version, Withdrawn)]
    for name in dict.fromkeys(version.crawl for version in withdrawn):
        versions = [version.version for version in withdrawn if version.crawl == name]
        yield from _withdraw_crawl(root, store, name, versions)


def _withdraw_crawl(root: Path, store: str, name: CrawlName, versions: list[int]) -> Iterator[str]:
    published = publish(find_release(root, str(name)), store)
    if published.is_new:
        yield f"published {published.url}"
    for version in versions:
        folder = name.path(root, version=version)
        if withdraw(store, folder, place=folder.relative_to(root)):
            yield f"{name}: version {version} is withdrawn from the store"


def _read_sound(root: Path) -> Iterator[Release]:
    for version in iter_versions(root):
        if isinstance(version, Damaged):
            raise ReleaseError(version.problem)
        if isinstance(version, Release):
            if broken := broken_sums(version.path):
                raise ReleaseError(
                    f"{version.path} is damaged ({', '.join(broken)}): restore it from a copy first"
                )
            yield version


def _find_derived(settings: Settings, site: ErasedSite, holding: list[Release]) -> Iterator[Path]:
    withdrawn = {(str(release.crawl), release.version) for release in holding}
    withdrawn |= {
        (str(version.crawl), version.version)
        for version in iter_versions(settings.releases)
        if isinstance(version, Withdrawn)
    }
    for folder in _list_folders(settings.replays):
        parts = [folder, *(part for part in folder.iterdir() if part.is_dir())]
        if any(_read_source(part) in withdrawn for part in parts) or mentions(folder, site):
            yield folder
    for folder in [
        *settings.releases.glob(".building-*"),
        *settings.reports.glob("*/.building-*"),
        *settings.reports.glob(".building-*"),
    ]:
        if mentions(folder, site):
            yield folder


def _find_reports(settings: Settings, site: ErasedSite) -> list[ReportVersion]:
    """Return versions that name the site in files or notice, or whose erasure was interrupted."""
    return [
        report_version
        for report_version in report_versions.all_report_versions(settings.reports)
        if any(mentions(folder, site) for _, folder in report_version.folders())
        or (
            report_version.is_there
            and report_version.withdrawal is not None
            and report_version.withdrawal.is_erased
        )
    ]


def _format_today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _list_folders(parent: Path) -> list[Path]:
    return [path for path in sorted(parent.glob("*")) if path.is_dir()]


def _read_source(folder: Path) -> tuple[str, int] | None:
    """Return crawl and version of a replay's release; None for recordings."""
    for path in folder.glob("*.json"):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue  # damaged: it may still name the site, which is looked for apart
        match facts:
            case {"release": {"crawl": str(crawl), "version": int(version)}}:
                return crawl, version
            case {"plan": {"release": {"crawl": str(crawl), "version": int(version)}}}:
                return crawl, version
    return None


class ErasureError(Exception):
    """An erasure cannot begin or continue; the message says what to do."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """The content of a journal's file, which names no host."""

    host: str
    """Salted hash of the host."""
    salt: str
    key: str
    crawls: list[int]


@dataclasses.dataclass(kw_only=True, slots=True)
class Journal:
    """The state of one erasure. Its file contains a hash of the host, not its name."""

    path: Path
    site: ErasedSite
    salt: str
    crawls: list[int]
    """Crawls whose tables must be rewritten."""
    is_resumed: bool = False
    is_lost: bool = False
    """True if the file could not be read, so that every crawl's tables must be rewritten."""

    def note(self, crawl_id: int) -> None:
        self.crawls = sorted({*self.crawls, crawl_id})
        self.save()

    def save(self) -> None:
        """Write the file, readable only by its owner: its key allows guessing the site."""
        host = hash_host(self.site.host, self.salt)
        note = Note(host=host, salt=self.salt, key=self.site.key, crawls=self.crawls)
        with put_file_in_place(self.path, mode=0o600) as half:
            half.write_bytes(msgspec.json.encode(note) + b"\n")

    def end(self) -> None:
        self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def journal(settings: Settings, host: str) -> Iterator[Journal]:
    """Return the unfinished erasure of `host`, or a new one that is not on disk yet.

    Holds the data folder's lock; storage.data_lock.InUse.
    """
    with data_lock.erasing(settings.data_dir):
        path = settings.data_dir / NAME
        if path.exists():
            yield _resume(path, host, settings.opt_out)
        else:
            yield _begin(path, host)


def _begin(path: Path, host: str) -> Journal:
    site = ErasedSite(host=host, key=secrets.token_hex(32))
    return Journal(path=path, site=site, salt=secrets.token_hex(16), crawls=[])


def _resume(path: Path, host: str, opt_out: Path) -> Journal:
    """Return the erasure of `host` that the file describes; ErasureError otherwise.

    A file that cannot be read is taken for that of any host whose erasure has begun.
    """
    try:
        note = msgspec.json.decode(path.read_bytes(), type=Note)
        is_other = hash_host(host, note.salt) != note.host
        site = ErasedSite(host=host, key=note.key)
    except (ValueError, RecursionError) as exc:
        if not optout.read_optout(opt_out).has_erased(host):
            raise ErasureError(
                f"the note of an erasure that was cut short cannot be read ({path}): finish that erasure "
                "first, by the same command with its site's host, or remove the note if nobody knows the site"
            ) from exc
        return dataclasses.replace(_begin(path, host), is_resumed=True, is_lost=True)
    if is_other:
        raise ErasureError(
            f"the erasure of another site was cut short ({path}): finish it first, "
            "by the same command with that site's host"
        )
    return Journal(path=path, site=site, salt=note.salt, crawls=note.crawls, is_resumed=True)

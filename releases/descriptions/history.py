"""The history of a release: each version with the day on which and the reason for which it was made."""

import dataclasses
import datetime
from pathlib import Path

import pyarrow.parquet as pq

from releases.catalogue import Manifest, Release, ReleaseError, VersionRecord, iter_versions, read_version
from schema.crawls import CrawlName


def version_history(
    root: Path, crawl: CrawlName, *, version: int, reason: str | None
) -> tuple[VersionRecord, ...]:
    """Return the history up to `version`, which is to be built below `root` for a reason.

    An existing version's own is returned, unless another `reason` makes it differ. A new first version has
    no day: `add_date` finds it. ReleaseError if a later version is new and has no reason.
    """
    place = crawl.path(root, version=version)
    existing = read_version(place) if place.exists() else None
    if isinstance(existing, Release) and reason is None:
        return existing.manifest.history
    if version > 1 and reason is None and existing is None:
        raise ReleaseError(f"version {version} of {crawl} needs a reason: say by --reason why it is made")
    known: dict[int, VersionRecord] = {}
    for release in iter_versions(root):
        if release.crawl == crawl and release.version < version:
            known[release.version] = VersionRecord(version=release.version, date=None, reason=None)
            known |= (
                {it.version: it for it in release.manifest.history} if isinstance(release, Release) else {}
            )
    day = (
        existing.manifest.record.date if isinstance(existing, Release) else _today() if version > 1 else None
    )
    itself = VersionRecord(version=version, date=day, reason=reason)
    return (*(known[number] for number in sorted(known)), itself)


def extend_history(manifest: Manifest, *, version: int, reason: str) -> tuple[VersionRecord, ...]:
    return (*manifest.history, VersionRecord(version=version, date=_today(), reason=reason))


def add_date(history: tuple[VersionRecord, ...], folder: Path) -> tuple[VersionRecord, ...]:
    """Return the history with the day of a first version: that on which its crawl was sealed."""
    if history[-1].date is not None:
        return history
    (sealed,) = pq.read_table(folder / "crawl.parquet", columns=["sealed_at"], partitioning=None)[
        "sealed_at"
    ].to_pylist()
    day = sealed.astimezone(datetime.UTC).date().isoformat() if sealed else None
    return (*history[:-1], dataclasses.replace(history[-1], date=day))


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()

"""Progress of crawls in one file per crawl, written by crawlers and read by the service,
which has no database.

No file names a site, so that an erasure need not reach them.
"""

import contextlib
import dataclasses
import datetime
import functools
from pathlib import Path

from storage.staging import put_file_in_place


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hour:
    """Outcomes of the visits of one hour."""

    at: datetime.datetime
    """Beginning of the hour."""
    outcomes: dict[str, int]
    """Visits, attempts included, by outcome."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """One crawler process that has claims, or made a visit in the hour before the crawl's last."""

    name: str
    """Host name and process id."""
    claimed: int
    visits: int
    """Visits of that hour."""
    failed: int
    """Number of those visits whose page did not answer."""
    last_at: datetime.datetime | None
    """End of its last visit; None before its first."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One visit whose page did not answer."""

    at: datetime.datetime
    rank: int
    attempt: int
    outcome: str
    error: str | None
    """The browser's error, without host names."""
    lane: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A bound of the gate, and the present value."""

    name: str
    limit: float
    is_least: bool
    """True if the value must be at least the limit, False if it may be at most the limit."""
    share: float | None
    """None while there is nothing to count."""

    @property
    def is_kept(self) -> bool:
        if self.share is None:
            return not self.is_least
        return self.share >= self.limit if self.is_least else self.share <= self.limit


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Gated:
    """The result of the gate's last run."""

    at: datetime.datetime
    failures: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """Space at the time of the count, in bytes."""

    free: int
    """Free on the disk of the data folder."""
    size: int
    database: int
    """Size of the database, wherever it is."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """Progress of a crawl at one moment, as any of its crawlers last reported it."""

    crawl: str
    at: datetime.datetime
    planned: int
    done: int
    visits: int
    received_bytes: int
    visits_per_hour: float | None
    minutes_left: int | None
    """Time left in minutes; None if unknown."""
    outcomes: dict[str, int]
    """Final visits by outcome."""
    planned_at: datetime.datetime | None = None
    sealed_at: datetime.datetime | None = None
    claimed: int = 0
    postponed: int = 0
    """Sites that asked to be visited later."""
    hours: tuple[Hour, ...] = ()
    """Hours in which visits ended, in order."""
    lanes: tuple[Lane, ...] = ()
    failures: tuple[Failure, ...] = ()
    """Last visits whose page did not answer, the latest first."""
    bounds: tuple[Bound, ...] = ()
    gated: Gated | None = None
    disk: Disk | None = None
    old_list_month: str | None = None
    """Month in which the list was read, if that is before the month of the plan."""

    @property
    def over_at(self) -> datetime.datetime | None:
        """End of the crawl at its present rate; None if unknown."""
        return None if self.minutes_left is None else self.at + datetime.timedelta(minutes=self.minutes_left)


def write_progress(folder: Path, progress: Progress) -> None:
    """Write a crawl's progress whole, since several crawlers write the same file."""
    import msgspec  # a service without crawls goes without it

    with put_file_in_place(folder / f"{progress.crawl}.json") as half:
        half.write_bytes(msgspec.json.encode(progress))


def read_progress(folder: Path) -> list[Progress]:
    """Return the progress of all crawls, sorted by name; damaged files are skipped, since their crawler
    replaces them.
    """
    stages = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError):
            state = path.stat()
            stages.append(_read(path, state.st_mtime_ns, state.st_ino))
    return sorted((stage for stage in stages if stage is not None), key=lambda stage: stage.crawl.encode())


@functools.lru_cache(maxsize=512)
def _read(path: Path, _mtime_ns: int, _inode: int) -> Progress | None:
    """Read a file once per state: the service looks every second."""
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=Progress)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None

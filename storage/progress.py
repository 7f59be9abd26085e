"""Progress of running crawls in one file per crawl, written by crawlers and read by the service,
which has no database."""

import contextlib
import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any

from storage.staging import put_file_in_place


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """Progress of a crawl at one moment, as any of its crawlers last reported it."""

    crawl: str
    at: datetime.datetime
    planned: int
    """Number of sites planned."""
    done: int
    """Number of sites that have their final visit."""
    visits: int
    received_bytes: int
    visits_per_hour: float | None
    minutes_left: int | None
    """None if unknown."""
    outcomes: dict[str, int]
    """Final visits by outcome."""


def write_progress(folder: Path, progress: Progress) -> None:
    """Write a crawl's progress atomically, since several crawlers may write the same file."""
    facts = dataclasses.asdict(progress) | {"at": progress.at.isoformat()}
    with put_file_in_place(_path(folder, progress.crawl)) as half:
        half.write_text(json.dumps(facts), encoding="utf-8")


def end_progress(folder: Path, crawl: str) -> None:
    """Remove the progress of a crawl that has ended."""
    _path(folder, crawl).unlink(missing_ok=True)


def read_progress(folder: Path) -> list[Progress]:
    """Progress of all running crawls, sorted by name; damaged files are skipped,
    since their crawler replaces them."""
    found = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            found.append(Progress(**{**fields, "at": datetime.datetime.fromisoformat(fields["at"])}))
    return sorted(found, key=lambda one: one.crawl.encode())


def _path(folder: Path, crawl: str) -> Path:
    return folder / f"{crawl}.json"

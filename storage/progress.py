"""How far the crawls under way are, a file each: the crawlers write them, and the service has no database."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
from typing import TYPE_CHECKING, Any

from storage.staging import put_file_in_place

if TYPE_CHECKING:
    from pathlib import Path


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """One crawl at one moment; the newest word of any of its crawlers."""

    crawl: str
    at: datetime.datetime
    planned: int
    """Sites."""
    done: int
    """Sites that have their final visit."""
    visits: int
    received_bytes: int
    visits_per_hour: float | None
    minutes_left: int | None
    """None where nobody knows."""
    outcomes: dict[str, int]
    """Final visits by outcome."""


def write_progress(folder: Path, progress: Progress) -> None:
    """Whole or not at all: another crawler may write the same."""
    facts = dataclasses.asdict(progress) | {"at": progress.at.isoformat()}
    with put_file_in_place(_path(folder, progress.crawl)) as half:
        half.write_text(json.dumps(facts), encoding="utf-8")


def end_progress(folder: Path, crawl: str) -> None:
    """The crawl is under way no more."""
    _path(folder, crawl).unlink(missing_ok=True)


def read_progress(folder: Path) -> list[Progress]:
    """All crawls under way, bytewise by name; a file that is damaged is left out: its crawler will write another."""
    found = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            found.append(Progress(**{**fields, "at": datetime.datetime.fromisoformat(fields["at"])}))
    return sorted(found, key=lambda one: one.crawl.encode())


def _path(folder: Path, crawl: str) -> Path:
    return folder / f"{crawl}.json"

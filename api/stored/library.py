"""The releases and reports on disk that the service reads: found by name, never by a path from outside."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from api.inspection import Inspection
from api.problems import Problem
from api.shelf import Shelf
from api.sums import Sums
from releases.catalogue import listed
from storage.progress import read_progress

if TYPE_CHECKING:
    from pathlib import Path

    from api.shelf import Volume

LOOKED_AT_EVERY_S = 1.0
"""Time after which the folders are looked at again: what is published shows up without a restart."""


class Library:
    """Looks at the folders at most once a second, and compares every file with its sum once."""

    def __init__(
        self,
        releases: Path,
        reports: Path,
        *,
        progress: Path | None = None,
        allowed_signers: Path | None = None,
        every_s: float = LOOKED_AT_EVERY_S,
    ) -> None:
        """The folders may be empty, or not there yet."""
        self._sums = Sums()
        self._inspection = Inspection(self._sums, allowed_signers)
        self._releases = releases
        self._reports = reports
        self._progress = progress
        self._every_s = every_s
        self._looking = threading.Lock()
        self._shelf: Shelf | None = None
        self._looked_at = 0.0

    @property
    def recent(self) -> Shelf | None:
        """What there is, if the folders were looked at a moment ago, or somebody looks at them just now."""
        return self._shelf if self._is_fresh or self._looking.locked() else None

    def shelf(self) -> Shelf:
        """What there is, looked at now unless that was done a moment ago."""
        shelf = self._shelf
        # While one looks, the others take what was there a moment ago; only the first look of all is waited for.
        if self._looking.acquire(blocking=shelf is None):
            try:
                shelf = self._shelf
                if shelf is None or not self._is_fresh:
                    shelf = self._shelf = self._look()
                    self._looked_at = time.monotonic()
            finally:
                self._looking.release()
        assert shelf is not None
        return shelf

    @property
    def _is_fresh(self) -> bool:
        return time.monotonic() - self._looked_at < self._every_s

    def file(self, volume: Volume, name: str) -> tuple[Path, str]:
        """A file and the sum of its bytes as they are now; Problem unless it is what SHA256SUMS says."""
        expected = volume.files.get(name)
        if expected is None:
            raise Problem("no-such-file", f"there is no file {name!r}")
        path = volume.path / name
        try:
            found = self._sums.of(path)
        except OSError as exc:
            raise Problem("damaged-file", f"{name} is missing or cannot be read") from exc
        if expected and found != expected:
            raise Problem("damaged-file", f"{name} is not what it was when it was published")
        return path, found

    def _look(self) -> Shelf:
        with self._inspection as inspection:
            versions = [inspection.version(one) for one in listed(self._releases)]
            years = sorted(self._reports.glob("[0-9]" * 4), reverse=True)
            reports = [inspection.report(folder) for folder in years if folder.is_dir()]
        versions.sort(key=lambda one: one.version, reverse=True)
        versions.sort(key=lambda one: str(one.crawl))
        versions.sort(key=lambda one: one.crawl.month, reverse=True)
        under_way = () if self._progress is None else tuple(read_progress(self._progress))
        return Shelf(versions=tuple(versions), reports=tuple(reports), under_way=under_way)

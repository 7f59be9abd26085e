"""The prepared files of releases: a folder for each release, by where the release is,
its checksum and the version of the code."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from api.code_version import code_version
from api.stored.prepared.site_rows import SiteRows, read_site_rows
from releases.cdf import Cdf, load_cdfs
from releases.strata.cells import Items

if TYPE_CHECKING:
    from api.stored.shelf import Version

T = TypeVar("T")

LOG = logging.getLogger(__name__)

CDFS, ITEMS, SITES = "cdfs", "items", "sites"
"""Folders of a prepared release: of its CDFs, of items with a folder for each measure,
and of rows by site."""

TABLES_OF_SITES = ("visit.parquet", "connection.parquet", "response.parquet")
"""Files of a release that the rows of a site are of."""


class Prepared:
    """Reads prepared files. A release whose files are not there, or cannot be read,
    is read from its Parquet by others."""

    def __init__(self, folder: Path, releases: Path) -> None:
        """Files in `folder` of the releases in the folder `releases`;
        nothing is there until `add` says so."""
        self.folder = folder
        # Services of other releases may have the same cache folder.
        self._owner = hashlib.sha256(str(releases.absolute()).encode()).hexdigest()[:8]
        self._code = code_version()[:16]
        self._there: set[str] = set()

    def path_of(self, version: Version) -> Path:
        """The folder of a release, which may not be there."""
        return self.folder / f"{self._owner}-{version.checksum}-{self._code}"

    def has(self, version: Version) -> bool:
        """Return whether the files of a release are there, whole and compared with their checksums."""
        return self.path_of(version).name in self._there

    def add(self, version: Version) -> None:
        """Read the files of a release from now on: they are whole."""
        self._there.add(self.path_of(version).name)

    def cdfs(self, version: Version) -> dict[str, Cdf] | None:
        """The CDF of every measure, mapped from their files; None if they are not there."""
        return self._read(version, lambda folder: load_cdfs(folder / CDFS))

    def items(self, version: Version, measure: str) -> Items | None:
        """The items of a measure, mapped from their files; None if they are not there."""
        return self._read(version, lambda folder: Items.load(folder / ITEMS / measure))

    def site_rows(self, version: Version, host: str) -> SiteRows | None:
        """The rows of a site; None if they are not there."""
        return self._read(version, lambda folder: read_site_rows(folder / SITES, host))

    def remove_all_but(self, kept: Iterable[Version]) -> None:
        """Remove the files of this folder's other releases and of other code:
        what was withdrawn is not kept."""
        names = {self.path_of(one).name for one in kept}
        self._there &= names
        for path in self.folder.glob(f"{self._owner}-*"):
            if path.name not in names:
                shutil.rmtree(path, ignore_errors=True)

    def _read(self, version: Version, read: Callable[[Path], T]) -> T | None:
        """What `read` finds in the folder of a release.

        None if it is not there, or was removed or damaged.
        """
        if not self.has(version):
            return None
        try:
            return read(self.path_of(version))
        except FileNotFoundError:  # the release has too many items
            return None
        except (OSError, ValueError, pa.ArrowException) as exc:
            LOG.warning("prepared files of %s are not read any more: %s", version.crawl, exc)
            self._there.discard(self.path_of(version).name)
            return None

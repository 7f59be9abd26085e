"""Inspects folders whose files must not change: compares files with checksums, and checks signatures,
once per state of a file."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from api.caching import Bounded
from api.stored.shelf import Notice, Report, Version, Volume
from releases.catalogue import Damaged, Release, Withdrawn
from releases.errata import ErratumError, read
from storage.exhaustion import reraise_exhaustion
from storage.report_versions import ReportVersion
from storage.signatures import Signature
from storage.signatures import state as signature_state
from storage.sums import MANIFEST, SIGNATURE, SUMS, UNSUMMED, broken_sums, sha256, sums_of

FILES = 65_536

CHECKED_AT_ONCE_BYTES = 512 * 1024 * 1024
"""Bytes that a scan reads; the rest is left to later ones."""

UNSIGNED = Signature("unsigned")

V = TypeVar("V", bound="Volume")


class Sums:
    """Checksums by path, size, times and inode."""

    def __init__(self) -> None:
        self._known: Bounded[str] = Bounded(FILES)

    def known(self, path: Path) -> str | None:
        """A file's checksum if its state was read before; OSError."""
        return self._known.get(_state(path))

    def of(self, path: Path) -> str:
        """A file's checksum, read unless cached; OSError."""
        # A file that changes while it is read has another state then, and will be read again.
        return self._known.kept(_state(path), lambda: sha256(path), size=lambda _: 1)


def _state(path: Path) -> tuple[str, int, int, int, int]:
    stat = os.stat(path)  # noqa: PTH116  # much faster than Path.stat
    return str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


class Inspection:
    """Inspects folders within one `with` block a scan; unchanged ones are not read."""

    def __init__(self, sums: Sums, allowed_signers: Path | None) -> None:
        self._sums = sums
        self._allowed_signers = allowed_signers
        self._before: dict[Path, tuple[object, Volume]] = {}
        self._now: dict[Path, tuple[object, Volume]] = {}
        self._left_bytes = 0

    def __enter__(self) -> Self:
        self._now = {}
        self._left_bytes = CHECKED_AT_ONCE_BYTES
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *_: object) -> None:
        # A scan that ended early knows nothing about the folders behind its end.
        self._before = self._now if exc_type is None else self._before | self._now

    def version(self, release: Release | Damaged | Withdrawn) -> Version:
        return self._once(release.path, lambda: self._version(release))

    def report(self, report: ReportVersion) -> Report:
        return self._once(report.folder, lambda: self._report(report), report.notice)

    def erratum(self, folder: Path) -> Notice:
        return self._once(folder, lambda: self._erratum(folder))

    def _once(self, folder: Path, look: Callable[[], V], *beside: Path) -> V:
        state = self._state(folder, *beside)
        before, known = self._before.get(folder, (None, None))
        volume = known if before == state and known is not None and known.is_checked else look()
        self._now[folder] = (state, volume)
        return volume  # type: ignore[return-value]  # a folder always holds the same kind of volume

    def _state(self, *folders: Path) -> object:
        """A fingerprint: size, times and inode of each file and of the signers' list."""
        paths = [path for folder in folders for path in (folder, *sorted(folder.rglob("*")))]
        if self._allowed_signers is not None:
            paths.append(self._allowed_signers)
        return [(str(path), _lstat(path)) for path in paths]

    def _version(self, release: Release | Damaged | Withdrawn) -> Version:
        unusable = f"{MANIFEST} cannot be used" if isinstance(release, Damaged) else ""
        return Version(
            **self._volume(release.path, is_there=isinstance(release, Release), damage=unusable),
            crawl=release.crawl,
            version=release.version,
            release=release if isinstance(release, Release) else None,
            withdrawal=release.withdrawal if isinstance(release, Withdrawn) else None,
        )

    def _report(self, report: ReportVersion) -> Report:
        facts = self._volume(report.folder, is_there=report.is_there)
        if report.withdrawal and not facts["damage"]:
            damage = self._volume(report.notice)["damage"]
            facts["damage"] = damage and f"the notice of withdrawal: {damage}"
        return Report(
            **facts,
            year=report.year,
            of_year=report.of_year,
            is_edition=report.is_edition,
            version=report.number,
            publication=report.publication,
            withdrawal=report.withdrawal,
        )

    def _erratum(self, folder: Path) -> Notice:
        erratum, unusable = None, ""
        try:
            erratum = read(folder)
        except ErratumError as exc:
            reraise_exhaustion(exc)
            unusable = f"{MANIFEST} cannot be used"
        return Notice(**self._volume(folder, damage=unusable), number=int(folder.name), erratum=erratum)

    def _volume(self, folder: Path, *, is_there: bool = True, damage: str = "") -> dict[str, Any]:
        """A Volume's fields; without a readable manifest, no files."""
        files, difference, is_checked = self._files(folder) if is_there else ({}, "", True)
        signature = self._signature(folder) if is_there else UNSIGNED
        # `firstflight verify` too calls a folder with a bad signature damaged.
        doubt = "its signature does not count" if signature.kind == "bad" else ""
        return {
            "path": folder,
            "checksum": files.get(SUMS, ""),
            "files": files,
            "signature": signature,
            "damage": damage or difference or doubt,
            "is_checked": is_checked,
        }

    def _signature(self, folder: Path) -> Signature:
        if self._allowed_signers is None:
            return (
                UNSIGNED if not (folder / SIGNATURE).exists() else Signature("bad", "no signer is known here")
            )
        return signature_state(folder, self._allowed_signers)

    def _files(self, folder: Path) -> tuple[dict[str, str], str, bool]:
        """Files to serve with checksums, what is wrong, and whether all have been compared."""
        unread = []

        def checksum(path: Path) -> str | None:
            known = self._sums.known(path)
            if known is None and self._left_bytes > 0:
                known = self._sums.of(path)
                self._left_bytes -= path.stat().st_size
            elif known is None:
                unread.append(path)
            return known

        try:
            wrong, sums = broken_sums(folder, checksum), sums_of(folder)
            # SHA256SUMS can list neither itself nor its signature.
            own = {name: self._sums.of(folder / name) for name in UNSUMMED if (folder / name).exists()}
        except (OSError, ValueError) as exc:
            reraise_exhaustion(exc)
            return {}, f"{SUMS} cannot be used", True
        return {**sums, **own}, _difference(wrong), not unread


def _difference(wrong: list[str]) -> str:
    """One line that says what is wrong with files.

    >>> _difference(["a.parquet", "b.json"]), _difference([])
    ('a.parquet, b.json: missing, or not what was published', '')
    """
    return f"{', '.join(wrong)}: missing, or not what was published" if wrong else ""


def _lstat(path: Path) -> tuple[int, ...] | None:
    try:
        stat = os.lstat(path)
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino

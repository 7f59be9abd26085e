"""Inspects folders whose files must not change: compares files with checksums, and checks signatures,
once per state."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

from api.stored.file_sums import Sums
from api.stored.shelf import Notice, Report, Version, Volume
from releases.catalogue import Damaged, Release, Withdrawn
from releases.errata.stored import ErratumError, read
from storage.exhaustion import reraise_exhaustion
from storage.report_versions import ReportVersion
from storage.signatures import Signature
from storage.signatures import state as signature_state
from storage.sums import MANIFEST, SIGNATURE, SUMS, misstated, sums_of

CHECKED_AT_ONCE_BYTES = 512 * 1024 * 1024
"""Maximum number of bytes that one scan reads to compare checksums; the rest is left to later scans."""

UNSIGNED = Signature("unsigned")

V = TypeVar("V", bound="Volume")


class Inspection:
    """Inspects folders, all within one `with` block per scan;
    folders unchanged since the last scan are not read again."""

    def __init__(self, sums: Sums, allowed_signers: Path | None) -> None:
        """Without `allowed_signers` no signature can be good."""
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

    def version(self, found: Release | Damaged | Withdrawn) -> Version:
        """Inspect one version of a release."""
        return self._once(found.path, lambda: self._version(found))

    def report(self, found: ReportVersion) -> Report:
        """Inspect one version of a year's report, and the notice that withdraws it."""
        return self._once(found.folder, lambda: self._report(found), found.notice)

    def erratum(self, folder: Path) -> Notice:
        """Inspect an erratum of releases."""
        return self._once(folder, lambda: self._erratum(folder))

    def _once(self, folder: Path, look: Callable[[], V], *beside: Path) -> V:
        state = self._state(folder, *beside)
        before, known = self._before.get(folder, (None, None))
        volume = known if before == state and known is not None and known.is_checked else look()
        self._now[folder] = (state, volume)
        return volume  # type: ignore[return-value]  # a folder always holds the same kind of volume

    def _state(self, *folders: Path) -> object:
        """A fingerprint of folders: size, times and inode of each file and of the list of signers."""
        paths = [path for folder in folders for path in (folder, *sorted(folder.rglob("*")))]
        if self._allowed_signers is not None:
            paths.append(self._allowed_signers)
        return [(str(path), _lstat(path)) for path in paths]

    def _version(self, found: Release | Damaged | Withdrawn) -> Version:
        release = found if isinstance(found, Release) else None
        files: dict[str, str] = {}
        damage, is_checked, signature = "", True, UNSIGNED
        if isinstance(found, Damaged):
            damage = f"{MANIFEST} cannot be used"
        elif isinstance(found, Release):
            files, damage, is_checked = self._files(found.path)
            signature = self._signature(found.path)
        return Version(
            path=found.path,
            checksum=self._checksum(found.path),
            files=files,
            signature=signature,
            damage=damage or _doubt(signature),
            is_checked=is_checked,
            crawl=found.crawl,
            version=found.version,
            release=release,
            is_withdrawn=isinstance(found, Withdrawn),
        )

    def _report(self, found: ReportVersion) -> Report:
        folder, withdrawal = found.folder, found.withdrawal
        files, damage, is_checked = self._files(folder) if found.is_there else ({}, "", True)
        signature = self._signature(folder)
        notice = self._files(found.notice)[1] or _doubt(self._signature(found.notice)) if withdrawal else ""
        return Report(
            path=folder,
            checksum=self._checksum(folder),
            files=files,
            signature=signature,
            damage=damage or _doubt(signature) or (notice and f"the notice of withdrawal: {notice}"),
            is_checked=is_checked,
            year=found.year,
            version=found.number,
            publication=found.publication,
            withdrawal=withdrawal,
        )

    def _erratum(self, folder: Path) -> Notice:
        files, damage, is_checked = self._files(folder)
        signature = self._signature(folder)
        try:
            erratum = read(folder)
        except ErratumError as exc:
            reraise_exhaustion(exc)
            erratum, damage = None, f"{MANIFEST} cannot be used"
        return Notice(
            path=folder,
            checksum=self._checksum(folder),
            files=files,
            signature=signature,
            damage=damage or _doubt(signature),
            is_checked=is_checked,
            number=int(folder.name),
            erratum=erratum,
        )

    def _checksum(self, folder: Path) -> str:
        try:
            return self._sums.of(folder / SUMS)
        except OSError as exc:
            reraise_exhaustion(exc)
            return ""

    def _signature(self, folder: Path) -> Signature:
        if self._allowed_signers is None:
            return (
                UNSIGNED if not (folder / SIGNATURE).exists() else Signature("bad", "no signer is known here")
            )
        return signature_state(folder, self._allowed_signers)

    def _files(self, folder: Path) -> tuple[dict[str, str], str, bool]:
        """Files that may be served with their checksums; what is wrong with them.

        True if all have been compared.
        """
        try:
            misstatements, sums = misstated(folder), sums_of(folder)
            # SHA256SUMS can list neither itself nor its signature.
            own = {
                name: self._sums.of(folder / name) for name in (SUMS, SIGNATURE) if (folder / name).exists()
            }
        except (OSError, ValueError) as exc:
            reraise_exhaustion(exc)
            return {}, f"{SUMS} cannot be used", True
        compared = {name: self._compare(folder / name, checksum) for name, checksum in sums.items()}
        wrong = {*misstatements, *(name for name, is_right in compared.items() if is_right is False)}
        return {**sums, **own}, _said(sorted(wrong)), None not in compared.values()

    def _compare(self, path: Path, checksum: str) -> bool | None:
        """True if a file has its checksum; None if it is left to a later scan."""
        try:
            found = self._sums.known(path)
            if found is None and self._left_bytes > 0:
                found = self._sums.of(path)
                self._left_bytes -= path.stat().st_size
        except OSError as exc:
            reraise_exhaustion(exc)
            return False
        return None if found is None else found == checksum


def _doubt(signature: Signature) -> str:
    """The damage that a bad signature means; `firstflight verify` also calls its folder damaged."""
    return "its signature does not count" if signature.kind == "bad" else ""


def _said(wrong: list[str]) -> str:
    """One line that says what is wrong with files.

    >>> _said(["a.parquet", "b.json"]), _said([])
    ('a.parquet, b.json: missing, or not what was published', '')
    """
    return f"{', '.join(wrong)}: missing, or not what was published" if wrong else ""


def _lstat(path: Path) -> tuple[int, ...] | None:
    try:
        stat = os.lstat(path)
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino

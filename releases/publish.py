"""Copies releases to a public store, an S3 bucket or another folder, and withdraws them from it.

The store has the layout of the data folder. The manifest is written last: a version with a manifest is
complete, and is never written again unless it is withdrawn. The signature is copied too.
"""

import dataclasses
import hashlib
import posixpath
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from releases.catalogue import Release, ReleaseError
from storage.notices import TOMBSTONE
from storage.sums import MANIFEST, SIGNATURE, SUMS, broken_sums, sums_of

CHUNK_BYTES = 1024 * 1024


class StoreError(Exception):
    """The store cannot be reached, or holds other files in the release's place."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PublishedRelease:
    """The location of a published release."""

    url: str
    is_new: bool
    """False if it was complete before."""


def publish(
    release: Release, url: str, *, progress: Callable[[int], object] = lambda _: None
) -> PublishedRelease:
    """Copy a sound release below `url`, read it back completely, and compare the checksums.

    `url` is a URI for pyarrow's FileSystem.from_uri: `file:///mnt/releases`, or
    `s3://bucket/prefix?region=...`, with `endpoint_override` for stores other than Amazon's; credentials are
    taken from where Amazon's own programs look for them. `progress` is called with the number of bytes
    written or read back.
    """
    if broken := broken_sums(release.path):
        raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}): restore it from a copy")
    sums = sums_of(release.path) | {SUMS: release.checksum}
    signature = release.path / SIGNATURE
    place = release.manifest.crawl.path(Path(), version=release.manifest.version).as_posix()
    shown = _without_options(url)
    try:
        store, root = fs.FileSystem.from_uri(url)
        folder = posixpath.join(root, place)
        manifest = posixpath.join(folder, MANIFEST)
        if is_new := not _is_file(store, manifest):
            _write(store, release.path, folder, sorted(sums), progress)
        wrong = [
            name
            for name, checksum in sorted(sums.items())
            if _sha256(store, posixpath.join(folder, _name(name, is_new=is_new)), progress) != checksum
        ]
        if wrong and not is_new:
            raise StoreError(
                f"{shown} has another {release.manifest.crawl} version {release.manifest.version} "
                f"({', '.join(wrong)}): a published version never changes; build a new one with `firstflight "
                "release build --version N --reason TEXT`"
            )
        if wrong:
            raise StoreError(
                f"{shown} returned other bytes than were written ({', '.join(wrong)}): nothing was published"
            )
        if is_new:
            store.move(posixpath.join(folder, _name(MANIFEST, is_new=True)), manifest)
        if signature.exists():  # signatures may be added later, or replaced by those of another key
            _write(store, release.path, folder, [SIGNATURE], progress)
    except (OSError, pa.ArrowInvalid) as exc:
        raise StoreError(f"cannot publish to {shown}: {str(exc).replace(url or shown, shown)}") from exc
    return PublishedRelease(url=f"{shown}/{place}", is_new=is_new)


def withdraw(url: str, folder: Path, *, place: Path) -> bool:
    """Replace the version at `place` by the tombstone of `folder`; True if the store had other files
    there.
    """
    shown = _without_options(url)
    try:
        store, root = fs.FileSystem.from_uri(url)
        target = posixpath.join(root, place.as_posix())
        files = store.get_file_info(fs.FileSelector(target, allow_not_found=True))
        others = [file.path for file in files if file.base_name != TOMBSTONE]
        if not others:
            return False
        with store.open_output_stream(posixpath.join(target, TOMBSTONE)) as taken:
            taken.write((folder / TOMBSTONE).read_bytes())
        # The manifest first: without it the folder is no release.
        for path in sorted(others, key=lambda path: posixpath.basename(path) != MANIFEST):
            store.delete_file(path)
    except (OSError, pa.ArrowInvalid) as exc:
        raise StoreError(f"cannot withdraw from {shown}: {str(exc).replace(url or shown, shown)}") from exc
    return True


def _without_options(url: str) -> str:
    """Return the URL without options and credentials.

    >>> _without_options("s3://key:secret@bucket/a/?region=x")
    's3://bucket/a'
    """
    scheme, _, rest = url.partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def _name(name: str, *, is_new: bool) -> str:
    """Return the name in the store; a new manifest has a partial one until all has been read back."""
    return f"{name}.partial" if is_new and name == MANIFEST else name


def _is_file(store: fs.FileSystem, path: str) -> bool:
    return bool(store.get_file_info(path).type == fs.FileType.File)


def _write(
    store: fs.FileSystem, source: Path, folder: str, names: list[str], progress: Callable[[int], object]
) -> None:
    if isinstance(store, fs.LocalFileSystem):  # a bucket has no folders
        store.create_dir(folder, recursive=True)
    for name in names:
        with (
            (source / name).open("rb") as given,
            store.open_output_stream(posixpath.join(folder, _name(name, is_new=True))) as taken,
        ):
            while chunk := given.read(CHUNK_BYTES):
                taken.write(chunk)
                progress(len(chunk))


def _sha256(store: fs.FileSystem, path: str, progress: Callable[[int], object]) -> str | None:
    if not _is_file(store, path):
        return None
    digest = hashlib.sha256()
    with store.open_input_stream(path) as given:
        while chunk := given.read(CHUNK_BYTES):
            digest.update(chunk)
            progress(len(chunk))
    return digest.hexdigest()

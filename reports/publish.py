"""A release copied to a store from which others read it: an S3 bucket, or a folder elsewhere.

Its files lie there as in the data folder. The manifest comes last: what has one is whole, and is never written again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import fs

from schema.releases import MANIFEST, SUMS, ReleaseError, broken_sums, sums_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema.releases import Release

CHUNK_BYTES = 1024 * 1024


class StoreError(Exception):
    """The store cannot be reached, or has something else where the release belongs."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Where the release now is."""

    url: str
    is_new: bool
    """False if it was there before, whole."""


def publish(release: Release, url: str, *, progress: Callable[[int], object] = lambda _: None) -> Published:
    """Copy a sound release below `url`, read all of it back, and compare the sums.

    `url` is what pyarrow's FileSystem.from_uri takes: `file:///mnt/releases`, or
    `s3://bucket/prefix?region=...`, with `endpoint_override` for a store that is not Amazon's and the credentials where
    its own programs look for them. `progress` is told bytes as they are written or read back.
    """
    if broken := broken_sums(release):
        raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}): restore it from a copy")
    sums = sums_of(release) | {SUMS: release.checksum}
    place = release.manifest.crawl.path(Path(), version=release.manifest.version).as_posix()
    try:
        store, root = fs.FileSystem.from_uri(url)
        folder = posixpath.join(root, place)
        if is_new := not _is_file(store, posixpath.join(folder, MANIFEST)):
            _write(store, release.path, folder, sorted(sums.keys() - {MANIFEST}), progress)
        known = sums if not is_new else {name: one for name, one in sums.items() if name != MANIFEST}
        wrong = [
            name
            for name in sorted(known)
            if _sha256(store, posixpath.join(folder, name), progress) != known[name]
        ]
        if wrong and not is_new:
            raise StoreError(
                f"{url} has another {release.manifest.crawl} version {release.manifest.version} ({', '.join(wrong)}): "
                "a published version never changes; build a new one with `firstflight release build --version`"
            )
        if wrong:
            raise StoreError(
                f"{url} gave back other bytes than it was given ({', '.join(wrong)}): nothing was published"
            )
        if is_new:
            _write_whole(store, release.path / MANIFEST, posixpath.join(folder, MANIFEST))
    except (OSError, pa.ArrowInvalid) as exc:
        raise StoreError(f"cannot publish to {url}: {exc}") from exc
    return Published(url=_below(url, place), is_new=is_new)


def _below(url: str, place: str) -> str:
    """The URL of `place` below `url`, without the options, which say how to get there.

    >>> _below("s3://bucket/a/?region=x", "month=2026-11")
    's3://bucket/a/month=2026-11'
    """
    return f"{url.partition('?')[0].rstrip('/')}/{place}"


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
            store.open_output_stream(posixpath.join(folder, name)) as taken,
        ):
            while chunk := given.read(CHUNK_BYTES):
                taken.write(chunk)
                progress(len(chunk))


def _write_whole(store: fs.FileSystem, source: Path, path: str) -> None:
    """There in one piece, or not at all."""
    partial = f"{path}.partial"
    with store.open_output_stream(partial) as taken:
        taken.write(source.read_bytes())
    store.move(partial, path)


def _sha256(store: fs.FileSystem, path: str, progress: Callable[[int], object]) -> str | None:
    """Of what the store has; None if it has nothing there."""
    if not _is_file(store, path):
        return None
    digest = hashlib.sha256()
    with store.open_input_stream(path) as given:
        while chunk := given.read(CHUNK_BYTES):
            digest.update(chunk)
            progress(len(chunk))
    return digest.hexdigest()

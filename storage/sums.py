"""Checksums of folders whose files never change: versions of releases, replays, parts of replays,
and reports.

manifest.json      what the folder is and what it was made from, and the SHA-256 of each of its files
SHA256SUMS         the SHA-256 of each file including the manifest, in the format of sha256sum(1)
SHA256SUMS.sig     a signature of SHA256SUMS, where the folder was signed (storage/signatures.py)
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from storage.exhaustion import reraise_exhaustion

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"

UNSUMMED = (SUMS, SIGNATURE)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksum_of(folder: Path) -> str:
    """Return the SHA-256 of SHA256SUMS, which identifies the folder with all its files; OSError if it is
    missing."""
    return sha256(folder / SUMS)


def seal(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write manifest and SHA256SUMS of a folder that holds all its other files; returns the manifest.

    `facts` are the manifest's fields besides `files`. Keys are sorted,
    so that equal folders have equal bytes.
    """
    manifest = {**facts, "files": sums_now(folder)}
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    write_sums(folder)
    return manifest


def sums_now(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of a folder's files by path from it, without the manifest, SHA256SUMS and its
    signature.
    """
    return {
        name: sha256(folder / name) for name in sorted(_names(folder)) if name not in (MANIFEST, *UNSUMMED)
    }


def _names(folder: Path) -> set[str]:
    """Return paths from `folder` of its files, and of folders within that hold nothing or are links."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    }


def write_sums(folder: Path) -> None:
    sums = {**sums_now(folder), MANIFEST: sha256(folder / MANIFEST)}
    (folder / SUMS).write_text(_written(dict(sorted(sums.items()))), encoding="utf-8")


def sums_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 by file name from SHA256SUMS; OSError or ValueError if it cannot be read.

    A forged name could lead outside: names that are no plain path from the folder are refused.
    """
    text = (folder / SUMS).read_bytes().decode("utf-8")
    sums = {name: checksum for checksum, name in (line.split("  ", 1) for line in text.split("\n")[:-1])}
    if _written(sums) != text or any(not _is_inside(name) or name in UNSUMMED for name in sums):
        raise ValueError(f"{folder / SUMS} is not in the format of sha256sum")
    return sums


def _is_inside(name: str) -> bool:
    """Return true if a name is a path from the folder that stays in it.

    >>> [_is_inside(name) for name in ("a", "forms/a.csv", "/a", "../a", "a/../../b", "a//b", "./a")]
    [True, True, False, False, False, False, False]
    """
    return not {"", ".", ".."} & set(name.split("/"))


def _written(sums: Mapping[str, str]) -> str:
    return "".join(f"{checksum}  {name}\n" for name, checksum in sums.items())


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the folder's manifest, unverified; OSError or ValueError if it cannot be read."""
    try:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except RecursionError as exc:
        raise ValueError(f"{folder / MANIFEST} is nested too deeply") from exc
    match facts:
        case {"files": dict()} as manifest:
            return dict(manifest)
    raise ValueError(f"{folder / MANIFEST} is no manifest: it lists no files")


def broken_sums(folder: Path, checksum: Callable[[Path], str | None] = sha256) -> list[str]:
    """Return names of files that do not match SHA256SUMS and the manifest, are missing, or are not listed.

    Reads every file, by `checksum`, which returns None for one to be read later. Raises
    storage.exhaustion.Exhausted without a descriptor. An empty list cannot tell a folder that was replaced as
    a whole, which a signature does.
    """
    wrong = find_misstated(folder)
    if wrong == [SUMS]:
        return wrong
    for name, expected in sums_of(folder).items():
        try:
            if name not in wrong and checksum(folder / name) not in (expected, None):
                wrong.append(name)
        except OSError as exc:  # the file cannot be read any more
            reraise_exhaustion(exc)
            wrong.append(name)
    return sorted(wrong)


def find_misstated(folder: Path) -> list[str]:
    """Return files that are missing or not listed, or whose stated checksums disagree: the quick part of
    `broken_sums`, which reads the manifest and SHA256SUMS alone.
    """
    try:
        sums = sums_of(folder)
    except (OSError, ValueError) as exc:
        reraise_exhaustion(exc)
        return [SUMS]
    present = {name for name in _names(folder) if (folder / name).is_file() or name not in sums}
    try:
        files = manifest_of(folder)["files"] | {MANIFEST: sha256(folder / MANIFEST)}
    except (OSError, ValueError) as exc:
        reraise_exhaustion(exc)
        files = {**sums, MANIFEST: None}
    sound = {name for name, checksum in sums.items() if name in present and files.get(name) == checksum}
    return sorted({*sums, *files, *present} - sound - {*UNSUMMED})

"""Taking a site out of the copies of lists that the data folder keeps."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

from crawler.sites.lists import ListError, normalise, unpacked
from storage.staging import put_file_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FETCHED = ("tranco", "crux")
"""Folders of lists that can be fetched again by their ids: a copy with a line less would be another list."""

PARTS = re.compile(r"[,/\s]+")


def naming(folder: Path, host: str) -> Iterator[Path]:
    """Lists below `folder` that have the host or one below it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and any(_is_of(line, host) for line in _lines(path)):
            yield path


def forget(folder: Path, path: Path, host: str) -> None:
    """Remove a list that can be fetched again; of another take out the lines of the host."""
    kept = [line for line in _lines(path) if not _is_of(line, host)]
    if path.relative_to(folder).parts[0] in FETCHED or not kept:
        path.unlink()
        return
    content = "".join(kept).encode()
    packed = path.read_bytes().startswith(b"\x1f\x8b")
    with put_file_in_place(path, mode=path.stat().st_mode & 0o777) as half:
        half.write_bytes(gzip.compress(content, mtime=0) if packed else content)


def _lines(path: Path) -> list[str]:
    try:
        return unpacked(path.read_bytes(), name=path.name).decode("utf-8").splitlines(keepends=True)
    except (ListError, UnicodeDecodeError):  # no list, whatever it is
        return []


def _is_of(line: str, host: str) -> bool:
    """Whether a line of any form of list is the host's, or that of one below it."""
    return any(found == host or found.endswith(f".{host}") for found in map(_host, PARTS.split(line)))


def _host(part: str) -> str:
    try:
        return normalise(part, where="")
    except ListError:
        return ""

"""Removes a site from the lists that the data folder keeps."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from crawler.sites.fetch import SOURCES
from crawler.sites.lists import ListError, decompress, parse_host
from storage.staging import put_file_in_place

PARTS = re.compile(r"[,/\s]+")


def find_lists(folder: Path, host: str) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and any(_is_of(line, host) for line in _lines(path)):
            yield path


def forget_host(folder: Path, path: Path, host: str) -> None:
    """Delete a public list, which would be another without a line; from any other remove the host's."""
    kept = [line for line in _lines(path) if not _is_of(line, host)]
    if path.relative_to(folder).parts[0] in SOURCES or not kept:
        path.unlink()
        return
    content = "".join(kept).encode()
    packed = path.read_bytes().startswith(b"\x1f\x8b")
    with put_file_in_place(path, mode=path.stat().st_mode & 0o777) as half:
        half.write_bytes(gzip.compress(content, mtime=0) if packed else content)


def _lines(path: Path) -> list[str]:
    try:
        return decompress(path.read_bytes(), name=path.name).decode("utf-8").splitlines(keepends=True)
    except (ListError, UnicodeDecodeError):  # the file is no list
        return []


def _is_of(line: str, host: str) -> bool:
    hosts = filter(None, map(parse_host, PARTS.split(line)))
    return any(name == host or name.endswith(f".{host}") for name in hosts)

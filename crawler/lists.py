"""Lists of sites: read, checked to the last line, and kept by id and checksum."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING

import idna

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
HOST_LENGTH = 253
"""RFC 1035 §2.3.4, without the dots that DNS does not send."""

CHECKSUM_DIGITS = 12
"""Of the checksum in the id of a list that has no version of its own."""


class ListError(CrawlerError):
    """A list is missing, empty, or not a list; says which line."""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One site of a list."""

    rank: int
    host: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sites:
    """A whole list."""

    id: str
    """Source and version."""
    source: str
    checksum: str
    """SHA-256 of the bytes as they came, lower-case hex."""
    entries: tuple[Entry, ...]
    """By rank."""

    def top(self, count: int | None) -> tuple[Entry, ...]:
        """The first `count` sites; all of them for None."""
        return self.entries[:count]


def read(path: Path) -> Sites:
    """The list in a file: a host a line, or `rank,host` lines with or without that header."""
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ListError(f"the list {path} cannot be read: {exc.strerror}") from exc
    checksum = hashlib.sha256(content).hexdigest()
    name = path.name.encode("utf-8", "replace").decode()
    return Sites(
        id=f"{name}:{checksum[:CHECKSUM_DIGITS]}",
        source=name,
        checksum=checksum,
        entries=parse(content, name=name),
    )


def parse(content: bytes, *, name: str) -> tuple[Entry, ...]:
    """The sites of a list's bytes; a ListError names the first line that is none."""
    entries: list[Entry] = []
    seen: dict[str, int] = {}
    ranked: bool | None = None
    for number, line in _lines(content, name=name):
        where = f"line {number} of the list {name}"
        if ranked is None and line.replace(" ", "").lower() in ("rank,host", "rank,domain"):
            ranked = True
            continue
        first, comma, rest = line.partition(",")
        if ranked is None:
            ranked = bool(comma)
        if ranked != bool(comma):
            raise ListError(f"{where} mixes the forms HOST and RANK,HOST: {shown(line)}")
        host = normalise(rest if ranked else line, where=where)
        rank = _rank(first, where=where) if ranked else len(entries) + 1
        if entries and rank <= entries[-1].rank:
            raise ListError(f"{where} has rank {rank} after rank {entries[-1].rank}: ranks must rise")
        if host in seen:
            raise ListError(f"{where} repeats {host} of line {seen[host]}")
        seen[host] = number
        entries.append(Entry(rank, host))
    if not entries:
        raise ListError(f"the list {name} is empty: it must hold a host a line, or RANK,HOST lines")
    return tuple(entries)


def _lines(content: bytes, *, name: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as exc:
            raise ListError(f"line {number} of the list {name} is not UTF-8") from exc
        if line:
            yield number, line


def _rank(text: str, *, where: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text.strip(), re.ASCII):
        raise ListError(f"{where} has no rank from 1 before its comma: {shown(text)}")
    return int(text)


def normalise(text: str, *, where: str) -> str:
    """A host name in lower-case A-label form (RFC 5890); as browsers do it, for what is not ASCII (UTS 46).

    >>> normalise("Bücher.Example.", where="line 1")
    'xn--bcher-kva.example'
    """
    host = text.strip().lower().removesuffix(".")
    try:
        if not host.isascii():
            host = idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except idna.IDNAError as exc:
        raise ListError(f"{where} is no host: {shown(text)}") from exc
    labels = host.split(".")
    named = len(labels) > 1 and not labels[-1].isdigit()  # not `localhost`, not 192.0.2.1
    if len(host) > HOST_LENGTH or not named or not all(LABEL.fullmatch(label) for label in labels):
        raise ListError(f"{where} is no host: {shown(text)}")
    return host


def shown(text: str) -> str:
    """A stranger's text in a message: short, and no control characters."""
    return ascii(text if len(text) <= 60 else text[:60] + "...")

"""Sites that asked not to be visited: left out when a crawl is planned, with all hosts below them.

The file has a host a line, and what follows # is a comment. A site that was erased stands there as `sha256:SALT:HASH` of its
host, so that the file does not name it; whoever has the file and a list of hosts can still try them one by one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import secrets
from typing import TYPE_CHECKING

from crawler.sites import lists
from crawler.sites.lists import Entry, ListError
from storage.staging import put_file_in_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SALT_BYTES = 16

HASHED = re.compile(r"sha256:([0-9a-f]{32}):([0-9a-f]{64})")
"""A line for a site that is not named: salt and hash."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OptOut:
    """The hosts of an opt-out file."""

    checksum: str
    """SHA-256 of the file's bytes, lower-case hex."""
    hosts: frozenset[str]
    hashed: frozenset[tuple[str, str]] = frozenset()
    """Salt and hash of hosts that are not named."""

    def covers(self, host: str) -> bool:
        """Whether `host`, or a domain that it lies in, opted out.

        >>> OptOut(checksum="", hosts=frozenset({"b.test"})).covers("a.b.test")
        True
        """
        salts = {salt for salt, _ in self.hashed}
        return any(
            parent in self.hosts or any((salt, hash_of(parent, salt)) in self.hashed for salt in salts)
            for parent in _parents(host)
        )

    def kept(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """The entries that remain, with the ranks that they had."""
        return tuple(entry for entry in entries if not self.covers(entry.host))


def _parents(host: str) -> Iterator[str]:
    """The host itself and every domain that it lies in."""
    labels = host.split(".")
    return (".".join(labels[place:]) for place in range(len(labels)))


def hash_of(host: str, salt: str) -> str:
    """The salted SHA-256 by which a host is known without its name, lower-case hex."""
    return hashlib.sha256(bytes.fromhex(salt) + host.encode()).hexdigest()


def read(path: Path) -> OptOut:
    """The opt-out file. It may be empty, but it must be there; ListError names a line that is no host."""
    content = _content(path)
    hosts, hashed = set(), set()
    for number, raw in enumerate(_lines(content), 1):
        line = raw.partition("#")[0].strip()
        if found := HASHED.fullmatch(line):
            hashed.add((found[1], found[2]))
        elif line:
            hosts.add(lists.normalise(line, where=f"line {number} of the opt-out file {path.name}"))
    return OptOut(
        checksum=hashlib.sha256(content).hexdigest(), hosts=frozenset(hosts), hashed=frozenset(hashed)
    )


def add(path: Path, host: str, *, hashed: bool) -> bool:
    """Add a host to the file, which is made if need be, by its hash alone if `hashed`; whether that changed anything."""
    before = _lines(_content(path)) if path.exists() else []
    there = read(path) if before else OptOut(checksum="", hosts=frozenset())
    kept = [line for line in before if not (hashed and _names(line, host))]
    if not _is_in(there, host, hashed=hashed):
        kept.append(_hashed_line(there, host) if hashed else host)
    if kept == before:
        return False
    _write(path, kept)
    return True


def remove(path: Path, host: str) -> bool:
    """Take a host out of the file, however it stands there; whether it did."""
    before = _lines(_content(path)) if path.exists() else []
    kept = [line for line in before if not _is_line_of(line, host)]
    if kept == before:
        return False
    _write(path, kept)
    return True


def _is_in(there: OptOut, host: str, *, hashed: bool) -> bool:
    if hashed:
        return any(hash_of(host, salt) == known for salt, known in there.hashed)
    return host in there.hosts or _is_in(there, host, hashed=True)


def _hashed_line(there: OptOut, host: str) -> str:
    """One salt for the whole file: a plan hashes each of a million hosts once for each salt."""
    salt = min((salt for salt, _ in there.hashed), default=secrets.token_hex(SALT_BYTES))
    return f"sha256:{salt}:{hash_of(host, salt)}"


def _is_line_of(line: str, host: str) -> bool:
    entry = line.partition("#")[0].strip()
    if found := HASHED.fullmatch(entry):
        return hash_of(host, found[1]) == found[2]
    return bool(entry) and _normalised(entry) == host


def _normalised(entry: str) -> str | None:
    try:
        return lists.normalise(entry, where="")
    except ListError:
        return None


def _names(line: str, host: str) -> bool:
    """Whether a line is the host's, or that of a host below it, or a comment that names it."""
    entry, _, comment = line.partition("#")
    named = _normalised(entry.strip()) or ""
    return host in _parents(named) or host in comment.lower()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise ListError(f"the opt-out file {path} cannot be read: {exc.strerror}") from exc


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _write(path: Path, lines: list[str]) -> None:
    """Whole or not at all: a plan may read it at any time."""
    try:
        with put_file_in_place(path) as half:
            half.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as exc:
        raise ListError(f"the opt-out file {path} cannot be written: {exc.strerror}") from exc

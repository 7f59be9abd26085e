"""The opt-out file: sites that asked not to be visited.

Plans of crawls leave them out, with all their subdomains. The file has a host a line; text after # is a
comment. An erased site is written as `sha256:SALT:HASH` of its host, so that the file does not name it,
although guesses at its name can be tested against the file.
"""

import dataclasses
import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from crawler.sites import lists
from crawler.sites.lists import Entry, ListError
from storage.staging import put_file_in_place

SALT_BYTES = 16

HASHED = re.compile(r"sha256:([0-9a-f]{32}):([0-9a-f]{64})")
"""Line of an erased site: salt and hash."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OptOut:
    """The hosts of an opt-out file."""

    checksum: str
    hosts: frozenset[str]
    hashed: frozenset[tuple[str, str]] = frozenset()
    """Salt and hash of erased hosts."""

    def covers(self, host: str) -> bool:
        """Return whether `host`, or a domain above it, opted out.

        >>> OptOut(checksum="", hosts=frozenset({"b.test"})).covers("a.b.test")
        True
        """
        salts = {salt for salt, _ in self.hashed}
        return any(
            parent in self.hosts or any((salt, hash_host(parent, salt)) in self.hashed for salt in salts)
            for parent in _parents(host)
        )

    def has_erased(self, host: str) -> bool:
        return any(hash_host(host, salt) == known for salt, known in self.hashed)

    def filter_entries(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple(entry for entry in entries if not self.covers(entry.host))


def _parents(host: str) -> Iterator[str]:
    labels = host.split(".")
    return (".".join(labels[place:]) for place in range(len(labels)))


def hash_host(host: str, salt: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + host.encode()).hexdigest()


def read_optout(path: Path) -> OptOut:
    """Read the file, which must exist; ListError names a line that is no host."""
    content = _content(path)
    hosts, hashed = set(), set()
    for number, raw in enumerate(_lines(content), 1):
        line = raw.partition("#")[0].strip()
        if match := HASHED.fullmatch(line):
            hashed.add((match[1], match[2]))
        elif line:
            hosts.add(lists.normalise(line, where=f"line {number} of the opt-out file {path.name}"))
    return OptOut(
        checksum=hashlib.sha256(content).hexdigest(), hosts=frozenset(hosts), hashed=frozenset(hashed)
    )


def add(path: Path, host: str, *, hashed: bool) -> bool:
    """Add a host, by hash alone if `hashed`; return whether the file changed."""
    before = _lines(_content(path)) if path.exists() else []
    existing = read_optout(path) if before else OptOut(checksum="", hosts=frozenset())
    kept = [line for line in before if not (hashed and _names(line, host))]
    if not _is_in(existing, host, hashed=hashed):
        kept.append(_hashed_line(existing, host) if hashed else host)
    if kept == before:
        return False
    _write(path, kept)
    return True


def remove(path: Path, host: str) -> bool:
    """Remove a host, named or hashed; return whether the file changed."""
    before = _lines(_content(path)) if path.exists() else []
    kept = [line for line in before if not _is_line_of(line, host)]
    if kept == before:
        return False
    _write(path, kept)
    return True


def _is_in(optout: OptOut, host: str, *, hashed: bool) -> bool:
    return optout.has_erased(host) or (not hashed and host in optout.hosts)


def _hashed_line(optout: OptOut, host: str) -> str:
    """Make a line with the file's one salt, so that a plan hashes a million hosts once."""
    salt = min((salt for salt, _ in optout.hashed), default=secrets.token_hex(SALT_BYTES))
    return f"sha256:{salt}:{hash_host(host, salt)}"


def _is_line_of(line: str, host: str) -> bool:
    entry = line.partition("#")[0].strip()
    if match := HASHED.fullmatch(entry):
        return hash_host(host, match[1]) == match[2]
    return lists.parse_host(entry) == host


def _names(line: str, host: str) -> bool:
    entry, _, comment = line.partition("#")
    named = lists.parse_host(entry.strip()) or ""
    return host in _parents(named) or host in comment.lower()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise ListError(f"the opt-out file {path} cannot be read: {exc.strerror}") from exc


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _write(path: Path, lines: list[str]) -> None:
    """Write the file whole: a plan may read it at any time."""
    try:
        with put_file_in_place(path) as half:
            half.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as exc:
        raise ListError(f"the opt-out file {path} cannot be written: {exc.strerror}") from exc

"""Sites that asked not to be visited: left out when a crawl is planned, with all hosts below them."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from crawler import lists
from crawler.lists import Entry, ListError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OptOut:
    """The hosts of an opt-out file."""

    checksum: str
    """SHA-256 of the file's bytes, lower-case hex."""
    hosts: frozenset[str]

    def covers(self, host: str) -> bool:
        """Whether `host`, or a domain that it lies in, opted out.

        >>> OptOut(checksum="", hosts=frozenset({"b.test"})).covers("a.b.test")
        True
        """
        labels = host.split(".")
        return any(".".join(labels[n:]) in self.hosts for n in range(len(labels)))

    def kept(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """The entries that remain, with the ranks that they had."""
        return tuple(entry for entry in entries if not self.covers(entry.host))


def read(path: Path) -> OptOut:
    """The opt-out file: a host a line, what follows # is a comment. It may be empty, but it must be there."""
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ListError(f"the opt-out file {path} cannot be read: {exc.strerror}") from exc
    hosts = set()
    for number, raw in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if line := raw.partition("#")[0].strip():
            hosts.add(lists.normalise(line, where=f"line {number} of the opt-out file {path.name}"))
    return OptOut(checksum=hashlib.sha256(content).hexdigest(), hosts=frozenset(hosts))

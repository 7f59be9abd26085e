"""Reads lists of sites, checks every line, and identifies each list by id and checksum.

A list has a host a line, RANK,HOST lines (Tranco, Umbrella), or columns under a header that names them:
`domain` or `host`, with a rank (Majestic) or without (Cloudflare Radar), or `origin` with a magnitude that
many sites share (CrUX). Values may be quoted, or be those of JSON objects, as BigQuery exports them.
"""

import csv
import dataclasses
import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import idna

from crawler.containers import AmbiguousZip, DamagedContainer, unpack
from crawler.errors import CrawlerError

LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label by which a host is an IPv4 address (URL Standard, "ends in a number")."""

HOST_LENGTH = 253
"""Longest host name (RFC 1035 §2.3.4), without a final dot."""

CHECKSUM_DIGITS = 12
"""Digits of the checksum in a list's id."""

SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes of a list, unpacked; Tranco's million is 22 MB."""

SKIPPED_SHARE = 0.001
"""Largest share of a public list's lines that are no names, e.g. bare addresses."""


HOST_COLUMNS = ("domain", "host", "hostname")
RANK_COLUMNS = ("rank", "globalrank")

ORIGIN = "origin"

SCHEME_PORTS = {"http": "80", "https": "443"}

FORMS = (
    "a list has a host a line, RANK,HOST lines (Tranco, Umbrella), or a header with `domain` or `host` and "
    "perhaps `rank` (Majestic, Cloudflare Radar), or with `origin` and `rank` (CrUX), or the same as JSON"
)

MIXED = "has other columns than the lines before"


class ListError(CrawlerError):
    """A list is missing, empty or malformed; the message names the line."""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One site of a list."""

    rank: int
    """Rank in the list; in a list of magnitudes, the position."""
    host: str
    magnitude: int | None = None
    """Rank magnitude (CrUX): 1000, 5000, 10000, ..."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sites:
    """A whole list."""

    id: str
    source: str
    checksum: str
    entries: tuple[Entry, ...]
    skipped: int = 0
    fetched_at: datetime.datetime | None = None

    def top(self, count: int | None) -> tuple[Entry, ...]:
        return self.entries[:count]


def read_list(path: Path, *, source: str | None = None, version: str | None = None) -> Sites:
    """Read a list, gzipped, zipped or plain; a public `source` has a `version`."""
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ListError(f"the list {path} cannot be read: {exc.strerror}") from exc
    checksum = hashlib.sha256(content).hexdigest()
    name = path.name.encode("utf-8", "replace").decode()
    reader = Reader(name, may_skip=source is not None)
    reader.read(decompress(content, name=name))
    return Sites(
        id=f"{source or name}:{version or checksum[:CHECKSUM_DIGITS]}",
        source=source or name,
        checksum=checksum,
        entries=tuple(reader.entries),
        skipped=reader.skipped,
    )


def decompress(content: bytes, *, name: str) -> bytes:
    """Decompress gzip or a zip of one file; ListError if it is damaged, ambiguous or too large."""
    try:
        plain = unpack(content, most_bytes=SIZE_LIMIT)
    except DamagedContainer as exc:
        raise ListError(f"the list {name} is damaged or cut short: fetch it again") from exc
    except AmbiguousZip as exc:
        raise ListError(f"the list {name} is a zip of {exc} files: unpack it, and give one") from exc
    if len(plain) > SIZE_LIMIT:
        raise ListError(f"the list {name} has more than {SIZE_LIMIT:,} bytes: that is no list of sites")
    return plain


class Reader:
    """Reads the lines of a list; a ListError names the first line that is no site."""

    def __init__(self, name: str, *, may_skip: bool = False) -> None:
        self.name = name
        self.entries: list[Entry] = []
        self.skipped = 0
        """Names in the DNS that are no sites, and in a public list a few that are no names."""
        self._nameless = 0
        self._may_skip = may_skip
        self._seen: dict[str, int] = {}

    def read(self, content: bytes) -> None:
        lines = list(_lines(content, name=self.name))
        header = [column.strip().lower() for column in lines[0][1]] if lines else []
        host_at = next((header.index(column) for column in (*HOST_COLUMNS, ORIGIN) if column in header), None)
        rank_at = next(
            (header.index(rank_column) for rank_column in RANK_COLUMNS if rank_column in header), None
        )
        if host_at is not None:
            lines = lines[1:]
        elif len(header) <= 2:
            host_at, rank_at = len(header) - 1, 0 if len(header) == 2 else None
        if host_at is None or (ORIGIN in header and rank_at is None):
            raise ListError(f"line 1 of the list {self.name} is of no form that is known: {FORMS}")
        for number, values in lines:
            where = f"line {number} of the list {self.name}"
            if len(values) != len(header):
                raise ListError(f"{where} {MIXED}: {quote(','.join(values))}; {FORMS}")
            rank = None if rank_at is None else _rank(values[rank_at], where=where)
            if ORIGIN in header and rank is not None:
                self._add_with_magnitude(where, number, values[host_at], rank)
            else:
                self._add_ranked(where, number, values[host_at], rank)
        if not self.entries:
            raise ListError(f"the list {self.name} is empty: {FORMS}")
        if self._nameless > max(1, SKIPPED_SHARE * len(lines)):
            raise ListError(
                f"the list {self.name} holds {self._nameless:,} lines of {len(lines):,} that are no hosts"
            )

    def _add_ranked(self, where: str, number: int, text: str, rank: int | None) -> None:
        if rank is not None:
            if self.entries and rank <= self.entries[-1].rank:
                raise ListError(
                    f"{where} has rank {rank} after rank {self.entries[-1].rank}: ranks must rise"
                )
            if is_no_site(text):
                self.skipped += 1
                return
        self._add(where, number, text, rank=rank or len(self.entries) + 1)

    def _add_with_magnitude(self, where: str, number: int, origin: str, magnitude: int) -> None:
        before = (self.entries[-1].magnitude if self.entries else None) or 0
        if magnitude < before:
            raise ListError(
                f"{where} has rank {magnitude} after rank {before}: ranks must not fall, so sort the list"
            )
        scheme, _, authority = origin.strip().lower().partition("://")
        if scheme not in SCHEME_PORTS:
            raise ListError(f"{where} is no origin: {quote(origin)}")
        host = authority.removesuffix("/").removesuffix(f":{SCHEME_PORTS[scheme]}")
        if f"{scheme}://{host}" in self._seen:
            raise ListError(f"{where} repeats {quote(origin)} of line {self._seen[f'{scheme}://{host}']}")
        self._seen[f"{scheme}://{host}"] = number
        if host not in self._seen:  # http and https of one host are one site
            self._add(where, number, host, rank=len(self.entries) + 1, magnitude=magnitude)

    def _add(self, where: str, number: int, text: str, *, rank: int, magnitude: int | None = None) -> None:
        try:
            host = normalise(text, where=where)
        except ListError as exc:
            if not self._may_skip:
                raise ListError(f"{exc}{_say_remedy(text)}") from exc
            self.skipped += 1
            self._nameless += 1
            return
        if host in self._seen:
            raise ListError(f"{where} repeats {host} of line {self._seen[host]}")
        self._seen[host] = number
        self.entries.append(Entry(rank, host, magnitude))


def _lines(content: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    encoding = json.detect_encoding(content)
    if encoding.startswith(("utf-16", "utf-32")):
        try:
            content = content.decode(encoding).encode()
        except UnicodeDecodeError as exc:
            raise ListError(
                f"the list {name} is cut short: it is {encoding.upper()} to byte {exc.start:,}"
            ) from exc
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if content.startswith((b"[{", b"{")) or (content[:1] == b"[" and content[1:].lstrip()[:1] == b"{"):
        yield from _json_lines(content, name=name)
        return
    for number, raw in enumerate(content.split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as exc:
            raise ListError(f"line {number} of the list {name} is not UTF-8: save it as UTF-8") from exc
        if '"' in line:
            try:
                (values,) = csv.reader([line], strict=True)
            except (csv.Error, ValueError) as exc:
                raise ListError(f"line {number} of the list {name} has quotes without an end") from exc
            yield number, values
        elif line:
            yield number, line.split(",")


def _json_lines(content: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield names and then values of JSON objects, in an array or one a line, with their numbers."""
    try:
        rows = json.loads(content) if content[:1] == b"[" else list(map(json.loads, content.splitlines()))
        cells = [dict(_cells(row)) for row in rows]
    except (ValueError, RecursionError, AttributeError) as exc:
        raise ListError(f"the list {name} begins as JSON, but is none to its end: export it again") from exc
    columns = list(cells[0])
    if not {column.lower() for column in columns} & {*HOST_COLUMNS, ORIGIN}:
        raise ListError(f"the list {name} is JSON of no form that is known: {FORMS}")
    yield 1, columns
    for number, row in enumerate(cells, 1):
        yield number, [row[column] for column in columns] if row.keys() == set(columns) else []


def _cells(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield columns and values of a JSON object and those nested in it."""
    for column, value in row.items():
        if isinstance(value, Mapping):
            yield from _cells(value)
        else:
            yield column, str(value)


def is_no_site(text: str) -> bool:
    """Return whether a name in the DNS cannot be a site's: a top-level domain, a service, or a reversed
    address.

    >>> [is_no_site(name) for name in ("com", "_dmarc.example.com", "1.0.0.127.in-addr.arpa", "192.0.2.1", "a.test")]
    [True, True, True, False, False]
    """  # noqa: E501
    labels = text.strip().lower().removesuffix(".").split(".")
    if not all(LABEL.fullmatch(label) for label in labels):
        return False
    return len(labels) == 1 or labels[-1] == "arpa" or any(label.startswith("_") for label in labels)


def _rank(text: str, *, where: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text.strip(), re.ASCII):
        raise ListError(f"{where} has no rank from 1: {quote(text)}")
    return int(text)


def normalise(text: str, *, where: str) -> str:
    """Return a lower-case A-label form (RFC 5890), as browsers convert it (UTS 46); ListError if it is none.

    >>> normalise("Bücher.Example.", where="line 1")
    'xn--bcher-kva.example'
    """
    try:
        host = to_ascii(text.strip().lower().removesuffix("."))
    except idna.IDNAError as exc:
        raise ListError(f"{where} is no host: {quote(text)}") from exc
    labels = host.split(".")
    # `localhost` is no host here, nor are 192.0.2.1 and 127.0x1, which the URL Standard reads as addresses.
    named = len(labels) > 1 and not NUMERIC.fullmatch(labels[-1])
    if len(host) > HOST_LENGTH or not named or not all(LABEL.fullmatch(label) for label in labels):
        raise ListError(f"{where} is no host: {quote(text)}")
    return host


def to_ascii(host: str) -> str:
    """Return A-labels as browsers do (UTS 46, non-transitional), symbols included; IDNAError if none.

    >>> to_ascii("bücher.example"), to_ascii("☃.example")
    ('xn--bcher-kva.example', 'xn--n3h.example')
    """
    if host.isascii():
        return host
    labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
    return ".".join(label if label.isascii() else _a_label(label) for label in labels)


def _a_label(label: str) -> str:
    """Return a label in Punycode, also of symbols, which IDNA 2008 excludes and browsers do not."""
    try:
        return idna.alabel(label).decode("ascii")
    except idna.InvalidCodepoint:
        return f"xn--{label.encode('punycode').decode('ascii')}"


def _say_remedy(text: str) -> str:
    """Return advice for a URL or a port, which no host has."""
    address = text.strip().lower().rpartition("://")[2].partition("/")[0]
    host = parse_host(address.partition(":")[0])
    if host is None:
        return ""
    is_usual = address.partition(":")[2] in ("", *SCHEME_PORTS.values())
    return f": write {host}" if is_usual else ": leave it out, since sites are visited at the usual ports"


def parse_host(text: str) -> str | None:
    try:
        return normalise(text, where="")
    except ListError:
        return None


def quote(text: str) -> str:
    """Quote untrusted text: short, without control characters."""
    return ascii(text if len(text) <= 60 else text[:60] + "...")

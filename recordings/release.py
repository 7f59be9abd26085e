"""Recordings of one month as the content of a release: rows by table,
and what recording.json says of them."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recordings.connections import OPENED
from recordings.rows import CONNECTIONS, CRAWL_ID, INITIATORS, NAMED, PageRows, Row, page_rows
from schema.recorded import FILES, RECORDED, Notes, null_reasons

if TYPE_CHECKING:  # the service needs the pages of other years, and none of the readers of files
    from recordings.reading import RecordedFile

METHODS = {"har": "recorded-har-3", "cdp": "recorded-cdp-3"}
"""Version of the method of each kind of file; a change of any value needs the next number."""

LIMITS = [
    "Sizes are as the recording program counted or stated them; the column size_basis says which, and where "
    "they are derived from Content-Length and the header's text (docs/recorded-files.md). Nothing was "
    "compared with the network.",
    "Over HTTP/2 and HTTP/3 a response without a counted total has no known size, since the header's text is "
    "not what crossed the network.",
    "Each page was loaded once; of a file with several page loads the first with a document is here, "
    "since later ones found a warm cache.",
    "The recordings are of pages that somebody chose: they are no sample of the web, "
    "and their ranks are not known.",
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The source of recorded pages, and the limits of their recording."""

    id: str
    month: str
    device: str
    vantage: str
    magnitude: int | None
    """Rank magnitude that all sites share; None if the list does not rank by magnitude."""
    recorded: str
    """Day and hours of the recording."""
    source: str
    commit: str
    tool: str
    licence: str
    limits: list[str]
    """Limits of the recording, a sentence each."""
    list_name: str = ""
    """The list that the pages are of, in a few words."""
    recorder: str = ""
    """Recorders of the pages, as citations name them; empty if it is not known."""
    types: tuple[str, ...] = ()
    """Types of responses that alone have a size; none if all may."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Content of a release of recordings."""

    tables: dict[str, list[Row]]
    recording: dict[str, Any]
    checksum: str
    """SHA-256 over the SHA-256 of the files, in their order."""
    notes: Notes


class DatedFile(Protocol):
    """A file of recorded pages."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def tool(self) -> str: ...

    @property
    def day(self) -> str:
        """Day of the first request, YYYY-MM-DD; empty if not recorded."""


File = TypeVar("File", bound=DatedFile)


def group_by_month(files: Iterable[File]) -> dict[str, list[File]]:
    """Return files by the month of their first request, YYYY-MM, in order; each content once."""
    months: dict[str, list[File]] = collections.defaultdict(list)
    seen = set()
    for file in sorted(files, key=lambda file: (file.day, file.name, file.sha256)):
        if file.sha256 not in seen:
            seen.add(file.sha256)
            months[file.day[:7]].append(file)
    return dict(months)


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """Rules by which something of a request is known."""

    meanings: Mapping[str, str]
    inferring: frozenset[str]
    """Rules that infer."""


def content_of(
    files: Sequence[RecordedFile], stated_by_importer: Mapping[str, str], *, month: str
) -> Content:
    pages = [
        page_rows(file.load, number, started_at=file.started_at) for number, file in enumerate(files, start=1)
    ]
    programs = {name for file in files for name in (file.browser, file.tool) if name}
    return make_content(
        pages,
        source_of(files, stated_by_importer, month=month, limits=LIMITS),
        sums_of(files),
        browser=", ".join(sorted(programs)),
        method=METHODS[files[0].kind],
        initiators=Rules(INITIATORS, frozenset({"referer", "guess"})),
        connections=Rules(CONNECTIONS, frozenset(CONNECTIONS) - {NAMED, OPENED}),
        notes=FILES,
        facts={
            "tools": count_values(file.tool for file in files),
            "left_out": dict(sorted(add_counters(file.load.left_out for file in files).items())),
        },
    )


def make_content(
    pages: Sequence[PageRows],
    source: Source,
    sums: Mapping[str, str],
    *,
    browser: str,
    method: str,
    initiators: Rules,
    connections: Rules,
    notes: Notes,
    protocols: Rules | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Content:
    """Return the content of a release of these pages.

    `sums` has each file's SHA-256; `protocols` has rules where the recording does not tell them.
    """
    tables = tables_of(pages, source, browser=browser, method=method)
    inferred = {
        "initiators": count_rules(add_counters(page.initiators for page in pages), initiators),
        "connections": count_rules(add_counters(page.connection_rules for page in pages), connections),
    }
    if protocols is not None:
        inferred["protocols"] = count_rules(
            add_counters(collections.Counter(page.protocol_rules) for page in pages), protocols
        )
    described = describe_recording(source, sums, tables, inferred=inferred, notes=notes)
    return Content(
        tables=tables, recording={**described, **(facts or {})}, checksum=checksum(sums), notes=notes
    )


def tables_of(
    pages: Sequence[PageRows], source: Source, *, browser: str, method: str
) -> dict[str, list[Row]]:
    """Return the rows of all pages by table, in the order of their keys."""
    responses = [row for page in pages for row in page.responses]
    crawl = {
        "id": CRAWL_ID,
        "month": source.month,
        "device": source.device,
        "vantage": source.vantage,
        "arm": "quic" if any(row["protocol"] == "h3" for row in responses) else "tcp",
        "kind": RECORDED,
        "list_id": source.id,
        "method_version": method,
        "commit": source.commit,
        "browser": browser,
        "loads": 1,
        "inner_pages": 0,
    }
    return {
        "crawl": [crawl],
        "site": [page.site for page in pages],
        "visit": [page.visit for page in pages],
        "connection": [row for page in pages for row in page.connections],
        "response": responses,
    }


def describe_recording(
    source: Source,
    files: Mapping[str, str],
    tables: Mapping[str, Sequence[Row]],
    *,
    inferred: Mapping[str, Any],
    notes: Notes,
) -> dict[str, Any]:
    responses = tables["response"]
    return {
        "quality": RECORDED,
        **dataclasses.asdict(source),
        "files": dict(files),
        "pages": len(tables["visit"]),
        "requests": len(responses),
        "responses_of_known_size": sum(row["wire_bytes"] is not None for row in responses),
        "responses_by_size_basis": count_values(row["size_basis"] for row in responses),
        "responses_of_unknown_size": count_values(row["wire_bytes_unknown"] for row in responses),
        "inferred": dict(inferred),
        "null_columns": null_columns(tables, notes),
    }


def count_values(values: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(collections.Counter(value for value in values if value is not None).items()))


def add_counters(counters: Iterable[collections.Counter[str]]) -> collections.Counter[str]:
    return sum(counters, collections.Counter())


def count_rules(requests: Mapping[str, int], rules: Rules) -> dict[str, Any]:
    every = sum(requests.values())
    return {
        "share": round(sum(requests.get(rule, 0) for rule in rules.inferring) / every, 4) if every else None,
        "requests": {rule: requests.get(rule, 0) for rule in rules.meanings},
        "rules": dict(rules.meanings),
    }


def null_columns(tables: Mapping[str, Sequence[Row]], notes: Notes) -> dict[str, str]:
    """Return columns that no row knows, with the reason, by table.column."""
    return {
        column: reason
        for column, reason in sorted(null_reasons(notes).items())
        if all(row.get(column.partition(".")[2]) is None for row in tables[column.partition(".")[0]])
    }


def source_of(
    files: Sequence[DatedFile], stated_by_importer: Mapping[str, str], *, month: str, limits: Sequence[str]
) -> Source:
    """Return the source of a month's files, by what the importer stated."""
    first, last = files[0].day, files[-1].day
    return Source(
        month=month,
        magnitude=None,
        recorded=(first or "unknown") if first == last else f"{first} to {last}",
        commit="unknown",
        tool=", ".join(sorted({file.tool for file in files})),
        limits=[*limits, *list_unstated(stated_by_importer)],
        id=stated_by_importer["id"],
        device=stated_by_importer["device"],
        vantage=stated_by_importer["vantage"],
        source=stated_by_importer["source"],
        licence=stated_by_importer["licence"],
    )


def sums_of(files: Iterable[DatedFile]) -> dict[str, str]:
    return {f"{number}: {file.name}": file.sha256 for number, file in enumerate(files, start=1)}


def checksum(sums: Mapping[str, str]) -> str:
    return hashlib.sha256("".join(sums.values()).encode()).hexdigest()


def list_unstated(stated_by_importer: Mapping[str, str]) -> list[str]:
    missing = [name for name in ("vantage", "device") if stated_by_importer[name] == "unknown"]
    return [f"The {name} was not stated." for name in missing]

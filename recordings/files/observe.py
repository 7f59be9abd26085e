"""Recordings of one month as the content of a release: rows by table,
and what recording.json says of them."""

import collections
import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recordings.files.reading import RecordedFile
from recordings.files.rows import page_rows
from recordings.files.traffic import NAMED
from recordings.pages.connections import OPENED
from recordings.pages.provenance import CONNECTION_RULES, rules, stated
from recordings.pages.recording import Source
from recordings.pages.rows import Observations, Row, crawl_row
from schema.recorded_files import FILES

METHODS = {"har": "recorded-har-1", "cdp": "recorded-cdp-1"}
"""Version of the method by which each kind of file becomes a release;
a change of any value needs the next number."""

INITIATORS: dict[str, str] = {
    "initiator": "recorded: the URL of the initiator",
    "redirect": "recorded: the response that redirected here, or came before the document",
    "referer": "inferred: the response whose URL Referer is",
    "guess": "inferred: the main document, since nothing tells the initiator",
    "start": "none: the navigation",
}
"""Rules by which a request has its initiator, with the evidence."""

CONNECTIONS: dict[str, str] = {NAMED: "recorded: the connection's name"} | CONNECTION_RULES

LIMITS = [
    "Sizes are what the recording program counted, repaired where it is known to count wrongly "
    "(docs/recorded-files.md); nothing was compared with the network.",
    "Over HTTP/1.1 the size of a header that was not counted is that of its recorded text; over HTTP/2 and "
    "HTTP/3 such a response has no known size.",
    "Each page was loaded once; of a file with several pages the first alone is here, "
    "since later ones found a warm cache.",
    "The recordings are of pages that somebody chose: they are no sample of the web, "
    "and their ranks are not known.",
]
"""What no recording of this form can tell."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What a release of recordings is made of."""

    tables: dict[str, list[Row]]
    recording: dict[str, Any]
    """The content of recording.json."""
    checksum: str
    """SHA-256 over the SHA-256 of the files, in their order."""


def by_month(files: Sequence[RecordedFile]) -> dict[str, list[RecordedFile]]:
    """Files by the month of their first request, YYYY-MM, in the order of the months;
    names break the order of files."""
    found: dict[str, list[RecordedFile]] = collections.defaultdict(list)
    for one in sorted(files, key=lambda file: (file.day, file.name, file.sha256)):
        found[one.day[:7]].append(one)
    return dict(found)


def observe(files: Sequence[RecordedFile], source: Source) -> Content:
    """The content of a release of these files; RecordingError if one holds no page."""
    pages = [page_rows(file, number) for number, file in enumerate(files, start=1)]
    responses = [row for page in pages for row in page.responses]
    programs = {name for file in files for name in (file.browser, file.tool) if name}
    crawl = crawl_row(
        source,
        browser=", ".join(sorted(programs)),
        method=METHODS[files[0].kind],
        has_quic=any(row["protocol"] == "h3" for row in responses),
    )
    found = Observations(
        tables={
            "crawl": [crawl],
            "site": [page.site for page in pages],
            "visit": [page.visit for page in pages],
            "connection": [row for page in pages for row in page.connections],
            "response": responses,
        },
        initiators=summed(page.initiators for page in pages),
        connections=summed(page.connection_rules for page in pages),
    )
    inferred = {
        "initiators": rules(found.initiators, INITIATORS, inferred={"referer", "guess"}),
        "connections": rules(found.connections, CONNECTIONS, inferred=CONNECTIONS.keys() - {NAMED, OPENED}),
    }
    sums = {numbered(number, file.name): file.sha256 for number, file in enumerate(files, start=1)}
    return Content(
        tables=found.tables,
        recording={
            **stated(source, sums, found, inferred=inferred, notes=FILES),
            "tools": dict(sorted(collections.Counter(file.tool for file in files).items())),
            "repairs": dict(sorted(summed(page.repairs for page in pages).items())),
        },
        checksum=hashlib.sha256("".join(sums.values()).encode()).hexdigest(),
    )


def numbered(number: int, name: str) -> str:
    """Name of a file with the number of its visit: files in different folders may have one name."""
    return f"{number}: {name}"


def summed(counters: Iterable[collections.Counter[str]]) -> collections.Counter[str]:
    """The sum of counters."""
    total: collections.Counter[str] = collections.Counter()
    for one in counters:
        total.update(one)
    return total


def days(files: Sequence[RecordedFile]) -> str:
    """The day or days on which files were recorded."""
    first, last = files[0].day, files[-1].day
    return (first or "unknown") if first == last else f"{first} to {last}"


def source_of(files: Sequence[RecordedFile], stated_by_importer: Mapping[str, str], *, month: str) -> Source:
    """The source of a month's files, from what the importer stated: id, device, vantage,
    source and licence."""
    return Source(
        month=month,
        magnitude=None,
        recorded=days(files),
        commit="unknown",
        tool=", ".join(sorted({file.tool for file in files})),
        limits=[*LIMITS, *unstated(stated_by_importer)],
        **stated_by_importer,
    )


def unstated(stated_by_importer: Mapping[str, str]) -> list[str]:
    """A limit for each circumstance that the importer did not state."""
    missing = [name for name in ("vantage", "device") if stated_by_importer[name] == "unknown"]
    return [f"The {name} was not stated." for name in missing]

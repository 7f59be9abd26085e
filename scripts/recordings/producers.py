"""`python -m scripts.recordings.producers`: write the table of producers in docs/recorded-files.md.

Its rows are the producers that the reader knows, with what the entries of tests/recordings/entries.csv say of
each: how many there are, and what their sizes rest on. `--entries DATA_DIR` writes those of real files anew,
from DATA_DIR/har/CORPUS/*.har.gz; of each producer and version, protocol and outcome a few are kept, as
numbers without names.
"""

from __future__ import annotations

import argparse
import collections
import csv
import datetime
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recordings import har
from recordings.containers import unpack
from recordings.errors import RecordingError
from recordings.exchange import RecordedExchange
from recordings.producers import DEVTOOLS_LOG, NETLOG, OTHER, PRODUCERS, Producer, producer_of
from recordings.reading import parse

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "recorded-files.md"
ENTRIES = ROOT / "tests" / "recordings" / "entries.csv"

BEGIN, END = "<!-- producers -->", "<!-- end of producers -->"

GIVEN = (
    *("producer", "version", "method", "status", "protocol", "headers_size", "body_size", "transfer_size"),
    *("content_size", "uncompressed_size", "content_length", "content_encoding", "transfer_encoding"),
    *("location", "mime_type", "marks"),
)
"""Columns of an entry that decide its sizes; `marks` are other fields, as NAME=VALUE."""

FOUND = ("wire_bytes", "size_basis", "wire_bytes_unknown", "header_bytes", "body_bytes", "decoded_bytes")
"""Columns of its sizes."""

COLUMNS = (*GIVEN, *FOUND, "origin")

CARRIED = ("pagexray", "coach-core", "compare")
"""Collections whose licence lets facts be carried: MIT."""

EACH = 2
"""Entries of each producer, version, protocol and outcome."""

Row = dict[str, str]


def main() -> None:
    """Write the table, and the entries before if they are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=Path, metavar="DATA_DIR")
    data = parser.parse_args().entries
    if data is not None:
        made_up = [row for row in read_entries() if row["origin"] not in CARRIED]
        write_entries([*made_up, *real_entries(data)])
    text = DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    DOCUMENT.write_text(f"{head}{BEGIN}\n{table(read_entries())}\n{END}{tail}", encoding="utf-8")


def read_entries() -> list[Row]:
    """Return the entries of the tests."""
    with ENTRIES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_entries(rows: Iterable[Row]) -> None:
    """Write the entries of the tests."""
    with ENTRIES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def real_entries(data: Path) -> Iterator[Row]:
    """Yield a few entries of each kind in the collections of DATA_DIR,
    with the sizes that the reader finds."""
    kept: collections.Counter[tuple[str, ...]] = collections.Counter()
    now = datetime.datetime.now(datetime.UTC)
    for corpus in CARRIED:
        for path in sorted((data / "har" / corpus).glob("*.har.gz")):
            log = parse(unpack(path.read_bytes(), path.name), path.name)["log"]
            creator = {part: str(log["creator"][part]) for part in ("name", "version")}
            for raw in log["entries"]:
                try:
                    (exchange,) = har.read({"creator": creator, "entries": [raw]}, now=now).exchanges
                except (RecordingError, ValueError):
                    continue
                row = row_of(creator, raw, exchange, corpus)
                key = tuple(
                    row[name]
                    for name in ("producer", "version", "protocol", "size_basis", "wire_bytes_unknown")
                )
                kept[key] += 1
                if kept[key] <= EACH:
                    yield row


def row_of(
    creator: Mapping[str, str], raw: Mapping[str, Any], exchange: RecordedExchange, origin: str
) -> Row:
    """Return the numbers of an entry that decide its sizes, and the sizes."""
    response = raw["response"]
    marks = {
        name: value
        for place in (raw, response)
        for name in ("_fromCache", "_fetchType", "_fetchedViaServiceWorker", "_wasFulfilled", "_error")
        if (value := place.get(name)) is not None
    }
    values = {
        "producer": creator["name"],
        "version": creator["version"],
        "method": exchange.method,
        "status": exchange.status,
        "protocol": exchange.protocol,
        "headers_size": response.get("headersSize"),
        "body_size": response.get("bodySize"),
        "transfer_size": response.get("_transferSize"),
        "content_size": response["content"].get("size"),
        "uncompressed_size": raw.get("_objectSizeUncompressed"),
        "content_length": exchange.headers.get("content-length"),
        "content_encoding": exchange.headers.get("content-encoding"),
        "transfer_encoding": exchange.headers.get("transfer-encoding"),
        "location": int(exchange.location is not None),
        "mime_type": exchange.mime_type,
        "marks": " ".join(f"{name}={value}" for name, value in marks.items()),
        **{name: getattr(exchange.sizes, name) for name in FOUND},
        "origin": origin,
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}


def table(rows: Iterable[Row]) -> str:
    """Return the producers as a Markdown table, with what the sizes of the tests' entries rest on."""
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        producer = producer_of(f"{row['producer']} {row['version']}".strip())
        outcomes[producer.id][row["size_basis"] or row["wire_bytes_unknown"].replace("_", " ")] += 1
    lines = [
        "| producer | what it counts | what we take | what stays null | entries in the tests |",
        "|---|---|---|---|---|",
    ]
    lines += (line(producer, outcomes[producer.id]) for producer in (*PRODUCERS, OTHER, DEVTOOLS_LOG, NETLOG))
    return "\n".join(lines)


def line(producer: Producer, outcomes: collections.Counter[str]) -> str:
    """Return a producer's row."""
    tried = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or producer.tried
    return f"| {producer.title} | {producer.counts} | {producer.taken} | {producer.unknown} | {tried} |"


if __name__ == "__main__":
    main()

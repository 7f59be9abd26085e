"""`python -m studies.recorded_sizes DATA_DIR [--facts]`:
compare sizes with those that somebody else derived of the same files.

DATA_DIR holds har/CORPUS/*.har.gz, cdp/CORPUS/*.json.gz, and har_entries.csv.gz: a row for each entry with
the size of its body as the recording program wrote it, from a reader of its own. Writes sizes.csv beside this
module; with --facts prints the numbers that tests/recordings/files/facts.csv holds.
"""

import argparse
import collections
import csv
import difflib
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from recordings import cdp, har
from recordings.exchange import FRAMED, RecordedExchange, protocol_name
from recordings.files.rows import wire_bytes
from recordings.har_sizes import header_text_bytes, is_bodiless
from studies.csv_table import write_table

Row: TypeAlias = "dict[str, str]"

TABLE = Path(__file__).with_name("sizes.csv")

REASONS = (
    *("equal", "total", "bodiless", "unknown_there", "unknown_here"),
    *("decompressed", "cached", "later_page", "unexplained"),
)
"""Columns of the table: why a size is another."""

FACTS = (
    *("producer", "version", "method", "status", "protocol", "headers_size", "body_size", "transfer_size"),
    *("content_size", "content_length", "is_encoded", "location", "body", "total", "reason"),
)
"""Columns of the facts that the test holds."""

EACH = 2
"""Facts of each producer, protocol and reason."""

CARRIED = frozenset({"pagexray", "coach-core", "compare"})
"""Collections whose licence lets facts be carried: MIT."""


def main(data: Path, *, facts: bool) -> None:
    """Compare every file; write the table, or print the facts."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    kept: dict[tuple[str, ...], list[Row]] = collections.defaultdict(list)
    headers: collections.Counter[str] = collections.Counter()
    for corpus, creator, entry, found, row in pairs(data):
        if entry is not None:
            headers.update(header_text(entry))
        reason = explain(found, row) if found is not None else "later_page"
        counts[" ".join(creator.values())][reason] += 1
        if found is not None and entry is not None and corpus in CARRIED:
            key = (creator["name"], found.protocol, reason)
            if len(kept[key]) < EACH:
                kept[key].append(fact(creator, entry, found, reason))
    if facts:
        writer = csv.DictWriter(sys.stdout, FACTS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(one for key in sorted(kept) for one in kept[key])
    else:
        total = sum(counts.values(), collections.Counter())
        rows = (
            (producer, counter.total(), *(counter[reason] for reason in REASONS))
            for producer, counter in [*sorted(counts.items()), ("all", total)]
        )
        write_table(TABLE, ("producer", "entries", *REASONS), rows)
        print("HTTP/1.1 headers by their text beside their count, in bytes:", dict(headers))


Pair: TypeAlias = "tuple[str, dict[str, str], dict[str, Any] | None, RecordedExchange | None, Row]"


def pairs(data: Path) -> Iterator[Pair]:
    """Yield collection, producer, entry, our exchange (none of a later page) and their row,
    for each entry."""
    rows: dict[tuple[str, str], dict[int, Row]] = collections.defaultdict(dict)
    with gzip.open(data / "har_entries.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["corpus"], row["file"]][int(row["entry"])] = row
    for (corpus, name), theirs in sorted(rows.items()):
        (path,) = data.glob(f"*/{corpus}/{name}")
        document = json.loads(gzip.decompress(path.read_bytes()))
        if path.parent.parent.name == "cdp":
            yield from pairs_of_log(corpus, document, theirs)
            continue
        log = document["log"]
        creator = {part: str(log["creator"][part]) for part in ("name", "version")}
        ours = {id(entry): one for entry, one in zip(har.first_page(log), har.read(log), strict=True)}
        for number, entry in enumerate(log["entries"]):
            yield corpus, creator, entry, ours.get(id(entry)), theirs[number]


def pairs_of_log(corpus: str, document: list[Any], theirs: dict[int, Row]) -> Iterator[Pair]:
    """Yield the exchanges of a log of DevTools events that both readers have,
    by host and status in their order."""
    creator = {"name": "DevTools", "version": "log"}
    ours = [one for one in cdp.read(document).exchanges if one.url.startswith("http")]
    rows = [theirs[number] for number in sorted(theirs)]
    here = [(one.host, str(one.status or "")) for one in ours]
    there = [(row["req_host"], row["status"] if row["status"] != "0" else "") for row in rows]
    for first, other, length in difflib.SequenceMatcher(
        None, here, there, autojunk=False
    ).get_matching_blocks():
        for place in range(length):
            yield corpus, creator, None, ours[first + place], rows[other + place]


def explain(found: RecordedExchange, row: Row) -> str:
    """Why our size of a body is what it is beside theirs."""
    theirs = int(row["body_bytes"]) if row["body_bytes"] else None
    total = row["wire_total"] or (row["body_bytes"] if row["body_includes_headers"] == "1" else "")
    reasons = {
        "equal": found.body_bytes == theirs,
        "cached": found.is_cached,
        "decompressed": "size_after_decompression" in found.repairs,
        "bodiless": is_bodiless(found),
        "total": str(together(found)) == total,
        "unknown_there": theirs is None or (theirs == 0 and found.is_redirect),
        "unknown_here": not theirs and wire_bytes(found) is None,
    }
    return next((reason for reason, holds in reasons.items() if holds), "unexplained")


def together(found: RecordedExchange) -> int:
    """Header and body, of whatever kind the header's size is."""
    return found.total_bytes or (found.body_bytes or 0) + (found.header_bytes or 0)


def fact(creator: dict[str, str], entry: dict[str, Any], found: RecordedExchange, reason: str) -> Row:
    """The numbers of an entry that decide its sizes, and the sizes."""
    response = entry["response"]
    values = {
        "producer": creator["name"],
        "version": creator["version"],
        "method": found.method,
        "status": found.status,
        "protocol": found.protocol,
        "headers_size": response.get("headersSize"),
        "body_size": response.get("bodySize"),
        "transfer_size": response.get("_transferSize"),
        "content_size": response["content"].get("size"),
        "content_length": found.headers.get("content-length"),
        "is_encoded": int("content-encoding" in found.headers),
        "location": int(found.location is not None),
        "body": found.body_bytes,
        "total": wire_bytes(found),
        "reason": reason,
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}


def header_text(entry: dict[str, Any]) -> list[str]:
    """How far the text of an HTTP/1.1 header is from the size that the producer counted.

    Empty if it counted none.
    """
    response = entry["response"]
    counted = response.get("headersSize") or -1
    if counted <= 0 or protocol_name(entry.get("_protocol") or response.get("httpVersion")) in FRAMED:
        return []
    apart = abs(counted - header_text_bytes(response))
    return ["0" if apart == 0 else "1 to 4" if apart <= 4 else "5 to 40" if apart <= 40 else "more"]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.recorded_sizes", description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--facts", action="store_true", help="print tests/recordings/files/facts.csv")
    return parser.parse_args()


if __name__ == "__main__":
    asked = arguments()
    main(asked.data_dir, facts=asked.facts)

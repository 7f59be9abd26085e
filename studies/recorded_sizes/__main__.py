"""`python -m studies.recorded_sizes DATA_DIR`: compare sizes in HAR files with those that somebody
else derived of the same files.

DATA_DIR holds har/CORPUS/*.har.gz and har_entries.csv.gz: a row for each entry with the size of its body as
the recording program wrote it, and of header and body together where the program counted it, from a reader of
its own. Writes sizes.csv beside this module.
"""

from __future__ import annotations

import argparse
import collections
import csv
import datetime
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordings import har
from recordings.containers import unpack
from recordings.reading import parse
from recordings.sizes import ResponseSizes
from schema.vocabulary import SIZE_BASES
from studies.csv_table import write_table

Row = dict[str, str]

TABLE = Path(__file__).with_name("sizes.csv")

BASES = (*SIZE_BASES, "not_recorded", "contradictory", "from_cache", "no_response")

AGREEMENTS = ("total_equal", "total_other", "body_equal", "body_other")
"""Entries of known size whose total, or without one whose body, is equal to theirs or another."""


def main(data: Path) -> None:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for producer, sizes, theirs in pairs(data):
        counts[producer][sizes.size_basis or sizes.wire_bytes_unknown or ""] += 1
        if agreement := agreement_of(sizes, theirs):
            counts[producer][agreement] += 1
    write_table(
        TABLE,
        ("producer", *BASES, *AGREEMENTS),
        (
            [producer, *(counter[name] for name in (*BASES, *AGREEMENTS))]
            for producer, counter in sorted(counts.items())
        ),
    )


def pairs(data: Path) -> Iterator[tuple[str, ResponseSizes, Row]]:
    """Yield producer, our sizes and their row for each entry that can be read."""
    rows: dict[tuple[str, str], dict[int, Row]] = collections.defaultdict(dict)
    with gzip.open(data / "har_entries.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["corpus"], row["file"]][int(row["entry"])] = row
    for (corpus, name), theirs in sorted(rows.items()):
        for path in data.glob(f"har/{corpus}/{name}"):
            log: dict[str, Any] = parse(unpack(path.read_bytes(), name), name)["log"]
            for number, entry in enumerate(log["entries"]):
                entry["request"]["url"] = f"{entry['request']['url'].partition('#')[0]}#{number}"
            recording = har.read(log, now=datetime.datetime.now(datetime.UTC))
            for exchange in recording.exchanges:
                yield recording.tool, exchange.sizes, theirs[int(exchange.url.rpartition("#")[2])]


def agreement_of(sizes: ResponseSizes, theirs: Row) -> str | None:
    """Return in a word whether a size equals theirs; None if either is unknown."""
    if sizes.wire_bytes is None:
        return None
    if theirs["wire_total"]:
        return "total_equal" if str(sizes.wire_bytes) == theirs["wire_total"] else "total_other"
    if theirs["body_bytes"] and sizes.body_bytes is not None:
        return "body_equal" if str(sizes.body_bytes) == theirs["body_bytes"] else "body_other"
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    main(parser.parse_args().data)

"""Measures time and memory of `firstflight report build --without-replay` for a release of a million responses.

python -m benchmarks.report [--runs 3] [--responses 1000000]
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import results
from benchmarks.made_up_release import seal_release
from benchmarks.markdown import measured, ranged, table
from releases.build import write_computed
from releases.catalogue import Release
from schema.arrow import arrow_schema
from schema.crawls import CrawlName
from schema.tables import RELEASED, Base

NOW = CrawlName(month="2026-11")
BEFORE = CrawlName(month="2025-11")
RESPONSES_A_PAGE, CONNECTIONS_A_PAGE = 126, 35
"""About as on the bundled pages."""

MOST_S, MOST_MB = 60.0, 2_000.0
"""Bounds of a report of one release on two cores."""

CASES = {
    "one release": (NOW,),
    "beside the release of a year before, of the same size": (NOW, BEFORE),
}

HEAD = """## A report without a replay

`scripts/bench report`: `firstflight report build --without-replay` for a made-up release of {responses:,} responses on {pages:,} pages, all forms of the report
included, in a process of its own; {runs} runs. Bounds for one release: 60 s and 2,000 MB on two cores. Memory is the most that was resident.
"""


def made_up_release(root: Path, crawl: CrawlName, *, responses: int, seed: int) -> Release:
    """Write a release with valid checksums, whose sizes are drawn from log-normal distributions."""
    folder = crawl.path(root, version=1)
    folder.mkdir(parents=True)
    chance = np.random.default_rng(seed)
    for model, columns in zip(
        RELEASED, tables(crawl, max(1, responses // RESPONSES_A_PAGE), chance), strict=True
    ):
        name = model.__tablename__
        pq.write_table(filled(arrow_schema(Base.metadata.tables[name]), columns), folder / f"{name}.parquet")
    return seal_release(folder, crawl, write_computed(folder, crawl.kind))


def tables(crawl: CrawlName, pages: int, chance: np.random.Generator) -> list[dict[str, Any]]:
    """Columns of each table of a release; what is left out is null, or empty where it may not be."""
    visits = np.arange(1, pages + 1)
    hosts = [f"page{visit}.example" for visit in visits]
    of_connection, of_response = (np.repeat(visits, each) for each in (CONNECTIONS_A_PAGE, RESPONSES_A_PAGE))
    connection = np.tile(np.arange(1, CONNECTIONS_A_PAGE + 1), pages)
    response = np.tile(np.arange(1, RESPONSES_A_PAGE + 1), pages)
    its_connection = (response - 1) % CONNECTIONS_A_PAGE + 1
    # Responses of a page are alike, as on the web.
    sizes = (
        100 + chance.lognormal(8.2, 1.6, len(response)) * chance.lognormal(0, 0.7, pages)[of_response - 1]
    ).astype(int)
    key = (of_response - 1) * CONNECTIONS_A_PAGE + its_connection - 1
    payload = np.bincount(key, sizes, len(connection)).astype(int)
    sent = 100_000 + 60_000 * ((response - 1) // CONNECTIONS_A_PAGE)
    whole = np.bincount(of_connection - 1, payload + 3_300, pages).astype(int)
    site = {"rank": visits, "host": hosts, "attempts": np.ones(pages, int), "final_visit_id": visits}
    return [
        {**dataclasses.asdict(crawl), "list_id": ["made-up:1"], "top": [pages], "browser": ["none"]},
        site,
        {
            "id": visits,
            "rank": visits,
            "host": hosts,
            "is_final": np.ones(pages, bool),
            "outcome": ["ok"] * pages,
            "received_bytes": whole,
        },
        {
            "visit_id": of_connection,
            "id": connection,
            "host": [f"host{number}.example" for number in (of_connection * 7 + connection) % (3 * pages)],
            "remote_address": [f"10.{one % 200}.{one % 251}.1" for one in of_connection + connection],
            "protocol": np.where(connection % 5 == 0, "http/1.1", "h2"),
            "tls_version": ["TLS 1.3"] * len(connection),
            "received_bytes": payload + 3_300,
            "decrypted_bytes": payload + 100,
            "tls_handshake_bytes": np.full(len(connection), 3_000),
            "tls_ticket_bytes": np.full(len(connection), 100),
            "frame_bytes": np.full(len(connection), 100),
            "response_count": np.bincount(key, minlength=len(connection)),
            "opened_us": np.zeros(len(connection), int),
            "connected_us": np.full(len(connection), 40_000),
            "secured_us": np.full(len(connection), 80_000),
            "initial_window_segments": np.full(len(connection), 10),
            "segment_bytes": np.full(len(connection), 1_448),
        },
        {
            "visit_id": of_response,
            "id": response,
            "connection_id": its_connection,
            "position": (response - 1) // CONNECTIONS_A_PAGE + 1,
            "wire_bytes": sizes,
            "request_sent_us": sent,
            "first_byte_us": sent + 50_000,
            "last_byte_us": sent + 55_000,
            "is_complete": np.ones(len(response), bool),
        },
    ]


def filled(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    """A table of these columns; others are null, or zero, false or empty where they may not be null."""
    given = {name: [value] if isinstance(value, str) else value for name, value in columns.items()}
    rows = len(next(iter(given.values())))
    empty = {pa.string(): "", pa.bool_(): False}
    made = []
    for field in schema:
        if field.name in given:
            made.append(pa.array(given[field.name]).cast(field.type))
        elif field.nullable:
            made.append(pa.nulls(rows, field.type))
        else:
            made.append(pa.array([empty.get(field.type, 0)] * rows).cast(field.type))
    return pa.table(made, schema=schema)


def build(data_dir: Path) -> dict[str, float]:
    """Build the report once in a process of its own: seconds of wall and CPU time, and MB of memory."""
    program = str(Path(sys.executable).with_name("firstflight"))
    call = [program, "report", "build", "--year", NOW.month[:4], "--crawl", str(NOW), "--without-replay"]
    begun = time.monotonic()
    child = subprocess.Popen(
        call, env=os.environ | {"FIRSTFLIGHT_DATA_DIR": str(data_dir)}, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(call)} ended with {child.returncode}")
    return {
        "wall_s": round(time.monotonic() - begun, 2),
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(used.ru_maxrss * 1024 / 1e6, 1),
    }


def measure(case: str, *, responses: int, runs: int) -> list[dict[str, float]]:
    """Build the report of a case several times, each into an empty folder of reports."""
    with tempfile.TemporaryDirectory(prefix="firstflight-bench-") as made:
        for seed, crawl in enumerate(CASES[case]):
            made_up_release(Path(made) / "releases", crawl, responses=responses, seed=seed)
        found = []
        for run in range(runs):
            found.append(build(Path(made)))
            (Path(made) / "reports").rename(Path(made) / f"reports-{run}")
    return found


def section(facts: dict[str, Any]) -> str:
    """Section of docs/performance.md from report.json."""
    rows = [
        [name, ranged(one["wall_s"], 1), ranged(one["cpu_s"], 1), ranged(one["peak_mb"])]
        for name, one in facts["cases"].items()
    ]
    said = "held" if not misses(facts) else f"missed ({'; '.join(misses(facts))})"
    return "\n".join(
        [
            HEAD.format(**facts),
            table(["", "seconds", "seconds of CPU", "MB"], rows),
            f"The bounds are {said}.\n",
            measured(facts),
        ]
    )


def misses(facts: dict[str, Any]) -> list[str]:
    """Bounds that one release misses in the median."""
    one = facts["cases"]["one release"]
    found = ((one["wall_s"], MOST_S, "s"), (one["peak_mb"], MOST_MB, "MB"))
    return [
        f"{spread['median']:.0f} {unit} of {most:.0f}"
        for spread, most, unit in found
        if spread["median"] > most
    ]


def main() -> int:
    """Measure, write build/bench/report.json and print; returns 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="scripts/bench report", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, choices=range(1, 101), metavar="N")
    parser.add_argument("--responses", type=int, default=1_000_000, metavar="N")
    asked = parser.parse_args()
    facts = results.provenance()
    samples = {name: measure(name, responses=asked.responses, runs=asked.runs) for name in CASES}
    pages = asked.responses // RESPONSES_A_PAGE
    facts |= {"runs": asked.runs, "responses": pages * RESPONSES_A_PAGE, "pages": pages, "samples": samples}
    facts["cases"] = {
        name: {what: results.spread([one[what] for one in some]) for what in some[0]}
        for name, some in samples.items()
    }
    for name, some in samples.items():
        print(name, *some, sep="\n  ")
    print(results.write("report", facts))
    for line in misses(facts):
        print(f"missed: {line}", file=sys.stderr)
    return 1 if misses(facts) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures the service's responses per second under load, and its streams of rows,
compared with Datasette's of the same tables.

python -m benchmarks.service.load --datasette FOLDER/bin/datasette [--seconds 60]
[--clients 200] [--responses 50000000]
"""

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.made_up_release import seal_release
from benchmarks.results import provenance, write
from benchmarks.service import over_a_year
from benchmarks.service import rows as streams_of_rows
from benchmarks.service.servers import READY_WITHIN_S, Memory, serve, serve_datasette
from releases import parquet
from releases.build import write_distribution
from releases.strata.items import SORTED_BY
from schema.computed_tables import DISTRIBUTION, ITEM
from schema.crawls import CrawlName

MONTHS = ("2026-10", "2026-11")
SITES = 10_000
A_PAGE = {
    "responses": 126, "responses_first": 35, "responses_iw_limited": 50, "responses_incomplete": 1, "first_flights": 35, "first_flights_after_tls": 35,  # noqa: E501
    "tls_flights": 30, "connections": 35, "hosts": 30, "pages": 1,
}  # fmt: skip
"""Items of each measure on a page, about as many as in the bundled web; none has a derived size."""

SCRIPT = Path(__file__).with_name("load.lua")

LEAST_CACHED = 1500
MOST_CACHED_MS = 250
MOST_COLD_MS = 1000
MOST_MB = 400
LEAST_STREAM_RATIO = 3.0
"""Minimum of rows a second of a stream, as a multiple of Datasette's."""
MOST_STREAM_MB = 200
PEER_ROWS = 200_000


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """Load by wrk: many clients that send requests without pause."""

    clients: int
    seconds: int

    def put_on(self, address: str, *arguments: str) -> dict[str, Any]:
        """Put the load on a URL; returns what wrk measured."""
        call = ["wrk", "--threads", "1", "--connections", str(self.clients), "--duration", f"{self.seconds}s"]
        call += ["--timeout", "30s", "--script", str(SCRIPT), address, "--", *arguments]
        output = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        figures: dict[str, Any] = json.loads(output.splitlines()[-1])
        return figures | {"answers_per_second": round(figures["answers"] / figures["wall_s"], 1)}


def items(seed: int) -> Iterator[pa.Table]:
    """Yield the items of a month of 10,000 sites, whose sizes are drawn from a log-normal distribution."""
    random = np.random.default_rng(seed)
    for measure in sorted(A_PAGE):
        sizes = random.lognormal(8.5, 2, SITES * A_PAGE[measure]).astype(np.int64) + 100
        order = np.argsort(sizes)
        known = {
            "measure": pa.repeat(measure, len(sizes)),
            "size_bytes": pa.array(sizes[order]),
            "rank": pa.array((order % SITES + 1).astype(np.int32)),
            "page_kind": pa.repeat("home", len(sizes)),
        }
        columns = [
            known[field.name] if field.name in known else pa.nulls(len(sizes), field.type) for field in ITEM
        ]
        yield pa.table(columns, schema=ITEM)


def make_releases(root: Path) -> None:
    """Write releases of two months, with nothing but items and distributions."""
    for seed, month in enumerate(MONTHS):
        crawl = CrawlName(month=month)
        folder = crawl.path(root, version=1)
        folder.mkdir(parents=True)
        parquet.write(folder / "item.parquet", items(seed), ITEM, sorted_by=SORTED_BY)
        write_distribution(folder)
        seal_release(folder, crawl, {"visit": SITES, "response": SITES * A_PAGE["responses"]})


def etag(address: str) -> str:
    """Return the ETag of a resource, which a client sends with its next request."""
    with urllib.request.urlopen(address, timeout=READY_WITHIN_S) as answer:  # noqa: S310  # http
        return answer.headers["ETag"] or ""


def measure_service(folder: Path, load: Load) -> dict[str, Any]:
    """Measure `firstflight serve`: views that are cached, then distributions that are not."""
    crawl = str(CrawlName(month=MONTHS[-1]))
    views = ["/", "/v1/crawls", "/v1/releases", f"/releases/{crawl}/v1", f"/v1/distributions?crawl={crawl}"]
    with serve(folder, folder) as (pid, address), Memory(pid) as memory:
        known = [(path, etag(address + path.removeprefix("/"))) for path in views]
        cached = load.put_on(address, "cached", *(part for view in known for part in view))
        cold = load.put_on(address, "cold", f"/v1/distributions?crawl={crawl}")
    return {"cached": cached, "cold": cold, "peak_mb": round(memory.peak_mb, 1), "views": views}


def measure_datasette(program: str, folder: Path, load: Load) -> dict[str, Any]:
    """Measure Datasette's page of the same steps, in an immutable database, whose counts it caches."""
    (steps,) = (folder / "releases").rglob(f"month={MONTHS[1]}/**/distribution.parquet")
    table = pq.read_table(steps, partitioning=None).select(DISTRIBUTION.names)
    # Without facet suggestions, which take longer than the rest of the page.
    with (
        serve_datasette(program, folder, table, "distribution", "suggest_facets", "off") as (pid, address),
        Memory(pid) as memory,
    ):
        figures = load.put_on(address, "cached", "/distribution/distribution", "")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return {"version": version.split()[-1], "cached": figures, "peak_mb": round(memory.peak_mb, 1)}


def missed(facts: dict[str, Any]) -> list[str]:
    service = facts["service"]
    wrong = {
        f"fewer than {LEAST_CACHED} cached answers a second": facts["cached_answers_per_second"]
        < LEAST_CACHED,
        f"cached p99 above {MOST_CACHED_MS} ms": facts["cached_p99_ms"] > MOST_CACHED_MS,
        f"cold p99 above {MOST_COLD_MS} ms": facts["cold_p99_ms"] > MOST_COLD_MS,
        f"more than {MOST_MB} MB": facts["peak_mb"] > MOST_MB,
        f"streams below {LEAST_STREAM_RATIO:g} times Datasette's rate": facts["stream_ratio_datasette"]
        < LEAST_STREAM_RATIO,
        f"streams with more than {MOST_STREAM_MB} MB": facts["stream_peak_mb"] > MOST_STREAM_MB,
        "answers other than 200 or 304": any(
            service[kind]["refused"] or service[kind]["failed"] for kind in ("cached", "cold")
        ),
    }
    return [miss for miss, is_so in wrong.items() if is_so] + over_a_year.find_misses(facts)


def later_sections(facts: dict[str, Any]) -> str:
    return "\n".join([streams_of_rows.section(facts), over_a_year.section(facts)])


def main() -> int:
    """Measure and write; returns 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="scripts/bench service")
    parser.add_argument("--datasette", required=True, help="its program")
    parser.add_argument("--seconds", type=int, default=60, help="for each kind of load; 5 for a first look")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of a stream")
    parser.add_argument(
        "--responses",
        type=int,
        default=50_000_000,
        help="responses of the made-up year, which is made once and kept in build/",
    )
    options = parser.parse_args()
    load = Load(options.clients, options.seconds)
    facts = provenance()
    with tempfile.TemporaryDirectory(prefix="firstflight-bench-") as temporary:
        folder = Path(temporary)
        make_releases(folder / "releases")
        service = measure_service(folder, load)
        peer = measure_datasette(options.datasette, folder, load)
        shutil.rmtree(folder / "releases")
        streams = streams_of_rows.measure(
            options.datasette, folder, rows=options.rows, peer_rows=min(options.rows, PEER_ROWS)
        )
    facts |= streams | over_a_year.measure_year(responses=options.responses)
    facts |= {
        "clients": load.clients,
        "seconds": load.seconds,
        "cached_answers_per_second": service["cached"]["answers_per_second"],
        "cached_p99_ms": service["cached"]["p99_ms"],
        "cold_answers_per_second": service["cold"]["answers_per_second"],
        "cold_p99_ms": service["cold"]["p99_ms"],
        "peak_mb": service["peak_mb"],
        "service": service,
        "datasette": peer,
        "load_after": os.getloadavg()[0],
    }
    print(json.dumps(facts, indent=2))
    print(later_sections(facts))
    print(write("service", facts), file=sys.stderr)
    for miss in missed(facts):
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed(facts) else 0


if __name__ == "__main__":
    sys.exit(main())

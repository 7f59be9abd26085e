"""Measures the service's streams of rows beside Datasette's streaming CSV of the same rows."""

import statistics
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.made_up_release import seal_release
from benchmarks.service.servers import Memory, serve, serve_datasette
from schema.arrow import arrow_schema
from schema.crawls import CrawlName
from schema.tables import Base

CRAWL = CrawlName(month="2026-11")
FIELDS = (
    "visit_id",
    "id",
    "host",
    "path",
    "protocol",
    "resource_type",
    "status",
    "wire_bytes",
    "first_byte_us",
)
A_PAGE = 126
"""Responses of a page, about as many as in the bundled web."""

RUNS = 3

READ_AT_ONCE = 1 << 16

STREAMS = """Streams: {stream_rows:,} made-up responses ({bytes_per_row} bytes a row in the release's Parquet), nine columns of each, taken whole by one client, three times in turn;
Datasette's streaming CSV (`_stream=on`) has the first {stream_peer_rows:,} of them. Rows a second: CSV {csv:,}, Arrow {arrow:,}, Datasette {datasette:,}: the slower of ours
is {stream_ratio_datasette:.1f} times Datasette's. The service took {stream_peak_mb:,.0f} MB at most.
"""  # noqa: E501


def responses(rows: int) -> pa.Table:
    """Return made-up responses with sizes drawn from a log-normal distribution;
    columns that no question asks for are null."""
    random = np.random.default_rng(1)
    visit, number = np.divmod(np.arange(rows), A_PAGE)
    hosts = pa.array([f"static{number}.example{number % 997}.test" for number in range(20_000)])
    paths = pa.array([f"/assets/{number:x}/bundle-{number % 31}.js" for number in range(50_000)])
    drawn: dict[str, Any] = {
        "crawl_id": np.ones(rows, np.int16),
        "visit_id": visit + 1,
        "id": (number + 1).astype(np.int32),
        "method": _drawn(random, rows, pa.array(["GET"])),
        "scheme": _drawn(random, rows, pa.array(["https"])),
        "host": _drawn(random, rows, hosts),
        "path": _drawn(random, rows, paths),
        "protocol": _drawn(random, rows, pa.array(["h2", "h2", "h3", "http/1.1"])),
        "resource_type": _drawn(random, rows, pa.array(["script", "image", "style", "font", "fetch"])),
        "status": random.choice(np.array([200, 200, 200, 204, 304, 404], np.int16), rows),
        "from_cache": np.zeros(rows, bool),
        "wire_bytes": random.lognormal(8.5, 2, rows).astype(np.int64) + 100,
        "first_byte_us": random.integers(10**5, 10**7, rows),
    }
    schema = arrow_schema(Base.metadata.tables["response"])
    return pa.table(
        [
            pa.array(drawn[field.name], field.type) if field.name in drawn else pa.nulls(rows, field.type)
            for field in schema
        ],
        schema=schema,
    )


def _drawn(random: np.random.Generator, rows: int, values: pa.Array) -> pa.Array:
    return values.take(pa.array(random.integers(0, len(values), rows)))


def make_release(root: Path, table: pa.Table) -> int:
    """Write a release with responses alone; returns the bytes of their file."""
    folder = CRAWL.path(root, version=1)
    folder.mkdir(parents=True)
    path = folder / "response.parquet"
    pq.write_table(table, path, compression="zstd", row_group_size=131_072)
    seal_release(folder, CRAWL, {"response": len(table)})
    return path.stat().st_size


def take_stream(address: str) -> tuple[float, int]:
    """Return the seconds until a stream was taken whole, and its bytes."""
    began, size = time.monotonic(), 0
    with urllib.request.urlopen(address, timeout=600) as answer:  # noqa: S310  # http
        while piece := answer.read(READ_AT_ONCE):
            size += len(piece)
    return time.monotonic() - began, size


def measure(datasette: str, folder: Path, *, rows: int, peer_rows: int) -> dict[str, Any]:
    """Return rows a second as CSV and as Arrow, and those of Datasette's CSV, in turn over the same columns.

    Datasette sends the first `peer_rows` rows alone, because it is slower.
    """
    table = responses(rows)
    stored = make_release(folder / "releases", table)
    asked = f"crawl={CRAWL}&fields={','.join(FIELDS)}"
    rates: dict[str, list[float]] = {}
    with (
        serve(folder, folder, cache="rows-cache") as (pid, ours),
        serve_datasette(
            datasette, folder, table.select(FIELDS).slice(0, peer_rows), "response", "max_csv_mb", "0"
        ) as (_, peer),
    ):
        del table
        take_stream(f"{ours}v1/responses.csv?{asked}&limit=1")
        with Memory(pid) as memory:
            for name, address, number in RUNS * (
                ("csv", f"{ours}v1/responses.csv?{asked}", rows),
                ("arrow", f"{ours}v1/responses.arrow?{asked}", rows),
                ("datasette", f"{peer}response/response.csv?_stream=on", peer_rows),
            ):
                rates.setdefault(name, []).append(number / take_stream(address)[0])
    middle = {name: statistics.median(measured) for name, measured in rates.items()}
    return {
        "stream_rows": rows,
        "stream_peer_rows": peer_rows,
        "stream_rows_per_second": {name: round(rate) for name, rate in middle.items()},
        "stream_ratio_datasette": round(min(middle["csv"], middle["arrow"]) / middle["datasette"], 2),
        "stream_peak_mb": round(memory.peak_mb, 1),
        "bytes_per_row": round(stored / rows, 1),
    }


def section(facts: dict[str, Any]) -> str:
    return STREAMS.format(**facts | facts["stream_rows_per_second"])

"""A made-up year: releases of up to twelve months whose page loads are the bundled recorded pages,
drawn anew with other sizes."""

import dataclasses
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.made_up_release import host_of, seal_release
from releases import parquet
from releases.build import write_distribution
from releases.catalogue import Release, releases
from releases.measures import ARRIVED, open_tables
from releases.strata.items import LEAST_STRATUM, SORTED_BY
from schema.computed_tables import ITEM
from schema.crawls import CrawlName
from schema.recorded import RECORDED, released_schema
from schema.tables import SCHEMA_VERSION

MONTHS = ("2025-12", *(f"2026-{month:02}" for month in range(1, 12)))

VISITS_AT_ONCE = 2_000
"""Page loads that are made at once, which bounds memory."""

SPREAD = 0.25
"""Standard deviation of the logarithm of the factor that a recorded size is multiplied by."""

SIZES = ("wire_bytes", "received_bytes")

KEYS = {"visit": ["id"], "connection": ["visit_id", "id"], "response": ["visit_id", "id"]}

ITEMS = f"""
SELECT 'responses' AS measure, arrived.wire_bytes AS size_bytes, visit.rank, visit.page_kind,
       greatest({LEAST_STRATUM}, 10 ** ceil(log10(visit.rank)))::INTEGER AS rank_stratum, response.protocol, response.resource_type,
       if(response.host = visit.final_host, 'first', 'third') AS party
FROM arrived JOIN response USING (visit_id, id) JOIN visit ON visit.id = visit_id WHERE is_whole
ORDER BY size_bytes NULLS LAST, rank
"""  # noqa: E501, S608
"""The items of the measure `responses`. A host other than the page's own counts as a third party."""


@dataclasses.dataclass(frozen=True, slots=True)
class Blocks:
    """The rows of a table, each page's one after the other."""

    table: pa.Table
    begins: NDArray[np.int64]
    counts: NDArray[np.int64]

    def drawn(self, pages: NDArray[np.int64]) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return the rows of each of `pages`, and for each row its place in `pages`."""
        counts = self.counts[pages]
        owners = np.repeat(np.arange(len(pages)), counts)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.table.take(pa.array(self.begins[pages][owners] + within)), owners


def year(
    folder: Path, source: Callable[[], Release], *, responses: int, months: Sequence[str] = MONTHS
) -> list[Release]:
    """Return the releases of the months, of about `responses` responses in all, below a folder; made unless
    they are there.

    `source` gives the release whose page loads are drawn.
    """
    done = folder / "made"
    facts = f"{responses} responses, {len(months)} months, schema {SCHEMA_VERSION}, with sites"
    if not done.exists() or done.read_text(encoding="utf-8") != facts:
        shutil.rmtree(folder, ignore_errors=True)
        _make(folder / "releases", source(), responses // len(months), months)
        done.write_text(facts, encoding="utf-8")
    return list(releases(folder / "releases"))


def _make(root: Path, source: Release, responses: int, months: Sequence[str]) -> None:
    blocks = {name: _blocks(source, name) for name in KEYS}
    # A site has the same page in every month.
    random = np.random.default_rng(1)
    counts = blocks["response"].counts
    pages = random.integers(0, len(counts), 10 + int(2 * responses / counts.mean()))
    sites = int(np.searchsorted(np.cumsum(counts[pages]), responses)) + 1
    began = time.monotonic()
    for number, month in enumerate(months, start=1):
        _month(root, CrawlName(month=month), blocks, pages[:sites], seed=number)
        taken = time.monotonic() - began
        left = taken / number * (len(months) - number)
        print(f"made {month}, {number} of {len(months)}: {left:.0f} s left", file=sys.stderr)


def _blocks(source: Release, name: str) -> Blocks:
    table = pq.read_table(source.file(name), partitioning=None)
    pages = pq.read_table(source.file("visit"), columns=["id"], partitioning=None)["id"].to_numpy()
    owners = table["id" if name == "visit" else "visit_id"].to_numpy()
    begins, ends = (np.searchsorted(owners, pages, side=side) for side in ("left", "right"))
    return Blocks(table.combine_chunks(), begins, ends - begins)


def _month(
    root: Path, crawl: CrawlName, blocks: dict[str, Blocks], pages: NDArray[np.int64], *, seed: int
) -> None:
    folder = crawl.path(root, version=1)
    folder.mkdir(parents=True)
    rows = {}
    for name, keys in KEYS.items():
        schema = released_schema(name, RECORDED)
        random = np.random.default_rng([seed, len(name)])
        pieces = (_piece(name, blocks[name], pages, begin, random, schema) for begin in _begins(len(pages)))
        rows[name] = parquet.write(folder / f"{name}.parquet", pieces, schema, sorted_by=keys)
    with open_tables(folder) as database:
        database.execute(f"CREATE VIEW arrived AS {ARRIVED}")
        reader = database.sql(ITEMS).to_arrow_reader(parquet.GROUP_ROWS)
        items = (pa.Table.from_batches([batch]).cast(ITEM) for batch in reader)
        rows["item"] = parquet.write(folder / "item.parquet", items, ITEM, sorted_by=SORTED_BY)
    rows["distribution"] = write_distribution(folder)
    seal_release(folder, crawl, rows)


def _begins(sites: int) -> Iterator[int]:
    return iter(range(0, sites, VISITS_AT_ONCE))


def _piece(
    name: str,
    blocks: Blocks,
    pages: NDArray[np.int64],
    begin: int,
    random: np.random.Generator,
    schema: pa.Schema,
) -> pa.Table:
    """Return the rows of some visits: a site's rank is also the number of its visit."""
    table, owners = blocks.drawn(pages[begin : begin + VISITS_AT_ONCE])
    ranks = owners + begin + 1
    values: dict[str, pa.Array] = {"crawl_id": pa.array(np.ones(len(ranks), np.int16))}
    if name == "visit":
        values |= {"id": pa.array(ranks), "rank": pa.array(ranks), "host": pa.array(map(host_of, ranks))}
    else:
        values["visit_id"] = pa.array(ranks)
    for column in set(SIZES) & set(table.column_names):
        factors = random.lognormal(0, SPREAD, len(table))
        values[column] = pc.round(pc.multiply(table[column].cast(pa.float64()), pa.array(factors)))
    columns = [values[field.name] if field.name in values else table[field.name] for field in schema]
    return pa.table(
        [column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )

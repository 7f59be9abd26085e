"""Sites, manifest and checksums of a release whose other files a benchmark has made up."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from releases.catalogue import Manifest, Release, VersionRecord
from releases.strata.party import list_version
from schema.crawls import CrawlName
from schema.recorded import released_schema
from schema.tables import SCHEMA_VERSION
from storage.sums import seal, sums_now


def host_of(rank: int) -> str:
    return f"site-{rank}.example"


def seal_release(folder: Path, crawl: CrawlName, rows: Mapping[str, int]) -> Release:
    """Make a folder of files version 1 of the crawl's release, with as many sites as it has visits."""
    ranks = range(1, rows.get("visit", 0) + 1)
    sites = {"rank": pa.array(ranks, pa.int32()), "host": pa.array(map(host_of, ranks), pa.string())}
    declared = [(field.name, field.type) for field in released_schema("site", crawl.kind)]
    columns = [sites[name] if name in sites else pa.nulls(len(ranks), kind) for name, kind in declared]
    pq.write_table(pa.table(columns, schema=pa.schema(declared)), folder / "site.parquet")
    manifest = Manifest(
        crawl=crawl,
        version=1,
        schema_version=SCHEMA_VERSION,
        method_version="1",
        commit="0" * 40,
        browser="none",
        list_id="made-up:1",
        list_checksum="00" * 32,
        licence="CC-BY-4.0",
        rows=dict(rows),
        files=sums_now(folder),
        packets={},
        history=(VersionRecord(version=1, date=None, reason=None),),
        public_suffix_list=list_version(),
    )
    seal(folder, manifest.facts)
    return Release(folder, manifest)

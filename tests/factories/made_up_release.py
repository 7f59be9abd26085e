"""Makes releases from any files, with valid manifest and checksums."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from releases.catalogue import Manifest, Release, VersionRecord
from schema.crawls import CrawlName
from schema.tables import SCHEMA_VERSION
from storage.sums import seal, sums_now


def make_manifest(crawl: CrawlName, *, version: int = 1, **facts: Any) -> Manifest:
    """Make a manifest of no files, with other `facts` where they are given."""
    manifest = Manifest(
        crawl=crawl,
        version=version,
        schema_version=SCHEMA_VERSION,
        method_version="1",
        commit="0123456789abcdef",
        browser="Chromium 156",
        list_id="made-up:1",
        list_checksum="ab" * 32,
        licence="CC-BY-4.0",
        rows={},
        files={},
        packets={},
        history=(VersionRecord(version=version, date=None, reason=None),),
        public_suffix_list="made up",
    )
    return dataclasses.replace(manifest, **facts)


def make_release(
    folder: Path, crawl: CrawlName, *, version: int = 1, rows: Mapping[str, int], **facts: Any
) -> Release:
    """Make a release of the files in `folder`, with `facts` in its manifest."""
    manifest = make_manifest(crawl, version=version, rows=dict(rows), files=sums_now(folder), **facts)
    seal(folder, manifest.facts)
    return Release(folder, manifest)


def smallest_release(root: Path, crawl: CrawlName, *, version: int = 1, **facts: Any) -> Release:
    """One file, below the folder of releases."""
    folder = crawl.path(root, version=version)
    folder.mkdir(parents=True)
    (folder / "visit.parquet").write_bytes(b"PAR1")
    return make_release(folder, crawl, version=version, rows={"visit": 0}, **facts)

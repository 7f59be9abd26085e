"""Manifest and checksums of a release whose files a benchmark has made up."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from releases.catalogue import Manifest, Release
from schema.crawls import CrawlName
from storage.sums import seal, sums_now


def seal_release(
    folder: Path,
    crawl: CrawlName,
    *,
    schema_version: int,
    rows: Mapping[str, int],
    public_suffix_list: str | None = None,
) -> Release:
    """Make a folder of files version 1 of the crawl's release; one with strata states its Public Suffix List."""
    manifest = Manifest(
        crawl=crawl,
        version=1,
        schema_version=schema_version,
        method_version="1",
        commit="0" * 40,
        browser="none",
        list_id="made-up:1",
        list_checksum="00" * 32,
        licence="CC-BY-4.0",
        rows=dict(rows),
        public_suffix_list=public_suffix_list,
        files=sums_now(folder),
    )
    seal(folder, dataclasses.asdict(manifest))
    return Release(folder, manifest)

"""Releases of whatever files there are: manifest and sums that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema.releases import MANIFEST, SUMS, CrawlName, Manifest, Release, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def make_release(folder: Path, crawl: CrawlName, *, version: int = 1, rows: Mapping[str, int]) -> Release:
    """What lies in `folder` becomes a release."""
    files = {path.name: sha256(path) for path in sorted(folder.iterdir())}
    manifest = Manifest(
        crawl=crawl,
        version=version,
        schema_version=1,
        method_version="1",
        commit="0123456789abcdef",
        browser="Chromium 156",
        list_id="made-up:1",
        list_checksum="ab" * 32,
        licence="CC-BY-4.0",
        rows=dict(rows),
        files=files,
    )
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    summed = {**files, MANIFEST: sha256(folder / MANIFEST)}
    sums = "".join(f"{checksum}  {name}\n" for name, checksum in sorted(summed.items()))
    (folder / SUMS).write_text(sums, encoding="utf-8")
    return Release(folder, manifest)


def smallest_release(root: Path, crawl: CrawlName, *, version: int = 1) -> Release:
    """One file, below the folder of releases."""
    folder = crawl.path(root, version=version)
    folder.mkdir(parents=True)
    (folder / "visit.parquet").write_bytes(b"PAR1")
    return make_release(folder, crawl, version=version, rows={"visit": 0})

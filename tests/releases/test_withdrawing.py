from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases import withdrawing
from releases.catalogue import Release, Withdrawn, read_release, read_version
from releases.verify import verify
from storage.withdrawal import Withdrawal
from tests.factories.made_up_crawl import NAME

OLD = Path(__file__).with_name("stored") / "schema-1"


def in_ascii(folder: Path) -> Release:
    """The stored old release with valid hosts, since its own are no A-labels."""
    shutil.copytree(OLD, folder)
    old = read_release(folder)
    for table in ("site", "visit", "connection", "response"):
        rows = pq.read_table(old.file(table), partitioning=None)
        for place, field in enumerate(rows.schema):
            if pa.types.is_string(field.type):
                rows = rows.set_column(place, field, pc.replace_substring(rows[field.name], "\u00fc", "u"))
        pq.write_table(rows, old.file(table))
    return old


def test_a_site_is_withdrawn_from_a_release_of_an_older_schema_version(tmp_path: Path) -> None:
    old = in_ascii(tmp_path / "old")
    host = pq.read_table(old.file("site"), partitioning=None)["host"].to_pylist()[0]
    site = Withdrawal(host=host, key="ab" * 32)
    assert withdrawing.has_site(old, site)
    place = old.crawl.path(tmp_path / "releases", version=2)
    new = withdrawing.without_site(old, site, place, version=2)
    assert not withdrawing.has_site(new, site)
    assert [check for check in verify(new, None) if not check.holds] == []
    assert new.manifest.schema_version == old.manifest.schema_version
    for table in ("site", "visit", "connection", "response"):
        before, after = pq.read_schema(old.file(table)), pq.read_schema(new.file(table))
        assert after.equals(before, check_metadata=True), table


def test_a_version_is_withdrawn_as_soon_as_its_tombstone_exists(tmp_path: Path) -> None:
    folder = NAME.path(tmp_path, version=1)
    folder.parent.mkdir(parents=True)
    shutil.copytree(OLD, folder)
    withdrawing.lay_tombstone(folder, NAME, version=1)
    assert read_version(folder) == Withdrawn(path=folder, crawl=NAME, version=1)
    (folder / "response.parquet").touch()  # as after a kill
    withdrawing.finish_tombstones(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["tombstone.json"]
    assert json.loads((folder / "tombstone.json").read_text())["version"] == 1

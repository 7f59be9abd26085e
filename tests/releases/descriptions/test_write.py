"""What a release carries to describe itself, read by the programs that it is for."""

import csv
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from releases.build import build
from releases.catalogue import Release, read_release
from releases.descriptions.documents import snapshot
from releases.descriptions.write import MOST_PAGES, describe, write_sample
from releases.verify import verify
from schema.tables import RELEASED
from tests.conftest import with_tables
from tests.factories import stored_crawl
from tests.firstflight.commands.served import served
from tests.releases.citation.cff_schema import valid_cff
from tests.releases.test_verify import resum

pytestmark = pytest.mark.process

STORED = Path(__file__).parents[1] / "stored" / "schema-1"

DESCRIPTIONS = {
    "CITATION.cff", "changelog.md", "croissant.json", "data-changelog.md", "dictionary.html", "method.md",
    "sample.csv",
}  # fmt: skip
MOST_BYTES = 600_000
TABLES = [*(model.__tablename__ for model in RELEASED), "item", "distribution"]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory, embedded_server: str) -> Iterator[list[Release]]:
    """A crawl of live sites released twice, in two folders, and its second version."""
    with with_tables(embedded_server) as engine:
        stored_crawl.store(engine, stored_crawl.typical())
        with engine.begin() as connection:
            connection.execute(text("UPDATE crawl SET kind = 'web'"))
        first, other = (tmp_path_factory.mktemp(name) for name in ("one", "other"))
        yield [
            build(engine, "2026-11", first).release,
            build(engine, "2026-11", other).release,
            build(engine, "2026-11", first, version=2, reason="sizes were <null>").release,
        ]


@pytest.fixture
def release(releases: list[Release]) -> Release:
    return releases[0]


def read(release: Release, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((release.path / name).read_text(encoding="utf-8"))
    return content


def test_a_release_carries_its_descriptions_and_they_are_small(release: Release) -> None:
    assert {path.name for path in release.path.iterdir()} >= DESCRIPTIONS
    assert release.manifest.files.keys() >= DESCRIPTIONS
    assert sum((release.path / name).stat().st_size for name in DESCRIPTIONS) < MOST_BYTES


def test_a_second_build_gives_the_same_bytes(releases: list[Release]) -> None:
    first, other = (
        {path.name: path.read_bytes() for path in release.path.iterdir()} for release in releases[:2]
    )
    assert first == other


def test_the_croissant_is_valid_by_mlcroissant(release: Release, caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it imports warns
        import mlcroissant  # it takes seconds

        dataset = mlcroissant.Dataset(jsonld=read(release, "croissant.json"))
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    assert str(dataset.metadata.ctx.conforms_to.value).endswith("croissant/1.1")
    assert [record_set.uuid for record_set in dataset.metadata.record_sets] == sorted(TABLES)
    assert {file.name: file.sha256 for file in dataset.metadata.distribution} == {
        f"{table}.parquet": release.manifest.files[f"{table}.parquet"] for table in TABLES
    }
    assert not [record for record in caplog.records if "not standard" in record.message]


LOAD = """
import sys, mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
for records in dataset.metadata.record_sets:
    print(records.uuid, len(next(iter(dataset.records(record_set=records.uuid)))))
"""
"""Prints each set of records with the number of fields of its first record."""


def load(croissant: Path | str, cache: Path) -> dict[str, int]:
    """The record sets that mlcroissant reads, with the number of fields of the first record of each."""
    call = [sys.executable, "-W", "ignore", "-c", LOAD, str(croissant)]
    environment = {**os.environ, "CROISSANT_CACHE": str(cache)}
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return {name: int(fields) for name, fields in map(str.split, done.stdout.splitlines())}


def columns_of(release: Release) -> dict[str, int]:
    return {name: len(pq.read_schema(release.file(name)).names) for name in sorted(TABLES)}


def test_mlcroissant_reads_a_record_of_every_table_from_the_folder(release: Release, tmp_path: Path) -> None:
    assert load(release.path / "croissant.json", tmp_path) == columns_of(release)


def test_mlcroissant_reads_a_record_of_every_table_by_address_also_of_an_earlier_schema_version(
    release: Release, tmp_path: Path
) -> None:
    earlier = read_release(STORED)
    for one in (release, earlier):
        shutil.copytree(one.path, one.crawl.path(tmp_path / "releases", version=1))
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    with served(environment) as address:
        for one in (release, earlier):
            folder = f"{address}releases/{one.crawl}/v1"
            assert load(f"{folder}/croissant.json", tmp_path / "downloads") == columns_of(one)
            with urllib.request.urlopen(f"{folder}/files/croissant.json") as answer:
                assert answer.read() == (one.path / "croissant.json").read_bytes()


def test_the_sample_has_final_visits_of_the_release(release: Release) -> None:
    visits = pq.read_table(release.file("visit"), partitioning=None).to_pylist()
    final = {str(visit["id"]): visit["host"] for visit in visits if visit["is_final"]}
    with (release.path / "sample.csv").open(newline="", encoding="utf-8") as file:
        assert {row["id"]: row["host"] for row in csv.DictReader(file)} == final


def test_a_sample_has_at_most_a_thousand_pages_of_all_ranks(release: Release, tmp_path: Path) -> None:
    (visit, *_) = pq.read_table(release.file("visit"), partitioning=None).to_pylist()
    rows = [{**visit, "id": number, "rank": number, "is_final": True} for number in range(3000)]
    schema = pq.read_schema(release.file("visit"))
    pq.write_table(
        pq.ParquetFile(release.file("visit")).read().from_pylist(rows, schema=schema),
        tmp_path / "visit.parquet",
    )
    write_sample(tmp_path / "visit.parquet", tmp_path / "sample.csv")
    with (tmp_path / "sample.csv").open(newline="", encoding="utf-8") as file:
        ranks = [int(row["rank"]) for row in csv.DictReader(file)]
    assert len(set(ranks)) == len(ranks) == MOST_PAGES
    # By MD5 of fixed names the same at each run: a third of them, give or take what chance would.
    assert 250 < sum(rank < 1000 for rank in ranks) < 420


def test_the_citation_is_valid_and_of_this_version(releases: list[Release]) -> None:
    for release in releases:
        citation = valid_cff((release.path / "CITATION.cff").read_text(encoding="utf-8"))
        assert citation["version"] == str(release.version)


def test_an_illustrative_release_has_no_citation(
    tmp_path_factory: pytest.TempPathFactory, embedded_server: str
) -> None:
    with with_tables(embedded_server) as engine:
        stored_crawl.store(engine, stored_crawl.typical(sites=1))
        release = build(engine, "2026-11", tmp_path_factory.mktemp("illustrative")).release
    assert {path.name for path in release.path.iterdir()} & DESCRIPTIONS == DESCRIPTIONS - {"CITATION.cff"}


def test_the_changelog_says_why_each_version_was_made(releases: list[Release]) -> None:
    lines = (releases[2].path / "changelog.md").read_text().splitlines()
    versions = [line for line in lines if line.startswith("- ")]
    assert [line.split(",")[0] for line in versions] == ["- Version 2", "- Version 1"]
    assert versions[0].endswith(": sizes were <null>")
    assert versions[1].endswith(": the first")


def test_the_method_is_that_of_the_build_and_stays_when_a_version_is_built_again(
    release: Release, tmp_path: Path
) -> None:
    assert (release.path / "method.md").read_text(encoding="utf-8") == snapshot("methods.md")
    assert (release.path / "data-changelog.md").read_text(encoding="utf-8") == snapshot("data-changelog.md")
    again, older = (shutil.copytree(release.path, tmp_path / name) for name in ("again", "older"))
    (again / "method.md").unlink()
    (older / "method.md").write_text("# An older method\n")
    data = {name: sha for name, sha in release.manifest.files.items() if name not in DESCRIPTIONS}
    describe(again, dataclasses.replace(release.manifest, files=data), like=older)
    assert (again / "method.md").read_text() == "# An older method\n"
    assert (again / "croissant.json").read_bytes() == (release.path / "croissant.json").read_bytes()


def test_the_dictionary_as_a_page_defines_every_column(release: Release) -> None:
    page = (release.path / "dictionary.html").read_text(encoding="utf-8")
    for name in TABLES:
        assert f'<h2 id="{name}">' in page
        for column in pq.read_schema(release.file(name)).names:
            assert f"<td>{column}</td>" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("croissant.json", '"contentSize": "', '"contentSize": "1'),
        ("croissant.json", '"sha256": "', '"sha256": "0'),
        ("croissant.json", '"column": "wire_bytes"', '"column": "bytes"'),
        ("croissant.json", '"recordSet"', '"sets"'),
        ("croissant.json", "{", "["),
        ("sample.csv", ".test", ".example"),
    ],
)
def test_a_description_of_other_data_does_not_verify(
    release: Release, tmp_path: Path, name: str, old: str, new: str
) -> None:
    copy = Release(shutil.copytree(release.path, tmp_path / "version=1"), release.manifest)
    assert all(check.holds for check in verify(copy, None))
    changed = (copy.path / name).read_text(encoding="utf-8").replace(old, new)
    (copy.path / name).write_text(changed, encoding="utf-8")
    failed = [check.name for check in verify(resum(copy), None) if not check.holds]
    assert failed == ["its descriptions describe it"]

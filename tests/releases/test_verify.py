import dataclasses
import json
import os
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, text

from releases.build import build
from releases.catalogue import Release, read_release
from releases.descriptions.write import describe
from releases.verify import Check, verify
from storage.sums import sha256
from tests.circles import thorough
from tests.conftest import with_tables
from tests.factories import stored_crawl

STORED = Path(__file__).parent / "stored" / "schema-1"

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory, embedded_server: str) -> Release:
    with with_tables(embedded_server) as engine:
        stored_crawl.store(engine, stored_crawl.typical())
        return build(engine, "2026-11", tmp_path_factory.mktemp("releases")).release


@pytest.fixture
def release(pristine: Release, tmp_path: Path) -> Release:
    return Release(shutil.copytree(pristine.path, tmp_path / "version=1"), pristine.manifest)


def failed(release: Release, engine: Engine | None = None) -> dict[str, str]:
    return {check.name: check.evidence for check in verify(release, engine) if not check.holds}


def fails(release: Release, name: str) -> bool:
    """Whether a check fails on a release whose checksums are right; the checks after it are not made."""
    for check in verify(release, None):
        if check.name == name:
            return not check.holds
        assert check.holds or check.name != "checksums"
    raise AssertionError(f"no check {name!r}")


def forge(release: Release, table: str, sql: str) -> Release:
    """Replace a table by a query over it, and update descriptions, checksums and the manifest."""
    path = release.file(table)
    schema = pq.read_schema(path)
    with duckdb.connect() as database:
        database.read_parquet(str(path), hive_partitioning=False).create_view(table)
        changed: pa.Table = database.sql(sql).to_arrow_table()
    pq.write_table(changed.select(schema.names).cast(schema), path)
    files = {name: sha256(release.path / name) for name in release.manifest.files}
    describe(release.path, dataclasses.replace(release.manifest, files=files), like=release.path)
    return resum(release)


def resum(release: Release) -> Release:
    facts = json.loads((release.path / "manifest.json").read_text())
    facts["files"] = {name: sha256(release.path / name) for name in facts["files"]}
    facts["rows"] = {table: pq.read_metadata(release.file(table)).num_rows for table in facts["rows"]}
    (release.path / "manifest.json").write_text(json.dumps(facts))
    names = sorted(path.name for path in release.path.iterdir() if path.name != "SHA256SUMS")
    (release.path / "SHA256SUMS").write_text(
        "".join(f"{sha256(release.path / name)}  {name}\n" for name in names)
    )
    return read_release(release.path)


def test_a_sound_release_passes_every_check(release: Release) -> None:
    checks = list(verify(release, None))
    assert [check for check in checks if not check.holds] == []
    assert len({check.name for check in checks}) == len(checks) > 15


def test_a_column_of_the_crawlers_queue_is_declared_in_releases_of_schema_version_1_alone(
    release: Release,
) -> None:
    (release.path / "site.parquet").write_bytes((STORED / "site.parquet").read_bytes())
    assert failed(release)["columns"] == "not as declared: site"
    earlier = dataclasses.replace(release.manifest, schema_version=1)
    assert "columns" not in failed(Release(release.path, earlier))


def test_counts_are_compared_with_postgresql(database: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database, stored_crawl.typical())
    release = build(database, "2026-11", tmp_path).release
    assert failed(release, database) == {}
    with database.begin() as connection:
        connection.execute(text("DELETE FROM response WHERE visit_id = 1 AND id = 1"))
    (evidence,) = failed(release, database).values()
    rows = release.manifest.rows["response"]
    assert evidence == f"response: {rows - 1:,} in PostgreSQL, {rows:,} in the manifest"


def test_a_crawl_that_postgresql_lacks_is_not_verified_against_it(
    release: Release, database_18: Engine
) -> None:
    (evidence,) = failed(release, database_18).values()
    assert "no crawl" in evidence
    assert "--offline" in evidence


@pytest.mark.parametrize(
    "table",
    ["response", "distribution", *thorough("crawl", "site", "visit", "connection", "item")],
)
def test_one_flipped_byte_is_found(release: Release, table: str) -> None:
    content = bytearray(release.file(table).read_bytes())
    content[len(content) // 3] ^= 0x55
    release.file(table).write_bytes(content)
    assert failed(release)["checksums"] == f"{table}.parquet is not"


@pytest.mark.parametrize("length", [0, 1000, *thorough(3, 4)])
def test_a_cut_file_fails_its_checks_and_raises_nothing(release: Release, length: int) -> None:
    content = release.file("response").read_bytes()
    release.file("response").write_bytes(content[:length])
    names = failed(release)
    assert {"checksums", "columns", "every response's visit exists", "keys of response are unique"} <= set(
        names
    )
    assert "every visit's site exists" not in names
    assert all("\n" not in name for name in names.values())


def test_a_missing_and_a_foreign_file_are_found(release: Release) -> None:
    release.file("site").unlink()
    (release.path / "notes.txt").write_text("mine")
    evidence = failed(release)["checksums"]
    assert "site.parquet is not" in evidence
    assert "notes.txt is not" in evidence


def test_a_pipe_in_the_place_of_a_table_is_found_and_not_read(release: Release) -> None:
    release.file("visit").unlink()
    os.mkfifo(release.file("visit"))
    (checksums,) = verify(release, None)
    assert (checksums.holds, checksums.evidence) == (False, "visit.parquet is not")


def test_missing_sums_are_found(release: Release) -> None:
    (release.path / "SHA256SUMS").unlink()
    assert failed(release) == {"checksums": "SHA256SUMS is not"}


def test_a_manifest_that_disagrees_with_the_sums_is_found(release: Release) -> None:
    manifest = release.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace("CC-BY-4.0", "CC0-1.0"))
    assert failed(read_release(release.path)) == {"checksums": "manifest.json is not"}


def test_rows_that_the_manifest_does_not_know_are_found(release: Release) -> None:
    manifest = release.path / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["rows"]["visit"] += 1
    manifest.write_text(json.dumps(facts))
    assert "rows are as many as the manifest says" in failed(read_release(release.path))


@pytest.mark.parametrize(
    ("table", "sql", "check"),
    [
        ("response", "FROM response UNION ALL (FROM response LIMIT 1)", "keys of response are unique"),
        ("visit", "FROM visit UNION ALL (FROM visit LIMIT 1)", "keys of visit are unique"),
        ("visit", "FROM visit WHERE id <> 1", "every response's visit exists"),
        ("visit", "FROM visit WHERE id <> 1", "every connection's visit exists"),
        ("visit", "FROM visit WHERE id <> 1", "every site's final visit exists"),
        ("site", "FROM site WHERE rank <> 1", "every visit's site exists"),
        ("connection", "FROM connection WHERE visit_id <> 1", "every response's connection exists"),
        ("connection", "SELECT * REPLACE (received_bytes + 1 AS received_bytes) FROM connection", "received_bytes of a visit is the sum of its connections'"),  # noqa: E501
        ("site", "SELECT * REPLACE ((crawl_id + 1)::SMALLINT AS crawl_id) FROM site", "all rows are of one crawl"),  # noqa: E501
        ("visit", "SELECT * REPLACE ('fine' AS outcome) FROM visit", "every outcome is a known one"),
        ("visit", "SELECT * REPLACE ('network_down' AS outcome) FROM visit", "no visit that was given back is final"),  # noqa: E501
        ("visit", "SELECT * REPLACE (2::SMALLINT AS load) FROM visit", "every final visit is the first load of its home page"),  # noqa: E501
        ("visit", "SELECT * REPLACE ('inner' AS page_kind) FROM visit", "every final visit is the first load of its home page"),  # noqa: E501
        ("visit", "SELECT * REPLACE (0.98 AS decrypted_coverage) FROM visit", "is_covered is false exactly where coverage is under its floor"),  # noqa: E501
        ("response", "SELECT * REPLACE (NULL::BIGINT AS wire_bytes) FROM response", "wire_bytes is null exactly where wire_bytes_unknown says why"),  # noqa: E501
        ("response", "SELECT * REPLACE (CASE WHEN wire_bytes IS NULL THEN 'because' END AS "
            "wire_bytes_unknown) FROM response", "wire_bytes is null exactly where wire_bytes_unknown says why"),  # noqa: E501
        ("response", "SELECT * REPLACE ('unseen' AS wire_bytes_unknown) FROM response", "wire_bytes is null exactly where wire_bytes_unknown says why"),  # noqa: E501
        ("response", "SELECT * REPLACE (true AS is_complete) FROM response", "is_complete is said only of what arrived"),  # noqa: E501
        ("response", "SELECT * REPLACE (NULL::BOOLEAN AS no_cache) FROM response", "a header's freshness is known as a whole or not at all"),  # noqa: E501
        ("response", "SELECT * REPLACE ('weather' AS lifetime_by) FROM response", "a header's freshness is known as a whole or not at all"),  # noqa: E501
        ("response", "SELECT * REPLACE (-1::INTEGER AS age_s) FROM response", "a header's freshness is known as a whole or not at all"),  # noqa: E501
    ],
)  # fmt: skip
def test_each_rule_between_rows_can_fail(release: Release, table: str, sql: str, check: str) -> None:
    assert fails(forge(release, table, sql), check)


RISING = "CDFs rise with size and end at exactly 1"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * REPLACE (least(cdf, 0.9999999999) AS cdf) FROM distribution",
        "SELECT * REPLACE (CASE WHEN measure = 'pages' THEN 1 - cdf ELSE cdf END AS cdf) FROM distribution",
        "SELECT * REPLACE (cumulative + 1 AS cumulative) FROM distribution",
        "SELECT * REPLACE (NULL::DOUBLE AS cdf) FROM distribution",
        "SELECT * REPLACE ('nan'::DOUBLE AS cdf) FROM distribution",
        "SELECT * REPLACE ('cookies' AS measure) FROM distribution",
        "FROM distribution ORDER BY measure, size_bytes DESC",
        "FROM distribution WHERE NOT (measure = 'responses' AND cdf = 1)",
    ],
)
def test_an_invalid_cdf_is_found(release: Release, sql: str) -> None:
    assert fails(forge(release, "distribution", sql), RISING)


ITEMS = "items follow from the observations"
DISTRIBUTIONS = "distributions follow from the observations"


def test_items_that_do_not_follow_from_the_rows_are_found(release: Release) -> None:
    changed = "SELECT * REPLACE (wire_bytes + 1 AS wire_bytes) FROM response"
    assert failed(forge(release, "response", changed)).keys() == {ITEMS}


def test_items_in_another_stratum_are_found(release: Release) -> None:
    changed = "SELECT * REPLACE ('h3' AS protocol) FROM item"
    assert failed(forge(release, "item", changed)).keys() == {ITEMS}


def test_a_distribution_that_does_not_follow_from_the_items_is_found(release: Release) -> None:
    changed = "SELECT * FROM item OFFSET 1"
    assert failed(forge(release, "item", changed)).keys() == {ITEMS, DISTRIBUTIONS}


def test_parties_by_another_public_suffix_list_are_not_compared(release: Release) -> None:
    path = release.path / "manifest.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps(facts | {"public_suffix_list": "an older one"}))
    changed = "SELECT * REPLACE (if(party = 'first', 'third', 'first') AS party) FROM item"
    older = forge(release, "item", changed)
    evidence = {check.name: check.evidence for check in verify(older, None)}
    assert failed(older) == {}
    assert "without their parties, which are by an older one" in evidence[ITEMS]


def test_an_undeclared_type_is_found(release: Release) -> None:
    table = pq.read_table(release.file("crawl"), partitioning=None)
    place = table.schema.get_field_index("top")
    pq.write_table(
        table.set_column(place, "top", table.column("top").cast(pa.int64())), release.file("crawl")
    )
    evidence = failed(resum(release))["columns"]
    assert evidence == "not as declared: crawl"


def test_a_check_has_a_name_a_result_and_a_line_of_evidence(release: Release) -> None:
    first = next(verify(release, None))
    assert first == Check("checksums", holds=True, evidence="15 files are as in SHA256SUMS")

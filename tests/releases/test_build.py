import datetime
import json
import resource
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, text

from releases.build import build
from releases.catalogue import ReleaseError, find_release
from releases.observations import open_adbc, statement
from releases.parquet import regroup, write
from releases.verify import verify
from schema.arrow import arrow_schema
from schema.released_tables import RETIRED
from schema.tables import RELEASED, Base
from storage.crawls import CrawlNotFound
from storage.engine import connect
from storage.sums import broken_sums
from tests.factories import stored_crawl
from tests.factories.made_up_crawl import NAME, MadeUp


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_release_holds_every_row_of_the_crawl_in_the_order_of_its_keys(
    database: Engine, tmp_path: Path
) -> None:
    made_up = stored_crawl.typical()
    stored_crawl.store(database, made_up)
    release = build(database, "2026-11", tmp_path).release
    for model in RELEASED:
        table = Base.metadata.tables[model.__tablename__]
        stored = pq.read_table(release.file(table.name), partitioning=None)
        retired = RETIRED.get(table.name, {})
        assert stored.schema.equals(arrow_schema(table), check_metadata=False)
        key = [column.name for column in table.primary_key]
        expected = [
            {name: value for name, value in row.items() if name not in retired}
            for row in sorted(made_up.rows()[table.name], key=lambda row: [row[name] for name in key])
        ]
        assert stored.to_pylist() == expected
        assert release.manifest.rows[table.name] == len(expected)
    assert len(made_up.response) > 50
    assert all(check.holds for check in verify(release, database))


def test_the_manifest_describes_the_release(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical())
    built = build(database_18, str(NAME), tmp_path)
    release = built.release
    assert built.is_new
    assert release.path == NAME.path(tmp_path, version=1)
    assert find_release(tmp_path, "2026-11") == release
    assert sorted(contents(release.path)) == sorted(
        [f"{model.__tablename__}.parquet" for model in RELEASED]
        + ["item.parquet", "distribution.parquet", "dictionary.json", "manifest.json", "SHA256SUMS"]
        + ["dictionary.html", "changelog.md", "data-changelog.md", "method.md", "sample.csv"]
        + ["croissant.json"]
    )
    assert broken_sums(release.path) == []
    assert (release.manifest.licence, release.manifest.list_checksum) == ("CC-BY-4.0", "ab" * 32)
    assert release.manifest.commit == "0123abc"
    field = pq.read_schema(release.file("response")).field("wire_bytes")
    assert b"null if unknown" in field.metadata[b"comment"]
    assert pq.read_schema(release.file("distribution")).metadata[b"initial_window_segments"] == b"10"
    group = pq.read_metadata(release.file("response")).row_group(0)
    assert [column.column_index for column in group.sorting_columns] == [0, 1, 2]
    assert group.column(0).compression == "ZSTD"
    dictionary = json.loads((release.path / "dictionary.json").read_text())
    assert set(dictionary["tables"]) == {
        "crawl",
        "site",
        "visit",
        "connection",
        "response",
        "item",
        "distribution",
    }
    assert "no_response" in dictionary["wire_bytes_unknown"]


def test_a_list_that_is_older_than_its_crawl_is_named_in_the_manifest_and_no_other(
    database_18: Engine, tmp_path: Path
) -> None:
    stored_crawl.store(database_18, stored_crawl.typical())
    new = build(database_18, str(NAME), tmp_path / "new").release
    assert b"old_list_month" not in (new.path / "manifest.json").read_bytes()
    with database_18.begin() as connection:
        connection.execute(text("UPDATE site_list SET fetched_at = '2026-08-31T23:00Z'"))
    old = build(database_18, str(NAME), tmp_path / "old").release
    assert find_release(tmp_path / "old", str(NAME)).manifest.old_list_month == "2026-08"
    assert old.checksum != new.checksum


def test_building_twice_gives_the_same_bytes_whatever_the_physical_order(
    database: Engine, tmp_path: Path
) -> None:
    made_up = stored_crawl.typical()
    stored_crawl.store(database, made_up)
    first = build(database, "2026-11", tmp_path / "first").release
    stored_crawl.rewrite(database, made_up, seed=4)
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("UPDATE response SET path = path WHERE id % 3 = 0"))
        connection.execute(text("VACUUM FULL response"))
    again = build(database, "2026-11", tmp_path / "again").release
    assert contents(first.path) == contents(again.path)


def test_a_version_that_exists_is_compared_and_left_alone(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical())
    first = build(database_18, "2026-11", tmp_path)
    times = {path: path.stat().st_mtime_ns for path in first.release.path.iterdir()}
    again = build(database_18, "2026-11", tmp_path)
    assert not again.is_new
    assert again.release == first.release
    assert times == {path: path.stat().st_mtime_ns for path in first.release.path.iterdir()}


def test_a_release_that_would_change_needs_a_new_version(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical())
    first = build(database_18, "2026-11", tmp_path).release
    before = contents(first.path)
    with database_18.begin() as connection:  # an erasure
        connection.execute(text("UPDATE response SET path = '/erased' WHERE visit_id = 1"))
    with pytest.raises(ReleaseError, match="--version 2"):
        build(database_18, "2026-11", tmp_path)
    assert contents(first.path) == before
    with pytest.raises(ReleaseError, match="needs a reason: say by --reason"):
        build(database_18, "2026-11", tmp_path, version=2)
    second = build(database_18, "2026-11", tmp_path, version=2, reason="a path was erased")
    assert second.is_new
    assert find_release(tmp_path, "2026-11").manifest.version == 2
    assert not build(database_18, "2026-11", tmp_path).is_new  # the newest is compared


def test_a_damaged_release_does_not_count_as_the_same(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=2))
    release = build(database_18, "2026-11", tmp_path).release
    release.file("visit").write_bytes(b"PAR1")
    with pytest.raises(ReleaseError, match=r"damaged \(visit\.parquet\)"):
        build(database_18, "2026-11", tmp_path)


def test_an_open_crawl_is_not_released(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=1), sealed=False)
    with pytest.raises(ReleaseError, match="still open: run `firstflight crawl seal"):
        build(database_18, "2026-11", tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_crawl_is_named(database_18: Engine, tmp_path: Path) -> None:
    with pytest.raises(CrawlNotFound, match="2031-01"):
        build(database_18, "2031-01", tmp_path)


def test_a_crawl_in_which_nothing_answered_can_be_released(database_18: Engine, tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit(outcome="dns")
    stored_crawl.store(database_18, made_up)
    release = build(database_18, "2026-11", tmp_path).release
    assert release.manifest.rows == {
        "crawl": 1,
        "site": 1,
        "visit": 1,
        "connection": 0,
        "response": 0,
        "item": 0,
        "distribution": 0,
    }
    assert all(check.holds for check in verify(release, database_18))


@pytest.mark.parametrize("limit_bytes", [100, 5000, 20_000])
def test_a_full_disk_leaves_nothing_behind(database_18: Engine, tmp_path: Path, limit_bytes: int) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=30))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        with pytest.raises(ReleaseError, match="nothing was left") as caught:
            build(database_18, "2026-11", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_build_that_is_interrupted_leaves_nothing_behind(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=2))

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(database_18, "2026-11", tmp_path, progress=interrupt)
    assert not list(tmp_path.iterdir())


def test_progress_ends_with_every_row(database_18: Engine, tmp_path: Path) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=4))
    heard: list[tuple[int, int]] = []
    build(database_18, "2026-11", tmp_path, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1][0] == heard[-1][1] > 0


NUMBERS = pa.schema([pa.field("number", pa.int64(), nullable=False)])


def numbers(*sizes: int) -> list[pa.Table]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(pa.table({"number": pa.array(range(at, at + size), pa.int64())}, schema=NUMBERS))
        at += size
    return pieces


@pytest.mark.parametrize("sizes", [(), (0,), (10,), (3, 4, 3), (25,), (1,) * 23, (10, 0, 10), (9, 2, 31)])
def test_row_groups_do_not_depend_on_the_incoming_pieces(sizes: tuple[int, ...]) -> None:
    groups = list(regroup(numbers(*sizes), NUMBERS, rows=10))
    total = sum(sizes)
    assert [group.num_rows for group in groups] == [10] * (total // 10) + ([total % 10] if total % 10 else [])
    assert [value for group in groups for value in group.column(0).to_pylist()] == list(range(total))
    assert all(group.column(0).num_chunks == 1 for group in groups)


def test_pieces_of_any_size_make_the_same_file(tmp_path: Path) -> None:
    for name, sizes in (("a", (1000,)), ("b", (1,) * 1000), ("c", (999, 1))):
        assert write(tmp_path / name, numbers(*sizes), NUMBERS, sorted_by=["number"]) == 1000
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_times_keep_their_microseconds(database: Engine, tmp_path: Path) -> None:
    made_up = stored_crawl.typical(sites=1)
    made_up.visit[0]["started_at"] = datetime.datetime(2026, 11, 1, 0, 0, 0, 123456, tzinfo=datetime.UTC)
    stored_crawl.store(database, made_up)
    with database.begin() as connection:
        connection.execute(text("ALTER ROLE CURRENT_USER SET timezone = 'Asia/Kolkata'"))
    try:
        release = build(database, "2026-11", tmp_path).release
    finally:
        with database.begin() as connection:
            connection.execute(text("ALTER ROLE CURRENT_USER RESET timezone"))
    stored = pq.read_table(release.file("visit"), partitioning=None).column("started_at")
    assert stored.to_pylist() == [made_up.visit[0]["started_at"]]


def test_a_server_lost_while_reading_is_reported_in_one_line(tmp_path: Path) -> None:
    gone = connect(f"postgresql://nobody@/none?host={tmp_path}")
    with pytest.raises(ReleaseError, match="PostgreSQL stopped answering while the crawl was read") as caught:
        open_adbc(gone).__enter__()
    assert "\n" not in str(caught.value)


def test_a_query_names_its_columns_and_orders_text_by_its_bytes() -> None:
    assert statement(Base.metadata.tables["site_list"], crawl_id=1).endswith('ORDER BY "id" COLLATE "C"')
    site = statement(Base.metadata.tables["site"], crawl_id=7)
    assert site.startswith('SELECT "crawl_id", "rank", "host", ')
    assert site.endswith('WHERE "crawl_id" = 7 ORDER BY "crawl_id", "rank"')


def test_the_manifest_tells_how_many_connections_agree_with_their_packets(
    database_18: Engine, tmp_path: Path
) -> None:
    made_up = stored_crawl.typical()
    first, second, third = made_up.connection[:3]
    first["packet_bytes"] = first["received_bytes"]
    second["packet_bytes"] = second["received_bytes"] + 24
    assert third["packet_bytes"] is None
    stored_crawl.store(database_18, made_up)
    release = build(database_18, str(NAME), tmp_path).release
    assert release.manifest.packets == {
        "connections": 2,
        "agreeing_connections": 1,
        "received_bytes": first["received_bytes"] + second["received_bytes"],
        "agreeing_bytes": first["received_bytes"],
    }
    assert all(check.holds for check in verify(release, database_18))

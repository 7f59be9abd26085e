import collections
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from crawler.sites import lists, optout
from firstflight.main import main
from releases.catalogue import Release, Withdrawn, iter_versions
from releases.verify import verify
from storage.report_versions import all_report_versions
from storage.signatures import state
from storage.sums import broken_sums
from tests.conftest import with_tables
from tests.factories.made_up_crawl import NAME
from tests.factories.signing import make_signer
from tests.factories.withdrawn import CRAWL, HOST, NEEDLE, World, make

Erased = tuple[World, Result]


@pytest.fixture
def world(database_18: Engine, tmp_path: Path) -> World:
    return make(database_18, tmp_path)


@pytest.fixture(scope="module")
def erased(embedded_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Erased]:
    """A world after its site was erased, for tests that only look, and what the command said."""
    with with_tables(embedded_server) as engine:
        world = make(engine, tmp_path_factory.mktemp("erased"))
        assert len(world.named_in()) > 20
        done = run(world, "optout", "add", HOST, "--erase")
        assert done.exit_code == 0, done.output
        yield world, done


def run(world: World, *arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env=world.environment)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_erased_site_leaves_no_byte_of_its_name_and_all_that_is_left_verifies(erased: Erased) -> None:
    world, _ = erased
    assert world.named_in() == []
    versions = list(iter_versions(world.data / "releases"))
    assert [(type(version), version.version) for version in versions] == [
        (Withdrawn, 1),
        (Withdrawn, 2),
        (Release, 3),
    ]
    verified = run(world, "verify", "--json")
    assert verified.exit_code == 0, verified.output
    states = {item["name"]: item["state"] for item in json.loads(verified.stdout)["items"]}
    assert states == {
        CRAWL: "ok",
        f"{CRAWL} version 1": "withdrawn",
        f"{CRAWL} version 2": "withdrawn",
        f"{CRAWL} version 3": "ok",
        "recordings-89abcdef.0123abcd stage-01": "ok",
        "2025 v1": "ok",
        "2026 v1": "ok",
    }
    again = run(world, "release", "build", "--crawl", CRAWL)
    assert again.stdout.startswith("was there already, the same to the byte:"), again.output


def test_a_tombstone_says_that_a_site_was_withdrawn_and_no_more(erased: Erased) -> None:
    world, _ = erased
    for root in (world.data / "releases", world.store):
        for version in (1, 2):
            (stone,) = NAME.path(root, version=version).iterdir()
            assert json.loads(stone.read_text()) == {
                "crawl": {
                    "month": "2026-11",
                    "device": "desktop",
                    "vantage": "here",
                    "arm": "tcp",
                    "kind": "localweb",
                },
                "version": version,
                "withdrawn": "a site was withdrawn",
            }
        assert broken_sums(NAME.path(root, version=3)) == []


def test_pages_of_others_keep_their_sizes_their_rows_and_their_number_of_hosts(erased: Erased) -> None:
    world, _ = erased
    made_up = world.made_up
    gone = {visit["id"] for visit in made_up.visit if HOST in visit["host"]}
    release = Release(NAME.path(world.data / "releases", version=3), next(_sound(world)).manifest)
    assert all(check.holds for check in verify(release, world.engine))
    for table, columns in {
        "visit": ("id", "received_bytes", "coverage", "started_at"),
        "connection": ("visit_id", "id", "received_bytes", "tls_handshake_bytes"),
        "response": ("visit_id", "id", "wire_bytes", "first_byte_us", "status"),
    }.items():
        key = columns[0]
        kept = [[row[name] for name in columns] for row in made_up.rows()[table] if row[key] not in gone]
        rows = pq.read_table(release.file(table), columns=list(columns), partitioning=None).to_pylist()
        assert [list(row.values()) for row in rows] == sorted(kept)
    before = collections.Counter(row["visit_id"] for row in made_up.connection if row["visit_id"] not in gone)
    hosts = collections.defaultdict(set)
    for row in pq.read_table(release.file("connection"), partitioning=None).to_pylist():
        hosts[row["visit_id"]].add(row["host"])
    assert {visit: len(names) for visit, names in hosts.items()} == before
    hidden = {name for names in hosts.values() for name in names if name.startswith("erased-")}
    assert len(hidden) == 2  # the CDN and the images: each the same on every page


def _sound(world: World) -> Iterator[Release]:
    return (release for release in iter_versions(world.data / "releases") if isinstance(release, Release))


def test_a_sealed_crawl_refuses_to_be_written_again_once_the_site_is_out(erased: Erased) -> None:
    world, _ = erased
    with world.engine.connect() as connection, pytest.raises(DBAPIError, match="never written again"):
        connection.execute(text("DELETE FROM visit"))


def test_partitions_that_were_detached_are_erased_too_and_dropped_ones_are_no_hindrance(world: World) -> None:
    assert run(world, "database", "detach", "--crawl", CRAWL).exit_code == 0
    with world.engine.begin() as connection:
        partition = connection.scalar(text("SELECT 'connection_' || id FROM crawl"))
        connection.execute(text(f"DROP TABLE {partition}"))
    done = run(world, "optout", "add", HOST, "--erase")
    assert done.exit_code == 0, done.output
    assert world.named_in() == []
    verified = run(world, "verify", "release", CRAWL)
    assert verified.exit_code == 0, verified.output


def test_the_files_of_postgresql_keep_no_deleted_row(world: World, server_folder: Path) -> None:
    def named(where: Engine) -> list[Path]:
        with where.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("CHECKPOINT"))
            number = connection.scalar(text("SELECT oid FROM pg_database WHERE datname = current_database()"))
        return [
            path
            for path in (server_folder / f"postgres/base/{number}").iterdir()
            if NEEDLE in path.read_bytes()
        ]

    assert named(world.engine)
    assert run(world, "optout", "add", HOST, "--erase").exit_code == 0
    assert named(world.engine) == []


def test_replays_and_reports_that_had_it_go_and_others_stay(erased: Erased) -> None:
    world, done = erased
    assert [path.name for path in (world.data / "replays").iterdir()] == ["recordings-89abcdef.0123abcd"]
    kept, gone = all_report_versions(world.data / "reports")
    assert (str(kept), kept.is_there, kept.is_withdrawn) == ("2025 v1", True, False)
    assert (str(gone), gone.is_there) == ("2026 v1", False)
    assert gone.withdrawal is not None
    assert (gone.withdrawal.reason, gone.withdrawal.is_erased) == ("a site was withdrawn", True)
    assert "version 1 of the report for 2026 was made with it and is erased: make the next" in done.output
    assert not (world.data / "lists/tranco/K2LPW.csv").exists()
    assert (world.data / "lists/sites.txt").read_text() == "site1.test\n"
    assert len(list((world.data / "backups").iterdir())) == 1


def test_the_opt_out_list_keeps_it_out_of_later_plans_by_its_hash(world: World) -> None:
    assert run(world, "optout", "add", HOST, "--erase").exit_code == 0
    out = optout.read_optout(world.data / "opt-out.txt")
    assert out.covers(f"www.{HOST}")
    assert out.hosts == {"site9.test"}
    assert run(world, "optout", "list").stdout == (
        "site9.test\nknown by their hashes alone, since they were erased: 1\n"
    )
    sites = world.data / "later.txt"
    sites.write_text(f"{HOST}\nsite1.test\n")
    planned = run(world, "crawl", "plan", "--crawl", "2026-12", "--set", f"list={sites}", "--json")
    assert planned.exit_code == 0, planned.output
    assert json.loads(planned.stdout)["sites"] == 1
    assert len(lists.read_list(sites).entries) == 2


def test_a_dry_run_says_where_it_is_and_changes_nothing(world: World) -> None:
    before = contents(world.data) | contents(world.store)
    done = run(world, "optout", "add", HOST, "--erase", "--dry-run")
    assert done.exit_code == 0, done.output
    assert f"{CRAWL}: 2 visits, and " in done.stdout
    assert f"{CRAWL}: version 2 of its release" in done.stdout
    assert "reports/2026" in done.stdout
    after = contents(world.data) | contents(world.store)
    assert {path for path in after if not path.endswith("erasure.lock")} == set(before)
    assert all(after[path] == content for path, content in before.items())
    assert len(world.named_in()) > 20


def test_erased_again_nothing_is_there(erased: Erased) -> None:
    world, _ = erased
    before = contents(world.data) | contents(world.store)
    done = run(world, "optout", "add", HOST, "--erase")
    assert done.stdout.splitlines() == [
        f"{HOST} is already left out of later plans, by its hash",
        "nothing of it is here",
    ]
    assert contents(world.data) | contents(world.store) == before


def test_a_new_version_is_signed_where_releases_are(world: World, tmp_path: Path) -> None:
    signer = make_signer(tmp_path)
    signing = {
        "FIRSTFLIGHT_SIGNING_KEY": str(signer.key),
        "FIRSTFLIGHT_ALLOWED_SIGNERS": str(signer.allowed_signers),
    }
    arguments = ["optout", "add", HOST, "--erase"]
    assert CliRunner().invoke(main, arguments, env=world.environment | signing).exit_code == 0
    for root in (world.data / "releases", world.store):
        assert state(NAME.path(root, version=3), signer.allowed_signers).kind == "good"


def test_a_host_that_many_sites_lie_below_is_taken_for_a_mistake(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstflight.erasing.MOST_SITES", 0)
    before = contents(world.data)
    done = run(world, "optout", "add", HOST, "--erase")
    assert done.exit_code == 1
    assert f"1 sites of one crawl lie below {HOST}, more than 0: name them one by one" in done.output
    assert all(contents(world.data)[path] == content for path, content in before.items())


def test_a_damaged_release_stops_it_in_one_line(world: World) -> None:
    with (NAME.path(world.data / "releases", version=2) / "site.parquet").open("ab") as file:
        file.write(b"!")
    done = run(world, "optout", "add", HOST, "--erase")
    assert done.exit_code == 1
    assert "is damaged (site.parquet): restore it from a copy first" in done.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["add", "https://a.test/"], 1, "is no host"),
        (["add", "a.test", "--dry-run"], 2, "go with --erase"),
        (["remove", "a.test"], 1, "is not in"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path)}
    done = CliRunner().invoke(main, ["optout", *arguments], env=environment)
    assert done.exit_code == code
    assert message in done.output
    assert not (tmp_path / "opt-out.txt").exists()


def test_hosts_are_added_listed_and_removed(tmp_path: Path) -> None:
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path)}

    def printed(*arguments: str) -> str:
        done = CliRunner().invoke(main, ["optout", *arguments], env=environment)
        assert done.exit_code == 0, done.output
        return done.stdout

    assert printed("list") == "nobody opted out yet\n"
    assert printed("add", "B\u00fccher.test") == "xn--bcher-kva.test is now left out of later plans\n"
    assert printed("add", "xn--bcher-kva.test") == "xn--bcher-kva.test is already left out of later plans\n"
    assert json.loads(printed("list", "--json")) == {"hosts": ["xn--bcher-kva.test"], "erased": 0}
    assert printed("remove", "b\u00fccher.test") == "xn--bcher-kva.test is in later plans again\n"
    assert printed("list") == "nobody opted out yet\n"

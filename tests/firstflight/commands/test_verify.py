"""`firstflight verify` and `firstflight sign` as an operator runs them,
over one of everything that is stored."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from firstflight.main import main
from releases.build import build
from storage.crawls import find_crawl
from storage.partitions import seal_partitions
from storage.sums import seal
from tests.conftest import with_tables
from tests.factories import stored_crawl
from tests.factories.made_up_report import (
    FEW_CELLS,
    REPLAY,
    build_report,
    read_data_folder,
    stage_of,
    write_replay,
)
from tests.factories.signing import make_signer
from tests.factories.undrawn import undrawn

NAME = "2026-11.desktop.here.tcp.localweb"

SECOND = ("--without-replay", "--version", "2", "--reason", "sizes alone", "--corrects", "the replay")


@pytest.fixture(scope="module")
def crawled(embedded_server: str) -> Iterator[Engine]:
    with with_tables(embedded_server) as engine:
        stored_crawl.store(engine, stored_crawl.typical(sites=3))
        with engine.begin() as connection:
            seal_partitions(connection, find_crawl(connection, "2026-11").id)
        yield engine


@pytest.fixture(scope="module")
def pristine(crawled: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a release, a replay, a part and a report."""
    data = tmp_path_factory.mktemp("data")
    release = build(crawled, "2026-11", data / "releases").release
    replay = write_replay(data, release, FEW_CELLS)
    shutil.copytree(replay, replay.with_name("stage-02.parts") / "1-of-1")
    build_report(read_data_folder(data), data / "reports" / "2026" / "v1")
    return data


@pytest.fixture
def data(pristine: Path, crawled: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(pristine, tmp_path / "data")
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    monkeypatch.setenv("FIRSTFLIGHT_DATABASE_URL", crawled.url.render_as_string(hide_password=False))
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def items(*arguments: str) -> dict[str, dict[str, Any]]:
    printed = json.loads(run("verify", "--json", *arguments).stdout)["items"]
    return {item["kind"]: item for item in printed}


def files_in(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def test_everything_that_is_stored_is_a_line_and_says_that_it_is_unsigned(data: Path) -> None:
    done = run("verify")
    assert done.exit_code == 0, done.output
    database, release, stage, part, report, last = done.stdout.splitlines()
    assert database.startswith(f"ok        database {NAME}: ")
    assert release.startswith(f"ok        release {NAME} version 1: ")
    assert release.endswith(" checks hold [unsigned]")
    assert stage == f"ok        stage {NAME}.{REPLAY} stage-01: 3 files are as in SHA256SUMS [unsigned]"
    assert part == f"ok        part {NAME}.{REPLAY} stage-02 1-of-1: 3 files are as in SHA256SUMS [unsigned]"
    listed = files_in(data / "reports" / "2026" / "v1") - 1  # SHA256SUMS does not list itself
    assert listed > 30
    assert report == f"ok        report 2026 v1: {listed} files are as in SHA256SUMS [unsigned]"
    assert last == "5 checked, none damaged"
    assert set(items("--offline")) == {"release", "stage", "part", "report"}


def test_what_is_wrong_in_the_database_is_found(data: Path, crawled: Engine) -> None:
    with crawled.begin() as connection:
        kept = connection.execute(text("SELECT final_visit_id FROM site WHERE rank = 1")).scalar()
        connection.execute(text("UPDATE site SET final_visit_id = NULL WHERE rank = 1"))
    item = items()["database"]
    with crawled.begin() as connection:
        connection.execute(text("UPDATE site SET final_visit_id = :kept WHERE rank = 1"), {"kept": kept})
    assert item["state"] == "damaged"
    assert "every final visit stands for its site (1 against it)" in item["said"]


def test_a_database_that_cannot_be_reached_keeps_no_file_from_being_checked(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATABASE_URL", f"postgresql://nobody@/none?host={data}")
    done = run("verify")
    assert done.exit_code == 1
    first, *rest, _ = done.stdout.splitlines()
    assert first.startswith("DAMAGED   database PostgreSQL: ")
    assert first.endswith("--offline leaves it out")
    assert [line.split()[:2] for line in rest] == [
        ["ok", kind] for kind in ("release", "stage", "part", "report")
    ]


def test_a_crawl_that_cannot_be_read_is_its_own_damage_alone(data: Path, crawled: Engine) -> None:
    with crawled.begin() as connection:
        connection.execute(text("ALTER TABLE site RENAME TO site_away"))
    try:
        by_kind = items()
    finally:
        with crawled.begin() as connection:
            connection.execute(text("ALTER TABLE site_away RENAME TO site"))
    assert by_kind["database"]["state"] == "damaged"
    assert 'relation "site" does not exist' in by_kind["database"]["said"]
    assert {by_kind[kind]["state"] for kind in ("stage", "part", "report")} == {"ok"}


def test_a_damaged_release_keeps_no_other_from_being_verified_listed_or_built(data: Path) -> None:
    other = data / "releases" / "month=2025-01" / "device=desktop" / "vantage=here" / "arm=tcp" / "kind=web"
    (other / "version=1").mkdir(parents=True)
    (other / "version=1" / "manifest.json").write_text("{")
    first, second, *_ = run("verify", "--offline").stdout.splitlines()
    assert first.startswith("DAMAGED   release 2025-01.desktop.here.tcp.web version 1: ")
    assert second.startswith(f"ok        release {NAME}")
    listed = run("release", "list")
    assert listed.exit_code == 0
    damaged, sound = listed.stdout.splitlines()
    assert damaged.startswith("2025-01.desktop.here.tcp.web version 1: DAMAGED: ")
    assert sound.startswith(f"{NAME} version 1: ")
    assert sound.endswith(", unsigned")
    states = [release["state"] for release in json.loads(run("release", "list", "--json").stdout)["releases"]]
    assert states == ["damaged", "whole"]
    assert run("release", "build", "--crawl", "2026-11").exit_code == 0
    assert run("verify", "release", "2026-11", "--offline").exit_code == 0
    with undrawn():
        report = run("report", "build", "--year", "2026", *SECOND)
    assert report.exit_code == 0, report.output


def test_a_withdrawn_version_is_no_damage(data: Path) -> None:
    (version,) = data.glob("releases/*/*/*/*/*/*")
    shutil.rmtree(version)
    version.mkdir()
    (version / "tombstone.json").write_text("{}")
    done = run("verify", "--offline")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == (
        f"WITHDRAWN release {NAME} version 1: a tombstone stands in its place"
    )
    assert run("release", "list").stdout == f"{NAME} version 1: WITHDRAWN\n"
    refused = run("release", "build", "--crawl", "2026-11")
    assert (refused.exit_code, "is withdrawn: build it anew with --version 2" in refused.stderr) == (1, True)
    assert run("release", "build", "--crawl", "2026-11", "--version", "2", "--reason", "anew").exit_code == 0


def test_a_replay_of_another_release_than_the_one_that_is_there_is_damaged(data: Path) -> None:
    source = {"crawl": NAME, "version": 1, "checksum": "00"}
    seal(stage_of(data, NAME), {"kind": "stage", "release": source})
    item = items("--offline")["stage"]
    assert (item["state"], item["said"]) == (
        "damaged",
        f"made from another {NAME} version 1 than the one that is there",
    )


def test_a_replay_or_report_in_the_place_of_another_is_damaged(data: Path) -> None:
    stage_of(data, NAME).parent.rename(data / "replays" / "2026-12.desktop.here.tcp.localweb.0123abcd")
    (data / "reports" / "2026").rename(data / "reports" / "2027")
    by_kind = items("--offline")
    assert (by_kind["stage"]["state"], by_kind["stage"]["said"]) == (
        "damaged",
        f"it is a stage of {NAME}",
    )
    assert (by_kind["report"]["state"], by_kind["report"]["said"]) == (
        "damaged",
        "it is the report of 2026 v1",
    )


@pytest.fixture
def key(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The operator's key, which the list of allowed signers in the data folder names."""
    signer = make_signer(tmp_path)
    signer.allowed_signers.rename(data / "allowed_signers")
    monkeypatch.setenv("FIRSTFLIGHT_SIGNING_KEY", str(signer.key))
    return signer.key


def test_what_is_signed_says_by_whom_and_what_is_forged_as_a_whole_says_so(data: Path, key: Path) -> None:
    signed = run("sign")
    assert signed.exit_code == 0, signed.output
    assert signed.stdout.splitlines() == [
        f"release {NAME} version 1: signed by releases@example.org",
        f"stage {NAME}.{REPLAY} stage-01: signed by releases@example.org",
        "report 2026 v1: signed by releases@example.org",
    ]
    by_kind = items("--offline")
    assert {kind: item["signature"] for kind, item in by_kind.items()} == {
        "release": "signed by releases@example.org",
        "stage": "signed by releases@example.org",
        "part": "unsigned",
        "report": "signed by releases@example.org",
    }
    assert {item["state"] for item in by_kind.values()} == {"ok"}
    assert "signed by releases@example.org" in run("release", "list").stdout
    (data / "reports" / "2026" / "v1" / "summary.txt").write_text("IW 100")
    facts = {"kind": "report", "year": 2026, "publication": {"version": 1}}
    seal(data / "reports" / "2026" / "v1", facts)
    forged = items("--offline")["report"]
    listed = files_in(data / "reports" / "2026" / "v1") - 2  # SHA256SUMS and its signature
    assert (forged["state"], forged["said"]) == ("damaged", f"{listed} files are as in SHA256SUMS")
    assert forged["signature"] == "bad signature: SHA256SUMS is not what releases@example.org signed"


def test_a_good_signature_is_kept(data: Path, key: Path) -> None:
    first = run("sign")
    signature = stage_of(data, NAME) / "SHA256SUMS.sig"
    before = signature.stat().st_mtime_ns
    assert run("sign").stdout == first.stdout
    assert signature.stat().st_mtime_ns == before


def test_release_and_report_are_signed_as_they_are_built(data: Path, key: Path) -> None:
    assert run("release", "build", "--crawl", "2026-11").exit_code == 0  # it was there, unsigned
    with undrawn():
        assert run("report", "build", "--year", "2026", *SECOND).exit_code == 0
    by_kind = items("--offline")
    for kind in ("release", "report"):
        assert by_kind[kind]["signature"] == "signed by releases@example.org"


@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "build", "--crawl", "2026-11"),
        ("report", "build", "--year", "2026", *SECOND),
        ("report", "withdraw", "--year", "2026", "--version", "1", "--reason", "wrong"),
        ("replay", "run", "demo", "--set", "pages=2026-11"),
        ("sign",),
    ],
)
def test_a_key_that_nobody_allowed_is_told_at_once_in_one_line(
    data: Path, key: Path, arguments: tuple[str, ...]
) -> None:
    (data / "allowed_signers").write_text("")
    done = run(*arguments)
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "add the line `NAME@DOMAIN KEY`" in done.stderr
    assert not list(data.rglob("*.sig"))


def test_nothing_damaged_is_signed_and_without_a_key_nothing_is(
    data: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "reports" / "2026" / "v1" / "summary.txt").write_text("IW 100")
    refused = run("sign")
    assert refused.stderr == "Error: report 2026 v1 is damaged (summary.txt): nothing damaged is signed\n"
    monkeypatch.setenv("FIRSTFLIGHT_SIGNING_KEY", "")
    assert "names no key" in run("sign").stderr


@pytest.mark.parametrize(
    ("earlier", "now"),
    [(("release", "verify"), "verify release"), (("report", "verify"), "verify report")],
)
def test_verify_sought_in_a_group_is_found_at_the_root(earlier: tuple[str, ...], now: str) -> None:
    refused = run(*earlier, "--crawl", "2026-11")
    assert (refused.exit_code, f"write `firstflight {now}`" in refused.stderr) == (2, True)


def test_one_thing_is_verified_by_its_kind_and_name(data: Path) -> None:
    assert set(items("--offline", "replay")) == {"stage", "part"}
    assert set(items("--offline", "release", "2026-11")) == {"release"}
    assert "no release '2026-1' is stored" in run("verify", "--offline", "release", "2026-1").stderr
    first, second, *_ = run("verify", "--offline", "release", "2026-11").stdout.splitlines()
    assert first.startswith(f"ok        release {NAME} version 1: ")
    assert second.startswith("ok        - checksums: ")

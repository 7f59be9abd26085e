import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from firstflight.main import main
from releases.catalogue import find_release
from tests.factories import stored_crawl

Run = Callable[..., Result]


@pytest.fixture
def run(database_18: Engine, tmp_path: Path) -> Run:
    stored_crawl.store(database_18, stored_crawl.typical(sites=3))
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        "FIRSTFLIGHT_DATABASE_URL": database_18.url.render_as_string(hide_password=False),
    }
    return lambda *arguments: CliRunner().invoke(main, arguments, env=environment)


def test_build_verify_and_list(run: Run, tmp_path: Path) -> None:
    built = run("release", "build", "--crawl", "2026-11")
    assert built.exit_code == 0, built.output
    assert built.stdout.startswith("built 2026-11.desktop.here.tcp.localweb version 1: ")
    again = run("release", "build", "--crawl", "2026-11")
    assert again.exit_code == 0
    assert again.stdout.startswith("was there already, the same to the byte: 2026-11.desktop")
    verified = run("verify", "release", "2026-11")
    assert verified.exit_code == 0, verified.output
    assert "ok        - rows are as many as in PostgreSQL: connection" in verified.stdout
    assert "FAILED" not in verified.stdout
    assert "checks hold" in verified.stdout
    listed = json.loads(run("release", "list", "--json").stdout)["releases"]
    assert [release["crawl"] for release in listed] == ["2026-11.desktop.here.tcp.localweb"]
    assert Path(listed[0]["path"]).is_relative_to(tmp_path / "releases")
    assert "2026-11.desktop.here.tcp.localweb version 1" in run("release", "list").stdout


def test_a_damaged_release_fails_its_verification(run: Run) -> None:
    facts = json.loads(run("release", "build", "--crawl", "2026-11", "--json").stdout)
    assert facts["new"] is True
    with (Path(facts["path"]) / "response.parquet").open("ab") as file:
        file.write(b"!")
    verified = run("verify", "release", "2026-11")
    assert verified.exit_code == 1
    assert "FAILED    - checksums: response.parquet is not" in verified.stdout
    as_json = run("verify", "release", "2026-11", "--json")
    assert as_json.exit_code == 1
    (item,) = json.loads(as_json.stdout)["items"]
    assert item["state"] == "damaged"
    failed = {"name": "checksums", "holds": False, "evidence": "response.parquet is not"}
    assert item["checks"][0] == failed


def test_json_says_of_a_sound_release_that_it_holds(run: Run) -> None:
    run("release", "build", "--crawl", "2026-11")
    (item,) = json.loads(run("verify", "release", "2026-11", "--json").stdout)["items"]
    assert item["state"] == "ok"
    assert {check["holds"] for check in item["checks"]} == {True}


def test_a_year_is_ready_by_its_newest_sealed_crawl_whose_name_is_the_last_line(
    database_18: Engine, run: Run
) -> None:
    environment = {"FIRSTFLIGHT_DATABASE_URL": database_18.url.render_as_string(hide_password=False)}
    ready = ["report", "ready", "--year", "2026", "--series", "desktop.here.tcp.localweb"]
    done = CliRunner().invoke(main, ready, env=environment)
    assert done.exit_code == 0, done.output
    first, second, *_, last = done.stdout.splitlines()
    assert first == "2026: 1 of 12 months sealed"
    assert second.startswith("no crawl: 2026-01, 2026-02, ")
    assert last == "2026-11.desktop.here.tcp.localweb"
    unready = CliRunner().invoke(main, ["report", "ready", "--year", "2025"], env=environment)
    assert (unready.exit_code, unready.stderr.count("\n")) == (1, 1)


def test_a_year_waits_for_the_release_of_its_december(database_18: Engine, run: Run, tmp_path: Path) -> None:
    run("release", "build", "--crawl", "2026-11")
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        "FIRSTFLIGHT_DATABASE_URL": database_18.url.render_as_string(hide_password=False),
    }
    ready = ["report", "ready", "--year", "2026", "--series", "desktop.here.tcp.localweb"]
    assert CliRunner().invoke(main, ready, env=environment).exit_code == 0
    waiting = CliRunner().invoke(main, [*ready, "--december"], env=environment)
    assert (waiting.exit_code, waiting.stdout) == (75, "")
    assert waiting.stderr.startswith("waiting for December: ")
    folder = tmp_path / "releases"
    november = find_release(folder, "2026-11")
    december = dataclasses.replace(november.crawl, month="2026-12").path(folder, version=1)
    shutil.copytree(november.path, december)
    text = (december / "manifest.json").read_text()
    (december / "manifest.json").write_text(text.replace("2026-11", "2026-12"))
    assert CliRunner().invoke(main, [*ready, "--december"], env=environment).exit_code == 0


def test_offline_leaves_postgresql_out(run: Run, tmp_path: Path) -> None:
    run("release", "build", "--crawl", "2026-11")
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        "FIRSTFLIGHT_DATABASE_URL": f"postgresql://nobody@/none?host={tmp_path}",
    }
    offline = CliRunner().invoke(main, ["verify", "release", "2026-11", "--offline"], env=environment)
    assert offline.exit_code == 0, offline.output
    assert "in PostgreSQL" not in offline.stdout
    online = CliRunner().invoke(main, ["verify", "release", "2026-11"], env=environment)
    assert online.exit_code == 1
    assert online.stdout.startswith("DAMAGED   database PostgreSQL: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("release", "build", "--crawl", "2031-01"), "there is no crawl '2031-01'"),
        (("verify", "release", "2031-01"), "no release '2031-01' is stored"),
        (("release", "build", "--crawl", "2026-11", "--version", "0"), "--version"),
        (("release", "build", "--crawl", "2026-11", "--version", "2"), "needs a reason: say by --reason"),
        (("release", "build", "--crawl", "2026-11", "--version", "2", "--reason", "a\nb"), "write one line"),
    ],
)
def test_what_does_not_exist_is_said_in_one_line(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code != 0
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_without_a_release_the_list_says_so(run: Run, tmp_path: Path) -> None:
    assert run("release", "list").stdout == f"no releases yet in {tmp_path / 'releases'}\n"
    assert json.loads(run("release", "list", "--json").stdout) == {"releases": []}


def test_a_release_is_published_where_a_store_is_set_and_stays_where_none_is(
    run: Run, tmp_path: Path
) -> None:
    assert run("release", "build", "--crawl", "2026-11").exit_code == 0
    stays = run("release", "publish", "--crawl", "2026-11")
    assert (stays.exit_code, stays.stdout) == (
        0,
        "no store is set (--to or FIRSTFLIGHT_PUBLISH_URL): the release stays where it is\n",
    )
    store = (tmp_path / "store").as_uri()
    published = run("release", "publish", "--crawl", "2026-11", "--to", store)
    assert published.exit_code == 0, published.output
    assert (
        published.stdout
        == f"published {store}/month=2026-11/device=desktop/vantage=here/arm=tcp/kind=localweb/version=1\n"
    )
    again = run("release", "publish", "--crawl", "2026-11", "--to", store)
    assert again.stdout.startswith("was there already, the same to the byte: file:///")
    refused = run("release", "publish", "--crawl", "2026-11", "--to", "nowhere")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1, refused.stderr


KILLED = """
import os, signal
from firstflight.main import main
from releases.catalogue import find_release
from releases import build
build.compute_distribution = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
main(["release", "build", "--crawl", "2026-11"])
"""


def test_what_a_build_that_was_killed_left_is_no_release_and_is_swept_by_the_next_build(
    run: Run, database_18: Engine, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        "FIRSTFLIGHT_DATABASE_URL": database_18.url.render_as_string(hide_password=False),
    }
    killed = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = (tmp_path / "releases").iterdir()
    assert len(list(left.rglob("*.parquet"))) == 6
    assert json.loads(run("release", "list", "--json").stdout) == {"releases": []}
    for path in (left, *left.rglob("*")):
        os.utime(path, (0, 0))
    assert run("release", "build", "--crawl", "2026-11").exit_code == 0
    assert [path.name for path in (tmp_path / "releases").iterdir()] == ["month=2026-11"]


def test_a_data_folder_that_everybody_could_exchange_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    refused = run("release", "build", "--crawl", "2026-11")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert f"run `chmod o-w {tmp_path}` first" in refused.stderr

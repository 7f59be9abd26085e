"""Crawls leave PostgreSQL for their releases only where those verify, and only when asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from firstflight.main import main
from storage.engine import DatabaseBusy
from storage.partitions import detach_partitions
from tests.factories import stored_crawl

if TYPE_CHECKING:
    from click.testing import Result
    from sqlalchemy import Engine

    Run = Callable[..., Result]

NAME = "2026-11.desktop.here.tcp.localweb"


@pytest.fixture
def run(database_18: Engine, tmp_path: Path) -> Run:
    stored_crawl.store(database_18, stored_crawl.typical(sites=3))
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(tmp_path),
        "FIRSTFLIGHT_DATABASE_URL": database_18.url.render_as_string(hide_password=False),
    }
    return lambda *arguments: CliRunner().invoke(main, list(arguments), env=environment)


def test_a_released_crawl_is_detached_when_it_is_old_and_its_release_still_holds(
    run: Run, database_18: Engine, tmp_path: Path
) -> None:
    with database_18.begin() as connection:
        connection.execute(text("UPDATE crawl SET month = '2001-02'"))
    name = NAME.replace("2026-11", "2001-02")
    assert run("release", "build", "--crawl", name).exit_code == 0
    assert run("database", "detach").stdout.startswith(f"{name}: ")
    assert run("database", "detach", "--older-than", "9999").stdout == ""
    done = run("database", "detach", "--older-than", "12")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{name}: detached connection_")
    assert run("database", "detach").stdout == ""
    assert run("database", "detach", "--crawl", name).stdout == f"{name}: detached nothing: they were\n"
    verified = run("verify", "release", name)
    assert verified.exit_code == 0, verified.output
    assert ", connection detached, response detached" in verified.stdout
    again = run("release", "build", "--crawl", name, "--version", "2", "--reason", "anew")
    assert again.exit_code == 1
    assert f"the observations of {name} exist only in its release" in again.stderr
    assert not list((tmp_path / "releases").glob("**/version=2"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (None, f"nothing is detached: no release of crawl '{NAME}'"),
        ("file", f"the release of {NAME} does not verify, nothing is detached: checksums: response.parquet"),
        (
            "row",
            f"the release of {NAME} does not verify, nothing is detached: rows are as many as in PostgreSQL",
        ),
        ("open", f"{NAME} is still open: nothing is detached"),
    ],
)
def test_a_crawl_without_a_sound_release_stays(
    run: Run, database_18: Engine, tmp_path: Path, damage: str | None, message: str
) -> None:
    if damage:
        run("release", "build", "--crawl", "2026-11")
    if damage == "file":
        (released,) = tmp_path.glob("releases/**/response.parquet")
        with released.open("ab") as file:
            file.write(b"!")
    with database_18.begin() as connection:
        if damage == "row":
            connection.execute(text("DELETE FROM response WHERE id = 1"))
        if damage == "open":
            connection.execute(text("UPDATE crawl SET sealed_at = NULL"))
    refused = run("database", "detach", "--crawl", "2026-11")
    assert refused.exit_code == 1
    (line,) = refused.stderr.splitlines()
    assert message in line
    with database_18.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM response")) > 0


def test_what_somebody_reads_is_left_to_them(
    run: Run, database_18: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.partitions.LOCK_TIMEOUT", "100ms")
    with database_18.connect() as reader:
        crawl_id = reader.scalar(text("SELECT crawl_id FROM response LIMIT 1"))
        with pytest.raises(DatabaseBusy, match="run it again when"), database_18.begin() as connection:
            detach_partitions(connection, crawl_id)


def test_the_database_is_checked_by_a_command(run: Run, database_18: Engine) -> None:
    refused = run("verify", "database")
    assert refused.exit_code == 1
    assert (
        refused.stdout.splitlines()[0]
        == f"DAMAGED   database {NAME}: not so: what is sealed refuses to be written (3 against it)"
    )
    with database_18.begin() as connection:
        connection.execute(text("UPDATE crawl SET sealed_at = NULL"))
    passed = run("verify", "database", "2026-11")
    assert passed.exit_code == 0, passed.output
    first, *checks, last = passed.stdout.splitlines()
    assert first == f"ok        database {NAME}: 13 checks hold"
    assert (len(checks), last) == (13, "1 checked, none damaged")
    assert "is stored" in run("verify", "database", "2031-01").stderr

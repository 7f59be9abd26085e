"""Erasures that are killed at any step, and continued by the same command."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from firstflight.main import main
from storage.data_lock import erasing, making
from tests.circles import ALL
from tests.factories.withdrawn import CRAWL, HOST, World, make


@pytest.fixture
def world(database_18: Engine, tmp_path: Path) -> World:
    return make(database_18, tmp_path)


def run(world: World, *arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env=world.environment)


KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
folder = os.path.dirname(os.environ["FIRSTFLIGHT_DATA_DIR"])
def watch(event, arguments):
    global left
    if event in {"os.rename", "os.remove", "os.rmdir", "os.mkdir"} and str(arguments[0]).startswith(folder):
        step()
def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
def stepping(function):
    def stepped(*arguments, **options):
        step()
        return function(*arguments, **options)
    return stepped
from firstflight.main import main
from firstflight import erasing
from storage import backup
erasing.erasing.rewrite = stepping(erasing.erasing.rewrite)
erasing.withdraw = stepping(erasing.withdraw)
backup.subprocess.Popen = stepping(backup.subprocess.Popen)
sys.addaudithook(watch)
main()
"""
"""The command, killed before its so manieth change of a file, table or store."""


def killed_at(world: World, step: int) -> int:
    """The exit code of an erasure that is killed at a step, if it has so many."""
    call = [sys.executable, "-c", KILLED, str(step), "optout", "add", HOST, "--erase"]
    done = subprocess.run(
        call, env={**os.environ, **world.environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_no_byte_left(world: World) -> None:
    steps = (2, 5, 8, 12, 15, 18, 22, 26, 30, 36) if ALL else (2, 15, 26)
    codes = [killed_at(world, step) for step in steps]
    assert codes.count(-signal.SIGKILL) >= (7 if ALL else 3), codes
    done = run(world, "optout", "add", HOST, "--erase")
    assert done.exit_code == 0, done.output
    assert world.named_in() == []
    assert not (world.data / "erasure.json").exists()
    verified = run(world, "verify", "release", CRAWL)
    assert verified.exit_code == 0, verified.output
    assert run(world, "release", "build", "--crawl", CRAWL).exit_code == 0


def test_an_erasure_that_was_cut_short_is_finished_before_another_begins(world: World) -> None:
    assert killed_at(world, 12) == -signal.SIGKILL
    assert HOST not in (world.data / "erasure.json").read_text()
    assert (world.data / "erasure.json").stat().st_mode & 0o777 == 0o600
    other = run(world, "optout", "add", "site1.test", "--erase")
    assert other.exit_code == 1
    assert "finish it first" in other.output
    assert "erasure erasure.json: it was cut short" in run(world, "verify").output
    assert run(world, "optout", "add", HOST, "--erase").exit_code == 0
    assert run(world, "verify").exit_code == 0
    assert world.named_in() == []


def test_an_erasure_whose_note_cannot_be_read_goes_on_by_the_same_command(
    world: World, database_18: Engine
) -> None:
    rows = "SELECT relfilenode FROM pg_class WHERE relname LIKE 'response\\_%' AND relkind = 'r'"
    assert killed_at(world, 20) == -signal.SIGKILL
    note = world.data / "erasure.json"
    with database_18.connect() as connection:
        before = connection.scalar(text(rows))
        assert connection.scalar(text("SELECT count(*) FROM visit WHERE host = :host"), {"host": HOST}) == 0
    whole = note.read_bytes()
    other_key = whole.replace(json.loads(whole)["key"].encode(), b"no key")
    for content in (b"", whole[: len(whole) // 2], b"{}", b"null", b"\xff\x00", b"[" * 100_000, other_key):
        note.write_bytes(content)
        other = run(world, "optout", "add", "site1.test", "--erase")
        assert (other.exit_code, other.output.count("\n")) == (1, 1)
        assert "finish that erasure first" in other.output
    assert run(world, "optout", "add", HOST, "--erase").exit_code == 0
    assert world.named_in() == []
    assert not note.exists()
    with database_18.connect() as connection:
        assert connection.scalar(text(rows)) != before, "PostgreSQL's files still hold deleted rows"


def test_an_erasure_and_what_is_made_of_measurements_wait_for_each_other(world: World) -> None:
    with making(world.data):
        erased = run(world, "optout", "add", HOST, "--erase")
    assert (erased.exit_code, erased.output.count("\n")) == (1, 1)
    assert "wait for its end, and repeat this" in erased.output
    assert world.named_in()
    with erasing(world.data):
        for command in (
            ["release", "build", "--crawl", CRAWL],
            ["release", "publish", "--crawl", CRAWL],
            ["report", "build", "--year", "2026"],
            ["import", "pages"],
            ["verify", "release", CRAWL],
            ["verify"],
            ["replay", "run", "demo"],
            ["database", "backup"],
        ):
            made = run(world, *command)
            assert (made.exit_code, made.output.count("\n")) == (1, 1)
            assert "a site is erased" in made.output

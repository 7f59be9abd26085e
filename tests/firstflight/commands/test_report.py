"""`firstflight report build` as an operator runs it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from firstflight.commands.report import command
from firstflight.main import main
from firstflight.settings import Settings
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import crawl, data_folder, write_release

pytestmark = pytest.mark.process


def run(data_dir: Path, *arguments: str) -> Result:
    settings = Settings(
        data_dir=data_dir, cache_dir=data_dir / "cache", database_url=None, chromium=Path("chromium")
    )
    return CliRunner().invoke(command, arguments, obj=settings)


def test_build_writes_the_report_and_prints_its_path(tmp_path: Path) -> None:
    data_folder(tmp_path)
    result = run(tmp_path, "build", "--year", "2026")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tmp_path / 'reports' / '2026' / 'v1' / 'index.html'}\n"
    assert (
        (tmp_path / "reports" / "2026" / "v1" / "summary.txt").read_text().startswith("First flights in 2026")
    )


def test_json_prints_report_json(tmp_path: Path) -> None:
    write_release(tmp_path, crawl())
    result = run(tmp_path, "build", "--year", "2026", "--without-replay", "--json")
    assert result.stdout == (tmp_path / "reports" / "2026" / "v1" / "report.json").read_text(encoding="utf-8")
    assert json.loads(result.stdout)["release"]["crawl"] == str(NAME)


def test_the_commands_in_a_report_exist(tmp_path: Path) -> None:
    data_folder(tmp_path)
    facts = json.loads(run(tmp_path, "build", "--year", "2026", "--json").stdout)
    assert [line.split()[1:3] for line in facts["redo"]] == [
        ["release", "verify"],
        ["replay", "run"],
        ["report", "build"],
    ]
    for line in facts["redo"]:
        _, group, name, *arguments = shlex.split(line)
        found = main.get_command(click.Context(main), group)
        assert isinstance(found, click.Group)
        found.commands[name].make_context(name, arguments)  # raises on an unknown option


def test_a_missing_input_is_one_line_with_the_command_that_makes_it(tmp_path: Path) -> None:
    nothing = run(tmp_path, "build", "--year", "2026")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.count("\n") == 1
    assert "`firstflight release build --crawl 2026-MM`" in nothing.stderr
    write_release(tmp_path, crawl())
    unreplayed = run(tmp_path, "build", "--year", "2026")
    assert (unreplayed.exit_code, unreplayed.stderr.count("\n")) == (1, 1)
    assert f"`firstflight replay run --crawl {NAME}`" in unreplayed.stderr
    assert not (tmp_path / "reports").exists()


def test_an_invalid_year_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path, "build", "--year", "26").exit_code == 2

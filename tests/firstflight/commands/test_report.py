"""`firstflight report build` as an operator runs it."""

import json
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from firstflight.bars import Reached, read_bar
from firstflight.commands.report import command
from firstflight.commands.report import recompute as report_recompute
from firstflight.main import main
from firstflight.settings import Settings
from reports.publishing.recompute import Recomputed
from storage.report_versions import Publication
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import crawl, data_folder, write_release
from tests.factories.published_report import write_version
from tests.factories.undrawn import undrawn

pytestmark = pytest.mark.process


def run(data_dir: Path, *arguments: str) -> Result:
    settings = Settings(
        data_dir=data_dir, cache_dir=data_dir / "cache", database_url=None, chromium=Path("chromium")
    )
    return CliRunner().invoke(command, arguments, obj=settings)


def test_build_writes_the_report_and_prints_its_path_and_its_commands_exist(tmp_path: Path) -> None:
    data_folder(tmp_path)
    with undrawn():
        result = run(tmp_path, "build", "--year", "2026")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "reports" / "2026" / "v1"
    assert result.stdout == f"{folder / 'index.html'}\n"
    assert (folder / "summary.txt").read_text().startswith("First flights in 2026")
    assert {path.name for path in (folder / "loads").iterdir()} == {"loads.parquet", "facts.parquet"}
    redo = json.loads((folder / "report.json").read_text())["redo"]
    assert [line.split()[1:3] for line in redo] == [
        ["verify", "--offline"],
        ["replay", "run"],
        ["report", "build"],
    ]
    for line in redo:
        _, name, *options = shlex.split(line)
        context = click.Context(main)
        named = main.get_command(context, name)
        if isinstance(named, click.Group):
            name, *options = options
            named = named.get_command(context, name)
        assert named is not None
        named.make_context(name, options)  # raises on an unknown option


def test_all_items_of_a_report_are_computed_again_from_the_loads_that_it_carries(
    made_up_report: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(made_up_report, tmp_path / "data")
    folder = data / "reports" / "2026" / "v1"
    shutil.rmtree(data / "replays")
    again = run(data, "recompute", "2026", "v1", "all")
    assert again.exit_code == 0, again.output
    listed = json.loads((folder / "forms" / "index.json").read_text(encoding="utf-8"))
    ids = {*(item["id"] for item in listed), "number-fits", "number-gain"}
    assert {f"equal {name}" for name in ids} <= {*again.stdout.splitlines()}
    assert all(line.startswith("equal ") for line in again.stdout.splitlines())
    assert "computed by the loads that the report carries\n" in again.stderr


def test_items_that_differ_are_named_with_their_lines_and_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    equal = [
        Recomputed(id="cdf", again="a,b\n", differences=()),
        Recomputed(id="shares", again="c,d\n", differences=("-c,e", "+c,d")),
    ]
    write_version(tmp_path / "reports" / "2026", Publication(date="2027-01-15"))
    monkeypatch.setattr(
        report_recompute, "recompute_items", lambda _, wanted, **__: equal[-1:] if wanted else equal
    )
    every = run(tmp_path, "recompute", "2026", "v1", "all")
    assert (every.exit_code, every.stdout) == (1, "equal cdf\n-c,e\n+c,d\ndiffers shares\n")
    shares = run(tmp_path, "recompute", "2026", "v1", "shares")
    assert (shares.exit_code, shares.stdout) == (1, "c,d\n-c,e\n+c,d\ndiffers\n")


def test_a_build_says_how_many_of_its_figures_are_drawn(tmp_path: Path) -> None:
    write_release(tmp_path, crawl())
    told = tmp_path / "bar"
    settings = Settings(
        data_dir=tmp_path,
        cache_dir=tmp_path / "cache",
        database_url=None,
        chromium=Path("chromium"),
        bar_file=told,
    )
    arguments = ("build", "--year", "2026", "--without-replay")
    assert CliRunner().invoke(command, arguments, obj=settings).exit_code == 0
    drawn = [*(tmp_path / "reports" / "2026" / "v1" / "forms" / "figures").glob("*.png")]
    assert drawn
    assert read_bar(told) == Reached(done=len(drawn), total=len(drawn), unit="figures")


def test_json_prints_report_json(tmp_path: Path) -> None:
    write_release(tmp_path, crawl())
    with undrawn():
        result = run(tmp_path, "build", "--year", "2026", "--without-replay", "--json")
    assert result.stdout == (tmp_path / "reports" / "2026" / "v1" / "report.json").read_text(encoding="utf-8")
    assert json.loads(result.stdout)["release"]["crawl"] == str(NAME)


def test_a_missing_input_is_one_line_with_the_command_that_makes_it(tmp_path: Path) -> None:
    nothing = run(tmp_path, "build", "--year", "2026")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.count("\n") == 1
    assert "`firstflight release build --crawl 2026-MM`" in nothing.stderr
    write_release(tmp_path, crawl())
    unreplayed = run(tmp_path, "build", "--year", "2026")
    assert (unreplayed.exit_code, unreplayed.stderr.count("\n")) == (1, 1)
    assert f"`firstflight replay run edition --set pages={NAME}`" in unreplayed.stderr
    assert not (tmp_path / "reports").exists()


def test_an_invalid_year_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path, "build", "--year", "26").exit_code == 2

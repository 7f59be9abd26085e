"""The packages that Python finds are the ones in this tree, and the command line is whole."""

import subprocess
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from firstflight import checks
from firstflight.main import COMMANDS, main

pytestmark = pytest.mark.process


ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["uv"]["build-backend"]["module-name"]


def test_doctor_knows_every_package() -> None:
    assert list(checks.PACKAGES) == PACKAGES


def test_the_images_have_the_version_of_the_code() -> None:
    call = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "grep", "-hoE"]
    call += [
        "firstflight-(airflow|api|worker):[0-9.]+[0-9]",
        "--",
        "docker*",
        "docs",
        "scripts",
        "tests/compose",
    ]
    tags = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    assert {tag.partition(":")[2] for tag in tags} == {PROJECT["project"]["version"]}


def test_no_dag_file_is_called_after_a_package() -> None:
    names = {path.stem for path in (ROOT / "dags").glob("*.py")}
    assert not names & set(PACKAGES)


def test_no_init_file_under_tests_shadows_a_package() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_an_example(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert f"firstflight {name}" in done.output
    context = click.Context(main)
    group = main.get_command(context, name)
    if not isinstance(group, click.Group):
        return
    for part in group.list_commands(context):
        command = group.get_command(context, part)
        assert command is not None
        assert f"firstflight {name} {part}" in (command.help or ""), part

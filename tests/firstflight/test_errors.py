"""What mistakes are answered with: a suggestion, a folder to set, and how to go on after Ctrl-C."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firstflight.errors import INTERRUPTED
from firstflight.main import main
from storage import embedded
from tests.circles import thorough

pytestmark = pytest.mark.process

NOBODY = 65534


@pytest.mark.parametrize(
    ("called", "meant"),
    [
        ("serv", "serve"),
        ("replya", "replay"),
        ("crawl plna", "plan"),
        ("import hra", "har"),
        ("release bild", "build"),
        ("replay rnu", "run"),
        ("report verson", "versions"),
        ("population lsit", "list"),
        ("database stpo", "stop"),
        ("crawl run --until-empt", "--until-empty"),
    ],
)
def test_a_misspelt_word_has_a_suggestion_at_every_level(called: str, meant: str) -> None:
    done = CliRunner().invoke(main, called.split())
    assert done.exit_code == 2
    assert meant in done.stderr.splitlines()[-1].partition("Did you mean")[2]


@pytest.mark.parametrize(
    "command",
    ["demo", "import pages", "database url", "crawl plan --crawl 2026-11 --set list={folder}/sites.txt"],
)
@pytest.mark.parametrize("obstacle", ["closed", *thorough("file")])
def test_a_data_folder_that_cannot_be_written_is_told_of_as_doctor_does(
    command: str, obstacle: str, server_folder: Path
) -> None:
    folder = server_folder / f"{obstacle}-{command.split()[0]}"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed").chmod(0o555)
    (folder / "file").touch()
    (folder / "sites.txt").write_text("a.test\n")
    environment = {**os.environ, "FIRSTFLIGHT_DATA_DIR": str(folder / obstacle / "data")}
    environment.pop("FIRSTFLIGHT_DATABASE_URL", None)
    as_another: dict[str, Any] = (
        {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    )
    done = subprocess.run(
        [sys.executable, "-m", "firstflight", *command.format(folder=folder).split()],
        env={**environment, "HOME": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
        **as_another,
    )
    what = "not writable" if obstacle == "closed" else "no folder"
    assert done.stderr == (
        f"Error: {folder / obstacle} is {what}: set FIRSTFLIGHT_DATA_DIR to a folder that is\n"
    )
    assert done.returncode == 1


def test_another_errors_file_is_not_said_to_be_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path))

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/elsewhere")

    monkeypatch.setattr("firstflight.commands.verify.judge_all", refused)
    assert isinstance(CliRunner().invoke(main, ["verify"]).exception, PermissionError)


@pytest.mark.parametrize(("module", "is_ours"), [("granian._granian", False), ("firstflight.serving", True)])
def test_a_library_that_is_missing_is_named_and_one_of_ours_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, module: str, is_ours: bool
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("firstflight.commands.verify.judge_all", missing)
    done = CliRunner().invoke(main, ["verify"])
    assert isinstance(done.exception, ModuleNotFoundError) == is_ours
    if not is_ours:
        assert (done.exit_code, done.stderr) == (
            1,
            f"Error: this command needs the Python package {module}: "
            "`firstflight doctor` says what to install\n",
        )


def test_ctrl_c_says_what_still_runs_and_how_to_go_on(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = server_folder / "interrupted"
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    monkeypatch.delenv("FIRSTFLIGHT_DATABASE_URL", raising=False)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("firstflight.commands.verify.judge_all", interrupted)
    quiet = CliRunner().invoke(main, ["verify"])
    assert (quiet.exit_code, quiet.stderr) == (
        INTERRUPTED,
        "stopped: what is whole is kept, and the same command can be run again\n",
    )
    embedded.start(folder / "postgres")
    try:
        first, second = CliRunner().invoke(main, ["verify"]).stderr.splitlines()
    finally:
        embedded.stop(folder / "postgres")
    assert first == "stopped: what is whole is kept, and the same command can be run again"
    assert second == (
        f"PostgreSQL still runs in {folder / 'postgres'}, for the next command; "
        "`firstflight database stop` ends it"
    )

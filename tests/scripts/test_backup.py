"""`scripts/backup` beside a stand-in for docker: modes, what a kill leaves, and where it refuses to write."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "backup"

DOCKER = """#!/bin/sh
case "$*" in
    *tar*) [ -e "$KILL" ] && kill -9 "$PPID" ;;
esac
echo copied
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "docker").write_text(DOCKER)
    (programs / "docker").chmod(0o755)
    (tmp_path / "secrets.env").write_text("POSTGRES_PASSWORD=x\n")
    (tmp_path / "secrets" / "values").mkdir(parents=True)
    return {
        **os.environ,
        "PATH": f"{programs}:/usr/bin:/bin",
        "COMPOSE_ENV_FILES": str(tmp_path / "secrets.env"),
        "FIRSTFLIGHT_SECRETS": str(tmp_path / "secrets"),
        "KILL": str(tmp_path / "kill"),
    }


def backup(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    call = ["sh", "-c", f"umask 0; exec {SCRIPT} {folder}"]
    return subprocess.run(call, env=environment, capture_output=True, text=True, check=False)


def test_a_backup_is_for_its_owner_alone_and_its_sums_hold(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "2026-11-30"
    done = backup(folder, environment)
    assert done.returncode == 0, done.stderr
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes.keys() >= {"data.tar", "airflow.dump", "SHA256SUMS"}
    assert set(modes.values()) == {0o600}
    # The first thing that scripts/restore does.
    held = subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=False)
    assert held.returncode == 0
    again = backup(folder, environment)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)


def test_what_a_killed_backup_left_is_no_backup_and_is_swept_by_the_next(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "2026-11-30"
    (tmp_path / "kill").touch()
    assert backup(folder, environment).returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert not folder.exists()
    assert (tmp_path / "2026-11-30.new" / "data.tar").exists()
    (tmp_path / "kill").unlink()
    done = backup(folder, environment)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("2026-*")] == ["2026-11-30"]


def test_no_backup_is_made_where_everybody_could_exchange_it(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "open" / "inner").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    refused = backup(tmp_path / "open" / "inner" / "2026-11-30", environment)
    assert refused.returncode == 1
    assert refused.stderr == (
        f"backup: {tmp_path}/open can be written by everybody: run `chmod o-w {tmp_path}/open` first\n"
    )
    assert list((tmp_path / "open" / "inner").iterdir()) == []

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from storage import embedded

pytestmark = pytest.mark.process


def run(data: Path, *arguments: str, group: str = "database") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data), "FIRSTFLIGHT_DATABASE_URL": ""}
    call = [sys.executable, "-m", "firstflight", group, *arguments]
    return subprocess.run(call, env=environment, capture_output=True, text=True, check=False)


def test_the_embedded_server_answers_at_its_url_until_it_is_stopped(server_folder: Path) -> None:
    data = server_folder / "stopped"
    done = run(data, "url")
    assert done.returncode == 0, done.stderr
    url = done.stdout.strip()
    copied = run(data, "backup", "--keep", "1")
    assert copied.returncode == 0, copied.stderr
    assert [str(path) for path in (data / "backups").iterdir()] == copied.stdout.splitlines()
    restored = run(data, "restore")
    assert restored.stdout == copied.stdout, restored.stderr
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 6928").fetchone() == (6928,)
    assert run(data, "stop").returncode == 0
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    assert run(data, "stop").returncode == 0


def test_a_command_that_only_reads_leaves_the_server_as_it_was(server_folder: Path) -> None:
    data = server_folder / "read"
    listed = run(data, "list", group="crawl")
    assert (listed.returncode, listed.stdout) == (0, "no crawls yet\n"), listed.stderr
    assert embedded.postmaster(data / "postgres") is None
    with psycopg.connect(run(data, "url").stdout.strip()):
        assert run(data, "list", group="crawl").returncode == 0
        embedded.stop_if_idle(data / "postgres")
        assert embedded.postmaster(data / "postgres") is not None
    run(data, "stop")

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from storage import embedded

pytestmark = pytest.mark.process


START = "import sys, pathlib; from storage import embedded; print(embedded.start(pathlib.Path(sys.argv[1])))"


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """One data folder for all tests: each starts from the state that the previous one left."""
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    folder.chmod(0o755)
    half_made = folder / "postgres.new"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18\n")
    yield folder / "postgres"
    embedded.stop(folder / "postgres")
    shutil.rmtree(folder)


def test_the_server_is_postgresql_18_in_a_private_folder(data: Path) -> None:
    with psycopg.connect(embedded.start(data)) as connection:
        assert connection.info.server_version // 10_000 == 18
    assert data.stat().st_mode & 0o777 == 0o700
    assert data.stat().st_uid != 0


def test_a_half_made_cluster_is_created_again(data: Path) -> None:
    psycopg.connect(embedded.start(data)).close()
    assert not data.with_name("postgres.new").exists()


def test_several_processes_at_once_share_one_server_that_outlives_them(data: Path) -> None:
    embedded.stop(data)
    started = [
        subprocess.Popen([sys.executable, "-c", START, str(data)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    urls = {process.communicate(timeout=60)[0].strip() for process in started}
    assert urls == {embedded.url(data)}
    assert [process.returncode for process in started] == [0, 0, 0]
    psycopg.connect(embedded.url(data)).close()


def copy_and_kill(connection: psycopg.Connection[Any], pid: int) -> None:
    with connection.cursor().copy("COPY t FROM STDIN") as copy:
        copy.write("2\n" * 100_000)
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            copy.write("3\n" * 100_000)


def test_a_server_killed_within_a_transaction_leaves_no_row_and_is_restarted(data: Path) -> None:
    url = embedded.start(data)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n int)")
        connection.execute("INSERT INTO t VALUES (1)")
    broken = psycopg.connect(url)
    killed = embedded.postmaster(data)
    assert killed is not None
    with pytest.raises(psycopg.OperationalError):
        copy_and_kill(broken, killed)
    broken.close()
    with ThreadPoolExecutor(3) as pool:  # all at once, as several crawlers would
        assert set(pool.map(embedded.start, [data] * 3)) == {url}
    assert embedded.postmaster(data) not in (None, killed)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT n FROM t").fetchall() == [(1,)]


def test_a_lock_file_with_the_pid_of_another_process_is_not_a_server(data: Path) -> None:
    embedded.start(data)
    pid = embedded.postmaster(data)
    assert pid is not None
    embedded.stop(data)
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n0\n5432\n{data}\n\n0 0\nready\n")
    assert embedded.postmaster(data) is None
    embedded.stop(data)  # must not hurt us
    embedded.start(data)
    assert embedded.postmaster(data) not in (None, os.getpid())


def test_a_stopped_server_keeps_its_data(data: Path) -> None:
    with psycopg.connect(embedded.start(data)) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    embedded.stop(data)
    assert embedded.postmaster(data) is None
    with psycopg.connect(embedded.start(data)) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(embedded.EmbeddedError, match="FIRSTFLIGHT_DATA_DIR"):
        embedded.start(tmp_path / ("x" * 100) / "postgres")


def test_nothing_is_made_below_the_home_of_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(embedded.EmbeddedError, match="root's home"):
        embedded.start(Path("~root/firstflight/postgres").expanduser())
    assert not Path("~root/firstflight").expanduser().exists()


def test_a_folder_that_its_user_cannot_enter_is_reported_in_one_line() -> None:
    closed = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    try:
        closed.chmod(0o700 if os.geteuid() == 0 else 0o500)
        with pytest.raises(embedded.EmbeddedError) as excinfo:
            embedded.start(closed / "postgres")
        assert "\n" not in str(excinfo.value)
        assert closed.stat().st_mode & 0o777 in (0o700, 0o500)  # it opens nothing up
    finally:
        shutil.rmtree(closed)


@pytest.mark.parametrize("in_the_way", ["postgres/theirs", "postgres.new.initdb.log/theirs", "postgres.new"])
def test_file_system_errors_are_reported_in_one_line(in_the_way: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        (folder / in_the_way).parent.mkdir(exist_ok=True)
        (folder / in_the_way).touch()
        with pytest.raises(embedded.EmbeddedError, match="FIRSTFLIGHT_DATA_DIR") as excinfo:
            embedded.start(folder / "postgres")
        assert "\n" not in str(excinfo.value)
        assert in_the_way.split("/")[0] in str(excinfo.value)
        assert (folder / in_the_way).exists()
    finally:
        shutil.rmtree(folder)

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from storage.backup import BackupFailed, backup, list_backups, restore
from storage.modes import UnsafeFolder


@pytest.fixture
def filled(empty_database: str) -> str:
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TABLE window_of (rfc integer PRIMARY KEY, segments integer)")
        connection.execute("INSERT INTO window_of VALUES (3390, 3), (6928, 10)")
    return empty_database


def rows(url: str) -> list[tuple[int, int]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT rfc, segments FROM window_of ORDER BY rfc").fetchall()


def test_a_backup_restores_an_empty_database_and_refuses_one_with_tables(filled: str, tmp_path: Path) -> None:
    copy = backup(filled, tmp_path / "backups", keep=1)
    with pytest.raises(BackupFailed, match="only be restored into an empty database"):
        restore(filled, copy)
    with psycopg.connect(filled) as connection:
        connection.execute("DROP TABLE window_of")
    restore(filled, copy)
    assert rows(filled) == [(3390, 3), (6928, 10)]


def test_the_oldest_backups_are_removed(filled: str, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"2026110{day}T020000Z.dump").touch()
    newest = backup(filled, tmp_path, keep=2)
    assert list_backups(tmp_path) == [tmp_path / "20261103T020000Z.dump", newest]


def test_a_backup_by_a_clock_that_was_set_back_is_kept(filled: str, tmp_path: Path) -> None:
    for day in ("20990101", "20990102"):
        (tmp_path / f"{day}T000000Z.dump").touch()
    newest = backup(filled, tmp_path, keep=2)
    assert list_backups(tmp_path) == [newest, tmp_path / "20990102T000000Z.dump"]


def test_a_failed_backup_leaves_nothing_and_its_message_hides_the_password(tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="pg_dump") as failed:
        backup(f"postgresql://nobody:secret@/none?host={tmp_path}", tmp_path, keep=1)
    assert "secret" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_backup_restores_nothing(filled: str, tmp_path: Path) -> None:
    copy = backup(filled, tmp_path, keep=1)
    with psycopg.connect(filled) as connection:
        connection.execute("DROP TABLE window_of")
    copy.write_bytes(copy.read_bytes()[:-40])
    with pytest.raises(BackupFailed, match="pg_restore"):
        restore(filled, copy)
    with psycopg.connect(filled) as connection:
        assert connection.execute("SELECT to_regclass('window_of')").fetchone() == (None,)


def test_only_the_owner_may_read_a_backup_and_its_folder(filled: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        copy = backup(filled, folder, keep=1)
    finally:
        os.umask(before)
    assert (folder.stat().st_mode & 0o777, copy.stat().st_mode & 0o777) == (0o700, 0o600)
    assert list(folder.iterdir()) == [copy]


def test_no_backup_is_made_where_everybody_could_replace_it(filled: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UnsafeFolder, match="can be written by everybody"):
        backup(filled, tmp_path / "backups", keep=1)
    assert not list(tmp_path.rglob("*.dump"))


def test_the_next_backup_removes_what_a_killed_one_left(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pg_dump").write_text(
        '#!/bin/sh\nfor a; do :; done\necho half > "${2#--file=}"\nkill -9 $PPID\n'
    )
    (tmp_path / "pg_dump").chmod(0o755)
    code = (
        "import sys; from pathlib import Path; from storage import backup\n"
        "backup.programs = lambda: Path(sys.argv[1])\n"
        "backup.backup('postgresql:///x', Path(sys.argv[2]), keep=1)"
    )
    folder = tmp_path / "backups"
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path), str(folder)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = folder.iterdir()
    assert [path.read_text() for path in left.iterdir()] == ["half\n"]
    for path in (left, *left.iterdir()):
        os.utime(path, (0, 0))
    assert list(folder.iterdir()) == [left]
    copy = backup(filled, folder, keep=1)
    assert list(folder.iterdir()) == [copy]

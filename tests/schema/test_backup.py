from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from schema.backup import BackupFailed, backup, copies, restore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def filled(empty_database: str) -> str:
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TABLE window_of (rfc integer PRIMARY KEY, segments integer)")
        connection.execute("INSERT INTO window_of VALUES (3390, 3), (6928, 10)")
    return empty_database


def rows(url: str) -> list[tuple[int, int]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT rfc, segments FROM window_of ORDER BY rfc").fetchall()


def test_what_was_lost_is_restored_and_what_is_there_is_not_touched(filled: str, tmp_path: Path) -> None:
    copy = backup(filled, tmp_path / "backups", keep=1)
    with pytest.raises(BackupFailed, match="into an empty one alone"):
        restore(filled, copy)
    with psycopg.connect(filled) as connection:
        connection.execute("DROP TABLE window_of")
    restore(filled, copy)
    assert rows(filled) == [(3390, 3), (6928, 10)]


def test_the_oldest_copies_go(filled: str, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"2026110{day}T020000Z.dump").touch()
    made = backup(filled, tmp_path, keep=2)
    assert copies(tmp_path) == [tmp_path / "20261103T020000Z.dump", made]


def test_a_copy_that_fails_leaves_nothing_and_says_why_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="pg_dump") as failed:
        backup(f"postgresql://nobody:secret@/none?host={tmp_path}", tmp_path, keep=1)
    assert "secret" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_is_cut_short_restores_nothing(filled: str, tmp_path: Path) -> None:
    copy = backup(filled, tmp_path, keep=1)
    with psycopg.connect(filled) as connection:
        connection.execute("DROP TABLE window_of")
    copy.write_bytes(copy.read_bytes()[:-40])
    with pytest.raises(BackupFailed, match="pg_restore"):
        restore(filled, copy)
    with psycopg.connect(filled) as connection:
        assert connection.execute("SELECT to_regclass('window_of')").fetchone() == (None,)

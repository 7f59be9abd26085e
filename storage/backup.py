"""Backups of the database by PostgreSQL 18's own programs, which also read older servers."""

import contextlib
import datetime
import os
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from storage.embedded import programs
from storage.engine import DatabaseError
from storage.modes import make_private
from storage.staging import put_file_in_place

VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
}
"""libpq's environment variables by connection parameter:
every user of the machine could read a password argument."""

TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"

TOO_NEW = b"SET transaction_timeout = 0;\n"
"""A line at the beginning of a backup as text; servers before PostgreSQL 17 refuse it."""


class BackupFailed(DatabaseError):
    """A backup could not be made or restored; the message is PostgreSQL's."""


def backup(url: str, folder: Path, *, keep: int) -> Path:
    """Back up the whole database, as of one moment, into `folder`, which only its owner may read; the newest
    `keep` backups stay, this one among them.
    """
    make_private(folder)
    now = datetime.datetime.now(datetime.UTC)
    copy = folder / f"{now:%Y%m%dT%H%M%SZ}.dump"
    with put_file_in_place(copy, mode=0o600) as half:
        call = [str(programs() / "pg_dump"), "--format=custom", f"--file={half}"]
        with subprocess.Popen(call, env=_environment(url), stderr=subprocess.PIPE) as process:
            if process.wait():
                raise _failed("pg_dump", process)
    # This one is kept whatever the clock says: it may have been set back since the others were made.
    others = [other for other in list_backups(folder) if other != copy]
    for old in others[: max(0, len(others) + 1 - keep)]:
        old.unlink()
    return copy


def list_backups(folder: Path) -> list[Path]:
    """Return the backups in `folder`, the oldest first."""
    return sorted(folder.glob("*.dump"))


def restore(url: str, copy: Path) -> None:
    """Restore a backup into an empty database, whole or not at all.

    BackupFailed if the database is not empty.
    """
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute(TABLES).fetchone()
    except psycopg.Error as exc:
        raise BackupFailed(str(exc)) from exc
    if row != (0,):
        raise BackupFailed("the database has tables: a backup can only be restored into an empty database")
    pipe = subprocess.PIPE
    read = [str(programs() / "pg_restore"), "--no-owner", "--file=-", str(copy)]
    write = [str(programs() / "psql"), "-qX1", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with (
        subprocess.Popen(read, stdout=pipe, stderr=pipe) as reader,
        subprocess.Popen(write, stdin=pipe, stderr=pipe, env=_environment(url)) as writer,
    ):
        assert reader.stdout is not None
        assert writer.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the program itself reports why
            for line in reader.stdout:
                if line == TOO_NEW:
                    break
                writer.stdin.write(line)
            shutil.copyfileobj(reader.stdout, writer.stdin)
        if reader.wait():
            writer.kill()  # before its input ends, so that nothing is committed
            writer.wait()
        with contextlib.suppress(BrokenPipeError):
            writer.stdin.close()
        if reader.returncode:
            raise _failed("pg_restore", reader)
        if writer.wait():
            raise _failed("psql", writer)


def _failed(program: str, process: subprocess.Popen[bytes]) -> BackupFailed:
    output = process.stderr.read() if process.stderr else b""
    return BackupFailed(f"{program}: {' '.join(output.decode(errors='replace').split())[-300:]}")


def _environment(url: str) -> dict[str, str]:
    wanted = conninfo_to_dict(url)
    settings = {variable: str(wanted[name]) for name, variable in VARIABLES.items() if name in wanted}
    return {**os.environ, **settings}

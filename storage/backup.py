"""Copies of the database, made and read by PostgreSQL 18's own programs: of that server and of older ones."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict

from storage.embedded import programs
from storage.engine import DatabaseError
from storage.modes import make_private
from storage.staging import put_file_in_place

if TYPE_CHECKING:
    from pathlib import Path

VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
}
"""Of libpq (libpq-envars): a password in the arguments could be read by everybody on the machine."""

TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"


TOO_NEW = b"SET transaction_timeout = 0;\n"
"""Among the first lines of a copy as text; servers before PostgreSQL 17 refuse it."""


class BackupFailed(DatabaseError):
    """A copy could not be made or read; says what PostgreSQL said."""


def backup(url: str, folder: Path, *, keep: int) -> Path:
    """A copy of the whole database in `folder`, as it is at one moment; the oldest beyond `keep` are removed.

    Folder and copy are for their owner alone: the copy holds what the database asks a password for.
    """
    make_private(folder)
    now = datetime.datetime.now(datetime.UTC)
    copy = folder / f"{now:%Y%m%dT%H%M%SZ}.dump"
    with put_file_in_place(copy, mode=0o600) as half:
        call = [str(programs() / "pg_dump"), "--format=custom", f"--file={half}"]
        with subprocess.Popen(call, env=_environment(url), stderr=subprocess.PIPE) as process:
            if process.wait():
                raise _failed("pg_dump", process)
    for old in copies(folder)[:-keep]:
        old.unlink()
    return copy


def copies(folder: Path) -> list[Path]:
    """Those that are there, the oldest first."""
    return sorted(folder.glob("*.dump"))


def restore(url: str, copy: Path) -> None:
    """Fill an empty database from a copy, whole or not at all; BackupFailed if it is not empty."""
    try:
        with psycopg.connect(url) as connection:
            found = connection.execute(TABLES).fetchone()
    except psycopg.Error as exc:
        raise BackupFailed(str(exc)) from exc
    if found != (0,):
        raise BackupFailed("the database has tables: a copy is restored into an empty one alone")
    pipe = subprocess.PIPE
    read = [str(programs() / "pg_restore"), "--no-owner", "--file=-", str(copy)]
    write = [str(programs() / "psql"), "-qX1", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with (
        subprocess.Popen(read, stdout=pipe, stderr=pipe) as reader,
        subprocess.Popen(write, stdin=pipe, stderr=pipe, env=_environment(url)) as writer,
    ):
        assert reader.stdout is not None
        assert writer.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it says why itself
            for line in reader.stdout:
                if line == TOO_NEW:
                    break
                writer.stdin.write(line)
            shutil.copyfileobj(reader.stdout, writer.stdin)
        if reader.wait():
            writer.kill()  # before its input ends: then nothing is committed
            writer.wait()
        with contextlib.suppress(BrokenPipeError):
            writer.stdin.close()
        if reader.returncode:
            raise _failed("pg_restore", reader)
        if writer.wait():
            raise _failed("psql", writer)


def _failed(program: str, process: subprocess.Popen[bytes]) -> BackupFailed:
    said = process.stderr.read() if process.stderr else b""
    return BackupFailed(f"{program}: {' '.join(said.decode(errors='replace').split())[-300:]}")


def _environment(url: str) -> dict[str, str]:
    wanted = conninfo_to_dict(url)
    settings = {variable: str(wanted[name]) for name, variable in VARIABLES.items() if name in wanted}
    return {**os.environ, **settings}

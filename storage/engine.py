"""
SQLAlchemy engines for PostgreSQL whose errors form one tree; each message is a line that says what to do:

* DatabaseError
  + DatabaseUnreachable   no server answers, or it went away during work
  + DatabaseFull          the server has no resources left
  + DatabaseRefused       the server answers, but denies the operation
  + DatabaseBusy          another session holds a lock that the operation needs
  + DatabaseNewer         the database was upgraded by a newer firstflight (see migrations)

Errors of SQLAlchemy and psycopg are translated only here. An untranslated one is a bug.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url
from sqlalchemy.engine import ExceptionContext

CONNECT_TIMEOUT_S = 10
UNANSWERED_TIMEOUT_MS = 60_000
"""Time after which a server that stopped responding, e.g. by a power failure, counts as gone,
in milliseconds."""

INSUFFICIENT_RESOURCES = "53"
"""SQLSTATE class of exhausted disk, memory, connections or configured limits."""

REFUSALS = ("28", "3D", "42501", "25006")
"""SQLSTATEs of failed authorization, a missing database, missing privileges and a read-only server."""

LOCKED = "55P03"

GONE = ("08", "57P")
"""SQLSTATE classes of connection failures, and of a server that shuts down, crashes or starts up."""


class DatabaseError(Exception):
    """Base class of all database errors."""


class DatabaseUnreachable(DatabaseError):
    """No server answers, or the connection was lost."""


class DatabaseFull(DatabaseError):
    """Disk, memory or connections of the server are exhausted."""


class DatabaseRefused(DatabaseError):
    """The server denies access: password, database or privileges."""


class DatabaseBusy(DatabaseError):
    """Another session holds a lock that the operation needs."""


class DatabaseNewer(DatabaseError):
    """The tables belong to a newer firstflight."""


def connect(url: str) -> Engine:
    """Return an engine over psycopg 3, which connects at its first use."""
    try:
        parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    except (exc.ArgumentError, ValueError):  # ValueError if the port is not a number
        raise DatabaseRefused(
            "the database URL cannot be read: write postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        ) from None
    if parsed.get_backend_name() != "postgresql":
        raise DatabaseRefused(f"the database must be PostgreSQL, not {parsed.get_backend_name()}")
    engine = create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,  # a server that was restarted meanwhile is no error
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            "tcp_user_timeout": UNANSWERED_TIMEOUT_MS,
            "client_encoding": "utf8",
            "application_name": "firstflight",
        },
    )
    where = parsed.render_as_string(hide_password=True)

    @event.listens_for(engine, "handle_error", retval=True)
    def translate(context: ExceptionContext) -> Exception | None:
        # The pool replaces a connection whose pre-ping fails by itself.
        if context.is_pre_ping or not isinstance(context.original_exception, psycopg.Error):
            return None
        return translate_error(context.original_exception, where)

    return engine


@contextlib.contextmanager
def psycopg_errors(engine: Engine) -> Iterator[None]:
    """Translate errors of calls that bypass SQLAlchemy, such as COPY."""
    try:
        yield
    except psycopg.Error as error:
        ours = translate_error(error, engine.url.render_as_string(hide_password=True))
        if ours is None:
            raise
        raise ours from error


def translate_error(error: psycopg.Error, where: str) -> DatabaseError | None:
    """Return the DatabaseError for an error of psycopg, by its SQLSTATE (PostgreSQL manual, appendix A).

    None for a bug.
    """
    message = " ".join(str(error).split("\n")[0].split())
    code = error.sqlstate or ""
    if code.startswith(INSUFFICIENT_RESOURCES):
        return DatabaseFull(f"PostgreSQL has no room left ({message}): make room and run it again")
    if code.startswith(REFUSALS):
        return DatabaseRefused(
            f"PostgreSQL refuses ({message}): correct FIRSTFLIGHT_DATABASE_URL or the role"
        )
    if code == LOCKED:
        return DatabaseBusy(
            f"PostgreSQL is busy ({message}): run it again when nobody reads or writes what it needs"
        )
    # Without a code the server did not answer: it is unreachable, or the connection broke.
    gone = not code and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    if gone or code.startswith(GONE):
        return DatabaseUnreachable(
            f"PostgreSQL cannot be used at {where} ({message}): start it, or correct FIRSTFLIGHT_DATABASE_URL"
        )
    return None


def driver_connection(connection: Connection) -> psycopg.Connection[Any]:
    """Return the psycopg connection of a SQLAlchemy connection, in the same transaction."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver

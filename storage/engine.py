"""
A PostgreSQL server as an Engine whose errors are of one tree, each a line that says what to do:

* DatabaseError
  + DatabaseUnreachable   nothing answers there, or it went away in mid-work
  + DatabaseFull          the server has no room left
  + DatabaseRefused       it answers, but does not let us do this
  + DatabaseBusy          something else holds what this needs
  + DatabaseNewer         it was upgraded by a newer firstflight (see migrations)

SQLAlchemy's and psycopg's errors are translated here and nowhere else. What is left of them is a bug.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import ExceptionContext

CONNECT_TIMEOUT_S = 10
UNANSWERED_TIMEOUT_MS = 60_000
"""A server that vanishes without a word (its machine lost power) is given up after this."""

INSUFFICIENT_RESOURCES = "53"
"""Class of SQLSTATE: disk, memory, connections, configured limits."""

REFUSALS = ("28", "3D", "42501", "25006")
"""Authorization, no such database, privileges, a read-only server."""

LOCKED = "55P03"
"""A lock was not to be had within lock_timeout."""

GONE = ("08", "57P")
"""Connection exceptions; shutdown, crash, start-up."""


class DatabaseError(Exception):
    """Anything above."""


class DatabaseUnreachable(DatabaseError):
    """No server answers, or it went away."""


class DatabaseFull(DatabaseError):
    """Disk, memory or connections of the server are used up."""


class DatabaseRefused(DatabaseError):
    """The server does not let us: password, database, privileges."""


class DatabaseBusy(DatabaseError):
    """Others hold a lock on what this needs."""


class DatabaseNewer(DatabaseError):
    """The tables are those of a newer firstflight."""


def connect(url: str) -> Engine:
    """An Engine over psycopg 3; it connects when it is first used."""
    try:
        parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    except (exc.ArgumentError, ValueError):  # the latter for a port that is no number
        raise DatabaseRefused(
            "the database URL cannot be read: write postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        ) from None
    if parsed.get_backend_name() != "postgresql":
        raise DatabaseRefused(f"the database must be PostgreSQL, not {parsed.get_backend_name()}")
    engine = create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,  # a server that was started anew in between is no error
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
        # The pool answers a dead connection in its pre-ping itself, by a new one.
        if context.is_pre_ping or not isinstance(context.original_exception, psycopg.Error):
            return None
        return translated(context.original_exception, where)

    return engine


@contextlib.contextmanager
def psycopg_errors(engine: Engine) -> Iterator[None]:
    """Translate the errors of what goes past SQLAlchemy: COPY."""
    try:
        yield
    except psycopg.Error as error:
        ours = translated(error, engine.url.render_as_string(hide_password=True))
        if ours is None:
            raise
        raise ours from error


def translated(error: psycopg.Error, where: str) -> DatabaseError | None:
    """Our error for one of psycopg's, or None for a bug; by SQLSTATE (PostgreSQL manual, appendix A)."""
    said = " ".join(str(error).split("\n")[0].split())
    code = error.sqlstate or ""
    if code.startswith(INSUFFICIENT_RESOURCES):
        return DatabaseFull(f"PostgreSQL has no room left ({said}): make room and run it again")
    if code.startswith(REFUSALS):
        return DatabaseRefused(f"PostgreSQL refuses ({said}): correct FIRSTFLIGHT_DATABASE_URL or the role")
    if code == LOCKED:
        return DatabaseBusy(
            f"PostgreSQL is busy ({said}): run it again when nobody reads or writes what it needs"
        )
    # Without a code the server said nothing: it cannot be reached, or the connection broke.
    gone = not code and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    if gone or code.startswith(GONE):
        return DatabaseUnreachable(
            f"PostgreSQL cannot be used at {where} ({said}): start it, or correct FIRSTFLIGHT_DATABASE_URL"
        )
    return None


def driver_connection(connection: Connection) -> psycopg.Connection[Any]:
    """The psycopg connection below a SQLAlchemy one, in the same transaction."""
    found = connection.connection.driver_connection
    assert isinstance(found, psycopg.Connection)
    return found

"""Connects commands to the database that the settings name, or to the embedded one,
with its tables upgraded."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Engine

from firstflight.settings import Settings
from storage import embedded, migrate
from storage.engine import DatabaseUnreachable, connect


def embedded_folder(settings: Settings) -> Path:
    """Return the folder of the embedded server's data."""
    return settings.data_dir / "postgres"


def database_url(settings: Settings) -> str:
    """Return the URL of the database; starts the embedded server if the settings name none."""
    return settings.database_url or embedded.start(embedded_folder(settings))


def make_restarter(settings: Settings) -> Callable[[], object] | None:
    """Return a function that restarts the embedded server after it has died.

    None for a server that others keep running.
    """
    if settings.database_url:
        return None
    return functools.partial(embedded.start, embedded_folder(settings))


def engine(settings: Settings) -> Engine:
    """Return an engine of the database, with its tables upgraded; the caller disposes of it.

    Raises storage.engine.DatabaseError.
    """
    try:
        return _upgraded(settings)
    except DatabaseUnreachable:
        if settings.database_url:
            raise
        return _upgraded(settings)  # a command that had started the embedded server stopped it meanwhile


def _upgraded(settings: Settings) -> Engine:
    connected = connect(database_url(settings))
    try:
        migrate.upgrade(connected)
    except BaseException:
        connected.dispose()
        raise
    return connected


@contextlib.contextmanager
def database(settings: Settings) -> Iterator[Engine]:
    """Connect for the length of a block; an embedded server keeps running for the next command."""
    connected = engine(settings)
    try:
        yield connected
    finally:
        connected.dispose()


@contextlib.contextmanager
def database_to_read(settings: Settings) -> Iterator[Engine]:
    """Connect for the length of a block that only reads, and leave an embedded server as it was before.

    A server that was started for the block is stopped, unless another process uses it by then.
    """
    folder = embedded_folder(settings)
    was_running = settings.database_url is not None or embedded.postmaster(folder) is not None
    try:
        with database(settings) as connected:
            yield connected
    finally:
        if not was_running:
            embedded.stop_if_idle(folder)

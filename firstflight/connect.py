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
    return settings.data_dir / "postgres"


def database_url(settings: Settings) -> str:
    """Return the database's URL; starts the embedded server if none is named."""
    return settings.database_url or embedded.start(embedded_folder(settings))


def make_restarter(settings: Settings) -> Callable[[], object] | None:
    """Return a function that restarts the embedded server; None for another."""
    if settings.database_url:
        return None
    return functools.partial(embedded.start, embedded_folder(settings))


def engine(settings: Settings) -> Engine:
    """Return an engine of the upgraded database, for the caller to dispose of;
    storage.engine.DatabaseError."""
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
    """Connect for the block; an embedded server keeps running."""
    connected = engine(settings)
    try:
        yield connected
    finally:
        connected.dispose()


@contextlib.contextmanager
def database_to_read(settings: Settings) -> Iterator[Engine]:
    """Connect for a block that only reads; an embedded server that was started for it is stopped, unless in
    use.
    """
    folder = embedded_folder(settings)
    was_running = settings.database_url is not None or embedded.postmaster(folder) is not None
    try:
        with database(settings) as connected:
            yield connected
    finally:
        if not was_running:
            embedded.stop_if_idle(folder)

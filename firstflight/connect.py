"""Connects commands to the database that the settings name, or to the embedded one,
with its tables upgraded."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Engine

from firstflight.settings import Settings
from storage import embedded, migrate
from storage.engine import connect


def embedded_folder(settings: Settings) -> Path:
    """Folder of the embedded server's data."""
    return settings.data_dir / "postgres"


def database_url(settings: Settings) -> str:
    """The URL of the database; starts the embedded server if the settings name none."""
    return settings.database_url or embedded.start(embedded_folder(settings))


def revival(settings: Settings) -> Callable[[], object] | None:
    """A function that restarts the embedded server after it has died.

    None for a server that others keep running.
    """
    if settings.database_url:
        return None
    return functools.partial(embedded.start, embedded_folder(settings))


def engine(settings: Settings) -> Engine:
    """An engine of the database, with its tables upgraded; the caller disposes of it.

    Raises storage.engine.DatabaseError.
    """
    made = connect(database_url(settings))
    migrate.upgrade(made)
    return made


@contextlib.contextmanager
def database(settings: Settings) -> Iterator[Engine]:
    """An engine for the length of a block; the server keeps running after it."""
    made = engine(settings)
    try:
        yield made
    finally:
        made.dispose()

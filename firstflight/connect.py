"""How every command gets its database: the one that the settings name, or the embedded one, up to date."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from storage import embedded, migrate
from storage.engine import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Engine

    from firstflight.settings import Settings


def embedded_folder(settings: Settings) -> Path:
    """Where the embedded server keeps its data."""
    return settings.data_dir / "postgres"


def database_url(settings: Settings) -> str:
    """The URL of the database; the embedded server is started if there is none in the settings."""
    return settings.database_url or embedded.start(embedded_folder(settings))


def revival(settings: Settings) -> Callable[[], object] | None:
    """What starts the database again when it has died: nobody else does so for the embedded one."""
    if settings.database_url:
        return None
    return functools.partial(embedded.start, embedded_folder(settings))


def engine(settings: Settings) -> Engine:
    """The database, with its tables brought to this version; to be disposed of by the caller.

    Raises storage.engine.DatabaseError.
    """
    made = connect(database_url(settings))
    migrate.upgrade(made)
    return made


@contextlib.contextmanager
def database(settings: Settings) -> Iterator[Engine]:
    """The same for as long as a block runs; the server itself stays up."""
    made = engine(settings)
    try:
        yield made
    finally:
        made.dispose()

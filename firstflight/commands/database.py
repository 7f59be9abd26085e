"""`firstflight database`: where the database is, and the end of the embedded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from firstflight.connect import database_url, embedded_folder
from firstflight.errors import one_line
from schema import embedded
from schema.database import DatabaseError

if TYPE_CHECKING:
    from firstflight.settings import Settings


@click.group()
def command() -> None:
    """The database: its URL, and the end of the embedded server.

    \b
    Example:
      psql "$(firstflight database url)"
      firstflight database stop
    """


@command.command()
@click.pass_obj
def url(settings: Settings) -> None:
    """Print the URL of the database; the embedded server is started if none is named.

    \b
    Example:
      psql "$(firstflight database url)"
    """
    with one_line(DatabaseError):
        click.echo(database_url(settings))


@command.command()
@click.pass_obj
def stop(settings: Settings) -> None:
    """Stop the embedded server of the data folder; the next command that needs it starts it anew.

    \b
    Example:
      firstflight database stop
    """
    with one_line(DatabaseError):
        embedded.stop(embedded_folder(settings))

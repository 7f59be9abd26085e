"""`firstflight database`: where the database is, copies of it, and the end of the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstflight.connect import database_url, embedded_folder
from firstflight.errors import one_line
from schema import backup, embedded
from schema.database import DatabaseError

if TYPE_CHECKING:
    from firstflight.settings import Settings


@click.group()
def command() -> None:
    """The database: its URL, copies of it, and the end of the embedded server.

    \b
    Example:
      psql "$(firstflight database url)"
      firstflight database backup
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


@command.command("backup")
@click.option(
    "--keep", type=click.IntRange(1), default=4, show_default=True, help="Copies that stay; older ones go."
)
@click.pass_obj
def backup_(settings: Settings, *, keep: int) -> None:
    """Copy the database, as it is at one moment, into the data folder.

    \b
    Example:
      firstflight database backup --keep 4
    """
    with one_line(DatabaseError, OSError):
        click.echo(backup.backup(database_url(settings), settings.backups, keep=keep))


@command.command()
@click.argument("copy", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.pass_obj
def restore(settings: Settings, *, copy: Path | None) -> None:
    """Fill an empty database from a copy, the newest in the data folder if none is named.

    \b
    Example:
      firstflight database restore
    """
    copy = copy or max(backup.copies(settings.backups), default=None)
    if copy is None:
        raise click.ClickException(f"there is no copy in {settings.backups}")
    with one_line(DatabaseError, OSError):
        backup.restore(database_url(settings), copy)
    click.echo(copy)


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

"""`firstflight database`: URL, copies and retention of the database; stops the embedded server."""

import datetime
from pathlib import Path

import click

from firstflight.connect import database, database_url, embedded_folder
from firstflight.errors import one_line
from firstflight.retention import RetentionError, detach, is_older, list_held
from firstflight.settings import Settings
from storage import backup, embedded
from storage.crawls import CrawlNotFound
from storage.data_lock import InUse, making
from storage.engine import DatabaseError


@click.group()
def command() -> None:
    """The database: its URL, copies, retention; stop the embedded server.

    \b
    Example:
      psql "$(firstflight database url)"
      firstflight database backup
      firstflight database detach --older-than 24
      firstflight database stop
    """


@command.command()
@click.pass_obj
def url(settings: Settings) -> None:
    """Print the URL of the database; starts the embedded server if no other is set.

    \b
    Example:
      psql "$(firstflight database url)"
    """
    with one_line(DatabaseError):
        click.echo(database_url(settings))


@command.command("detach")
@click.option("--crawl", "name", help="One crawl: its name, or a unique beginning of it.")
@click.option(
    "--older-than",
    "months",
    type=click.IntRange(0),
    help="Every crawl whose month is more than this many months ago.",
)
@click.pass_obj
def detach_(settings: Settings, *, name: str | None, months: int | None) -> None:
    """Detach responses and connections of crawls whose releases verify.

    Nothing is deleted: a partition becomes a table of its own, such as response_3, to be dropped after the
    next backup. From then on the release has the data. Without an option, list what can be detached.

    \b
    Example:
      firstflight database detach
      firstflight database detach --older-than 24
      firstflight database detach --crawl 2026-11
    """
    if name is not None and months is not None:
        raise click.UsageError("name one crawl, or say how old they must be")
    with one_line(DatabaseError, CrawlNotFound, RetentionError), database(settings) as engine:
        with engine.connect() as connection:
            detachable = list_held(connection)
        if name is None and months is None:
            for held in detachable:
                click.echo(f"{held.crawl}: {held.bytes / 1e6:,.1f} MB of responses and connections")
            return
        today = f"{datetime.datetime.now(datetime.UTC):%Y-%m}"
        old = [
            held.crawl
            for held in detachable
            if months is not None and is_older(held.crawl, months=months, month=today)
        ]
        for crawl in old if name is None else [name]:
            partitions = detach(engine, settings.releases, crawl)
            click.echo(f"{crawl}: detached {', '.join(partitions) or 'nothing: they were'}")


@command.command("backup")
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Copies to keep; older ones are deleted.",
)
@click.pass_obj
def backup_(settings: Settings, *, keep: int) -> None:
    """Copy the database into the data folder, as of one moment.

    \b
    Example:
      firstflight database backup --keep 4
    """
    with one_line(DatabaseError, OSError, InUse), making(settings.data_dir):
        click.echo(backup.backup(database_url(settings), settings.backups, keep=keep))


@command.command()
@click.argument("copy", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.pass_obj
def restore(settings: Settings, *, copy: Path | None) -> None:
    """Restore a copy into an empty database: COPY, or the newest one in the data folder.

    \b
    Example:
      firstflight database restore
    """
    copy = copy or max(backup.list_backups(settings.backups), default=None)
    if copy is None:
        raise click.ClickException(f"there is no copy in {settings.backups}")
    with one_line(DatabaseError, OSError):
        backup.restore(database_url(settings), copy)
    click.echo(copy)


@command.command()
@click.pass_obj
def stop(settings: Settings) -> None:
    """Stop the embedded server; the next command that needs it starts it again.

    \b
    Example:
      firstflight database stop
    """
    with one_line(DatabaseError):
        embedded.stop(embedded_folder(settings))

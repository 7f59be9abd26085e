"""`firstflight verify`: checks everything that is stored."""

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Iterator

import click

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, OFFLINE
from firstflight.connect import database_to_read
from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.verification import Item, list_checks
from storage.data_lock import InUse, making
from storage.engine import DatabaseError


@click.command()
@OFFLINE
@AS_JSON
@click.pass_context
def command(ctx: click.Context, *, offline: bool, as_json: bool) -> None:
    """Check all that is stored: the database, every version of every release, stages of replays,
    reports, errata and populations.

    Print a line for each: ok, DAMAGED or WITHDRAWN, what was found, and who signed it. A bad signature counts
    as damage; a missing one does not. Exit code 1 if anything is damaged.

    \b
    Example:
      firstflight verify
      firstflight verify --offline --json
    """
    settings: Settings = ctx.obj
    # What is erased meanwhile would be missing.
    with one_line(DatabaseError, InUse), making(settings.data_dir):
        items = list(judge_all(settings, offline=offline, as_json=as_json))
    damaged = sum(item.state == "damaged" for item in items)
    if as_json:
        click.echo(json.dumps({"items": [dataclasses.asdict(item) for item in items]}, indent=2))
    else:
        click.echo(f"{len(items)} checked, {damaged or 'none'} damaged")
    ctx.exit(1 if damaged else 0)


def judge_all(settings: Settings, *, offline: bool, as_json: bool) -> Iterator[Item]:
    """Yield each verdict as it is reached; print its line unless JSON is asked for.

    That the database cannot be reached is a verdict too; the files are checked nevertheless.
    """
    engine, unreachable = None, []
    with contextlib.ExitStack() as stack:
        try:
            engine = None if offline else stack.enter_context(database_to_read(settings))
        except DatabaseError as exc:
            evidence = f"{' '.join(str(exc).split())}; --offline leaves it out"
            unreachable = [Item(kind="database", name="PostgreSQL", state="damaged", said=evidence)]
        every = list_checks(settings, engine)
        bar = stack.enter_context(progress_bar(settings, total=len(every), unit="items", leave=False))
        for item in itertools.chain(unreachable, (check() for check in every)):
            bar.update(item not in unreachable)
            if not as_json:
                with bar.external_write_mode():
                    click.echo(str(item))
            yield item

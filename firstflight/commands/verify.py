"""`firstflight verify`: checks what is stored."""

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
from firstflight.verification import WHATS, Item, What, list_verifications
from storage.data_lock import InUse, making
from storage.engine import DatabaseError


@click.command()
@click.argument("what", required=False, type=click.Choice(WHATS))
@click.argument("name", required=False)
@OFFLINE
@AS_JSON
@click.pass_context
def command(ctx: click.Context, *, what: What | None, name: str | None, offline: bool, as_json: bool) -> None:
    """Check all that is stored, or WHAT: the database, every version of every release, stages of replays,
    reports, errata and populations. NAME selects by a name or its first parts.

    Print a line for each: ok, DAMAGED or WITHDRAWN, what was found, and who signed it; and with a NAME each
    check of a release or crawl. A bad signature counts as damage; a missing one does not. Exit code 1 if
    anything is damaged.

    \b
    Example:
      firstflight verify
      firstflight verify --offline --json
      firstflight verify release 2026-11
      firstflight verify report 2026
      firstflight verify database
    """
    settings: Settings = ctx.obj
    if what == "database" and offline:
        raise click.UsageError("--offline leaves the database out: leave out one of them")
    # What is erased meanwhile would be missing.
    with one_line(DatabaseError, InUse), making(settings.data_dir):
        items = list(judge_all(settings, what, name, offline=offline, as_json=as_json))
    if name is not None and not items:
        raise click.ClickException(
            f"no {what} {name!r} is stored; `firstflight verify {what}` checks those that are"
        )
    damaged = sum(item.state == "damaged" for item in items)
    if as_json:
        click.echo(json.dumps({"items": [dataclasses.asdict(item) for item in items]}, indent=2))
    else:
        click.echo(f"{len(items)} checked, {damaged or 'none'} damaged")
    ctx.exit(1 if damaged else 0)


def judge_all(
    settings: Settings, what: What | None, name: str | None, *, offline: bool, as_json: bool
) -> Iterator[Item]:
    """Yield each verdict as it is reached, printed unless as JSON.

    An unreachable database is a verdict too; files are checked nevertheless.
    """
    engine, unreachable = None, []
    with contextlib.ExitStack() as stack:
        try:
            if not offline and what in (None, "database", "release"):
                engine = stack.enter_context(database_to_read(settings))
        except DatabaseError as exc:
            evidence = f"{' '.join(str(exc).split())}; --offline leaves it out"
            unreachable = [Item(kind="database", name="PostgreSQL", state="damaged", said=evidence)]
        every = list_verifications(settings, engine, what=what, name=name)
        bar = stack.enter_context(progress_bar(settings, total=len(every), unit="items", leave=False))
        for item in itertools.chain(unreachable, (verification() for verification in every)):
            bar.update(item not in unreachable)
            if not as_json:
                with bar.external_write_mode():
                    click.echo("\n".join(describe(item, in_full=name is not None)))
            yield item


def describe(item: Item, *, in_full: bool) -> Iterator[str]:
    yield str(item)
    for check in item.checks if in_full else ():
        yield f"{'ok' if check.holds else 'FAILED':9} - {check.name}: {check.evidence}"

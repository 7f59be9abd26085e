"""`firstflight verify`: checks everything that is stored."""

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Iterator

import click
from sqlalchemy import Engine
from tqdm import tqdm

from firstflight.connect import engine as connected
from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.verification import Item, checks
from storage.engine import DatabaseError


@click.command()
@click.option("--offline", is_flag=True, help="Leave PostgreSQL out: only what the files say themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_context
def command(ctx: click.Context, *, offline: bool, as_json: bool) -> None:
    """Check all that is stored: the database, every version of every release, replays, their parts,
    and reports.

    Print a line for each: ok, DAMAGED or WITHDRAWN, what was found, and who signed it. A bad signature counts
    as damage; a missing one does not. Exit code 1 if anything is damaged.

    \b
    Example:
      firstflight verify
      firstflight verify --offline --json
    """
    settings: Settings = ctx.obj
    with one_line(DatabaseError):
        found = list(told(settings, offline=offline, as_json=as_json))
    damaged = sum(one.state == "damaged" for one in found)
    if as_json:
        click.echo(json.dumps({"items": [dataclasses.asdict(one) for one in found]}, indent=2))
    else:
        click.echo(f"{len(found)} checked, {damaged or 'none'} damaged")
    ctx.exit(1 if damaged else 0)


def told(settings: Settings, *, offline: bool, as_json: bool) -> Iterator[Item]:
    """Yield each verdict as it is reached; print its line unless JSON is asked for."""
    with contextlib.ExitStack() as stack:
        engine, unreachable = (None, None) if offline else reached(settings)
        if engine is not None:
            stack.callback(engine.dispose)
        asked = checks(settings, engine)
        bar = stack.enter_context(tqdm(total=len(asked), unit="item", disable=None, leave=False))
        for one in itertools.chain([unreachable] if unreachable else [], (check() for check in asked)):
            bar.update(one is not unreachable)
            if not as_json:
                with bar.external_write_mode():
                    click.echo(str(one))
            yield one


def reached(settings: Settings) -> tuple[Engine | None, Item | None]:
    """The database, or a verdict that it cannot be reached; the files are checked in both cases."""
    try:
        return connected(settings), None
    except DatabaseError as exc:
        said = f"{' '.join(str(exc).split())}; --offline leaves it out"
        return None, Item(kind="database", name="PostgreSQL", state="damaged", said=said)

"""`firstflight replay confirm`: loads what is to confirm an answer, over other pages."""

import json
from pathlib import Path

import click

from firstflight.commands.replay.run import EXPECTED, run_replay
from firstflight.commands.replay.sources import BUNDLED, find_source
from firstflight.errors import one_line
from firstflight.settings import Settings
from storage.data_lock import InUse, making
from verdict.replay_file import command_of
from verdict.replayed import fractions_of
from verdict.rule import next_look
from verdict.stages import read_facts, stage_places
from verdict.verdict import Verdict, asked_of_others
from verdict.verdict_file import FILE, decode

LISTS = ("2023-11.desktop.california.tcp.recorded", "2024-11.desktop.california.tcp.recorded")
"""Crawls that confirm the yearly answer (docs/protocols/policy-of-the-year.md)."""


@click.command("confirm")
@click.argument("pages", metavar="[CRAWL...]", nargs=-1)
@click.option(
    "--of", "deciding", default=BUNDLED, show_default=True, help="Pages whose answer is asked about."
)
@click.option(
    "--replay",
    "wanted",
    metavar="REPLAY",
    help="The replay of those pages, by the eight characters at the end of its folder's name.  [default: the "
    "only one]",
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value in place of that of the preset `confirmation`. Repeatable.",
)
@click.option("--guests", type=click.IntRange(1, 256), help="Guests at once.  [default: one per usable core]")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print the loads and their price, and replay nothing."
)
@click.pass_context
def confirm_answer(
    ctx: click.Context,
    *,
    pages: tuple[str, ...],
    deciding: str,
    wanted: str | None,
    given: tuple[str, ...],
    guests: int | None,
    only_plan: bool,
) -> None:
    """Replay the pages of other crawls, less the sites of those that decided, with what is worth it there: by
    default those of November 2023 and 2024.

    If nothing is worth it, the policies are those that are open and whose estimates are worth it; if none is,
    nothing is loaded. `firstflight report build` finds what was loaded. The same command goes on if it was
    stopped.

    \b
    Example:
      firstflight replay run edition
      firstflight replay confirm
      firstflight replay confirm 2026-10 --of 2026-11 --set budget_minutes=20
    """
    settings: Settings = ctx.obj
    with one_line(*EXPECTED, InUse), making(settings.data_dir):
        source = find_source(settings, deciding)
        decision = find_decision(settings.replays, source.folder, wanted)
        verdict = decode((decision / FILE).read_bytes())
        check_over(decision, verdict)
    policies = [str(policy) for policy in asked_of_others(verdict)]
    if not policies:
        click.echo("Nothing is worth it or seems to be: there is nothing to confirm.", err=True)
        return
    click.echo(f"to confirm: {', '.join(policies)}", err=True)
    for crawl in pages or LISTS:
        values = (f"pages={crawl}", f"confirms={deciding}", f"candidates={json.dumps(policies)}", *given)
        ctx.invoke(run_replay, name="confirmation", given=values, guests=guests, only_plan=only_plan)


def find_decision(root: Path, crawl: str, wanted: str | None) -> Path:
    """Return the folder of the only decision over a crawl's pages, or the wanted one; ValueError."""
    known = {
        path.parent.name.rpartition(".")[2]: path.parent for path in root.glob(f"{crawl}.????????/{FILE}")
    }
    chosen = [name for name in sorted(known) if wanted in (None, name)]
    if not chosen:
        raise ValueError(
            f"{crawl} has no decision {wanted or ''}: run `firstflight replay run edition` first"
        )
    if len(chosen) > 1:
        raise ValueError(
            f"{crawl} has {len(known)} decisions ({', '.join(chosen)}); choose one with --replay"
        )
    return known[chosen[0]]


def check_over(folder: Path, verdict: Verdict) -> None:
    """Raise ValueError if a decision was stopped before it was settled and its budget used."""
    if verdict.is_settled or verdict.broken:
        return
    facts = [read_facts(place) for place in stage_places(folder)]
    if facts and next_look(verdict.rule.looks, fractions_of(facts)[-1]) is not None:
        command = command_of(facts[0]["plan"]["asked"])
        raise ValueError(f"{folder.name} was stopped before its end: go on with it by `{command}` first")

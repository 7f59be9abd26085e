"""`firstflight replay plan` and `merge`: a replay in chunks."""

from typing import Any

import click

from firstflight.commands.replay.options import EXPECTED, plan_replay, replay_options
from firstflight.commands.replay.run import check_signer, tell
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.runs.chunks import MOST, core_seconds, how_many
from replay.runs.chunks import merge as merge_chunks


@click.command("plan")
@replay_options
@click.option(
    "--minutes",
    type=click.FloatRange(1, 1440),
    default=30,
    show_default=True,
    help="Most minutes of one guest for a chunk.",
)
@click.option(
    "--at-least",
    type=click.IntRange(1, MOST),
    default=1,
    show_default=True,
    help="Fewest chunks, for many workers.",
)
@click.pass_obj
def plan(settings: Settings, /, *, minutes: float, at_least: int, **options: Any) -> None:  # noqa: ANN401
    """Print the number of loads of a replay and, on the last line, the number of chunks to use.

    \b
    Example:
      firstflight replay plan --crawl 2026-11 --seeds 5 --at-least 2
    """
    with one_line(*EXPECTED):
        planned = plan_replay(settings, **options)
        seconds = core_seconds(planned.cells)
        chunks = how_many(seconds, minutes=minutes, at_least=at_least)
    click.echo(planned.sentence)
    click.echo(chunks)


@click.command("merge")
@replay_options
@click.option("--chunks", type=click.IntRange(1, MOST), required=True, help="Number of chunks.")
@click.option("--json", "as_json", is_flag=True, help="Print the replay's provenance as JSON.")
@click.pass_obj
def merge(settings: Settings, /, *, chunks: int, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Merge the chunks of a replay into the files that one run would write.

    Give the options that the chunks were run with.

    \b
    Example:
      firstflight replay merge --crawl 2026-11 --seeds 5 --chunks 8
    """
    with one_line(*EXPECTED):
        check_signer(settings)
        planned = plan_replay(settings, **options)
        facts = merge_chunks(planned.folder, chunks, planned.plan, planned.facts, signer=settings.signer)
    tell(facts, planned.folder, as_json=as_json)

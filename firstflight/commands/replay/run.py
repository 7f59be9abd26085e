"""`firstflight replay run`: replay a release's pages, or one chunk of them."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from firstflight.commands.replay.lab import find_lab
from firstflight.commands.replay.options import EXPECTED, PlannedReplay, plan_replay, replay_options
from firstflight.errors import GO_ON, Stopped, one_line
from firstflight.settings import Settings
from replay.errors import ReplayError
from replay.lab.cpus import quiet_cpus
from replay.lab.guest_process import Lab, usable_cpus
from replay.runs.cells import Cell
from replay.runs.chunks import MOST, Chunk, is_done, write_chunk
from replay.runs.parts import count_parts, join_parts, replay_part, replay_parts, whole_parts
from replay.runs.replay_folder import is_stored
from replay.runs.run import Result, replay
from storage.signatures import Signer


def parse_chunk(_ctx: click.Context, _option: click.Parameter, value: str | None) -> Chunk | None:
    """Read K/N, the K-th of N chunks."""
    if value is None:
        return None
    number, _, total = value.partition("/")
    words = (number, total)
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise click.BadParameter(f"{value!r} is no chunk such as 2/8")
    chunk = Chunk(int(number), int(total))
    if not 1 <= chunk.number <= chunk.total <= MOST:
        raise click.BadParameter(f"{value!r} is no chunk of at most {MOST:,}, counted from 1")
    return chunk


@click.command("run")
@replay_options
@click.option(
    "--guests",
    type=click.IntRange(1, 256),
    default=None,
    help="Concurrent guest kernels.  [default: one per CPU]",
)
@click.option(
    "--chunk",
    callback=parse_chunk,
    metavar="K/N",
    help="Replay the K-th of N chunks of the pages only; `firstflight replay merge` merges them.",
)
@click.option(
    "--unless-stored",
    is_flag=True,
    help="Do nothing if the same replay is stored already, by the same kernel, player and rule, whatever the "
    "commit.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the replay's provenance as JSON.")
@click.pass_obj
def run_replay(
    settings: Settings,
    /,
    *,
    guests: int | None,
    chunk: Chunk | None,
    unless_stored: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Replay the pages of a release or of recordings over every profile and window,
    under all conditions, with every seed.

    Options that end in ,... take several values: each combination is replayed. A report's recommendation uses
    the defaults only; the report shows other conditions beside it. cells.parquet, with a row for each load,
    and replay.json, with everything the cells depend on, are written below replays/ in the data folder. Parts
    of the pages are stored as they end: the same command goes on from there if a run was stopped.

    A replay needs virtual time: in real time (--lab of selftest and reproduce) the calibration fails.

    \b
    Example:
      firstflight replay run --crawl 2026-11
      firstflight replay run --crawl 2026-11 --everyone
      firstflight replay run --crawl 2026-11 --population mlab-2025-10-crux --networks 16 --iw candidates
      firstflight replay run --recorded --pages 50 --unless-stored
      firstflight replay run --crawl 2026-11 --chunk 2/8 --guests 1
      firstflight replay run --crawl 2026-11 --population ndt-2026-05.csv --population-measured 2026-05
        --population-source "M-Lab NDT, query of docs/populations.md"
      firstflight replay run --crawl 2026-11 --congestion-control cubic,bbr --pacing off,on
      firstflight replay run --crawl 2026-11 --pages 50 --iw 3,10,30 --http recorded,h1,h2
      firstflight replay run --har page.har --cdp log.json.gz --cache cold,warm --think recorded
      firstflight replay run --crawl 2026-11 --loss own,0.01,0.01x4 --competition none,2xbbr@10
    """
    run_once(settings, options, guests=guests, chunk=chunk, unless_stored=unless_stored, as_json=as_json)


def run_once(
    settings: Settings,
    options: dict[str, Any],
    *,
    guests: int | None,
    chunk: Chunk | None,
    unless_stored: bool,
    as_json: bool,
) -> None:
    """Replay every load that the options describe, or a chunk of them, and store the result."""
    with one_line(*EXPECTED):
        check_signer(settings)
        planned = plan_replay(settings, **options)
        if unless_stored and is_stored(planned.folder, planned.facts):
            click.echo(f"stored already: {planned.folder}", err=True)
            return
        lab = find_lab(settings.cache_dir)
        click.echo(planned.sentence, err=True)
        if chunk:
            run_chunk(lab, planned, chunk, guests=guests)
            return
        facts = run_parts(lab, planned, guests=guests, signer=settings.signer)
    tell(facts, planned.folder, as_json=as_json)


def run_parts(
    lab: Lab, planned: PlannedReplay, *, guests: int | None, signer: Signer | None
) -> dict[str, Any]:
    """Replay all loads in parts that are stored as they end, and write the replay; its facts."""
    at_once = guests or len(usable_cpus())
    total = count_parts(planned.cells, guests=at_once)
    plan = planned.plan
    if done := len(whole_parts(planned.folder, plan, total)):
        click.echo(f"{done} of {total} parts were done already", err=True)
    with tqdm(total=len(planned.cells), unit="load", disable=None, desc="replay") as progress:
        one_part = functools.partial(replay_part, lab, progress=progress, responses=planned.responses)
        try:
            replay_parts(planned.cells, planned.folder, plan, total, guests=at_once, replayer=one_part)
        except KeyboardInterrupt:
            kept = len(whole_parts(planned.folder, plan, total))
            raise Stopped(f"{kept} of {total} parts are kept, and {GO_ON}") from None
    return join_parts(planned.folder, plan, planned.facts, total, signer=signer)


def check_signer(settings: Settings) -> None:
    """Raise SigningFailed if files cannot be signed: before hours of work rather than after."""
    if settings.signer is not None:
        settings.signer.check()


def run_chunk(lab: Lab, planned: PlannedReplay, chunk: Chunk, *, guests: int | None) -> None:
    """Replay a chunk unless it is done already; a chunk without a finished load is not stored."""
    folder = chunk.folder(planned.folder)
    if is_done(folder, planned.plan):
        click.echo(f"chunk {chunk} was done already: {folder}")
        return
    cells = chunk.cells(planned.cells)
    result = watched(lab, cells, guests=guests, responses=planned.responses, first_cpu=chunk.number - 1)
    done = sum(row["state"] == "done" for row in result.rows)
    if cells and not done:
        raise ReplayError(f"no load of chunk {chunk} was done: {result.rows[0]['reason']}")
    write_chunk(folder, result, planned.plan)
    click.echo(f"chunk {chunk}: {done:,} of {len(cells):,} loads done in {result.wall_s:.1f} s: {folder}")


def watched(
    lab: Lab, cells: Sequence[Cell], *, guests: int | None, responses: bool, first_cpu: int | None = None
) -> Result:
    """Replay cells with a progress bar; `first_cpu` is where a chunk begins to look for quiet CPUs."""
    cpus = usable_cpus() if first_cpu is None else quiet_cpus(first_cpu)
    with tqdm(total=len(cells), unit="load", disable=None, desc="replay") as progress:
        return replay(
            lab, cells, guests=guests or len(cpus), progress=progress, responses=responses, cpus=cpus
        )


def tell(facts: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    """Print a replay as JSON or in a few lines; ClickException if no load was done."""
    if as_json:
        click.echo(json.dumps(facts, indent=2, sort_keys=True))
    else:
        report(facts, folder)
    if not facts["cells"]["done"]:
        raise click.ClickException(f"no load was done; {folder / 'replay.json'} has the reasons")


def report(facts: dict[str, Any], folder: Path) -> None:
    """Print a replay in a few lines."""
    recipes, cells = facts["recipes"], facts["cells"]
    click.echo(
        f"{recipes['pages']} pages, {recipes['objects']} objects, {recipes['response_bytes'] / 1e6:.1f} MB "
        f"({recipes['left_out_responses']} responses left out: of unknown size, or incomplete)"
    )
    click.echo(f"{cells['done']} loads done, {cells['refused']} refused, {cells['failed']} failed")
    click.echo(
        f"{facts['virtual_s']:.0f} s of page loads in {facts['wall_s']:.1f} s of guests: "
        f"{facts['virtual_s'] / facts['wall_s']:.0f} times real time"
    )
    click.echo(str(folder / "cells.parquet"))
    for failure in facts["failures"]:
        click.echo(f"failed: {failure['reason']}", err=True)

"""`firstflight replay`: build the lab, prove it, and replay a release's pages in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from firstflight.commands.replay_options import EXPECTED, plan_replay, replay_options
from firstflight.commit import code_commit
from firstflight.errors import one_line
from replay.errors import ReplayError
from replay.lab import debian, host, kernel, player
from replay.lab.cpus import quiet_cpus
from replay.lab.guest_process import Lab, usable_cpus
from replay.published.catalogue import REPRODUCTIONS
from replay.published.document import document, verdict
from replay.runs.chunks import LOAD_S, MOST, Chunk, how_many, is_done, write_chunk
from replay.runs.chunks import merge as merge_chunks
from replay.runs.replay_folder import findings, table_of, write_replay
from replay.runs.responses import response_tables
from replay.runs.run import replay
from replay.runs.selftest import selftest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstflight.commands.replay_options import PlannedReplay
    from firstflight.settings import Settings
    from replay.published.reproduction import Reproduction
    from replay.runs.cells import Cell
    from replay.runs.run import Result

VIRTUAL, DEBIAN, HOST = "uml", "uml-debian", "host"
"""Our kernel in virtual time; in real time Debian's own as a second opinion, and this machine's as a cross-check."""

which_lab = click.option(
    "--lab",
    "which",
    type=click.Choice([VIRTUAL, DEBIAN, HOST]),
    default=VIRTUAL,
    show_default=True,
    help="Our kernel in virtual time; in real time Debian's, or this machine's, which takes root and netem.",
)


def parse_chunk(_ctx: click.Context, _option: click.Parameter, value: str | None) -> Chunk | None:
    """The K-th of N."""
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


@click.group()
def command() -> None:
    """Replay a release's pages over the Linux TCP stack, in a guest kernel whose time is virtual.

    \b
    Example:
      firstflight replay build-lab
      firstflight replay selftest
      firstflight replay run --crawl 2026-11
      firstflight replay reproduce cs244-2017
    """


@command.command("build-lab")
@click.pass_obj
def build_lab(settings: Settings) -> None:
    """Build the guest's kernel and programs, once; done in no time where they are there.

    \b
    Example:
      firstflight replay build-lab
    """
    with one_line(ReplayError, OSError):
        kernel.build_kernel(settings.cache_dir, say)
        player.build_player(settings.cache_dir, say)


@command.command("selftest")
@which_lab
@click.option("--json", "as_json", is_flag=True, help="Print the gates as JSON.")
@click.pass_obj
def run_selftest(settings: Settings, *, which: str, as_json: bool) -> None:
    """Measure the lab's gates on every profile: RTT, serialisation, windows at both ends, offloads, ARP.

    \b
    Example:
      firstflight replay selftest
    """
    with one_line(ReplayError, OSError):
        found = selftest(find_lab(settings.cache_dir, which))
    if as_json:
        click.echo(
            json.dumps({name: [gate.to_dict() for gate in gates] for name, gates in found.items()}, indent=2)
        )
    else:
        for name, gates in found.items():
            click.secho(name, bold=True)
            for gate in gates:
                click.echo(f"  {gate}")
    if not all(gate.passed for gates in found.values() for gate in gates):
        raise click.ClickException("a gate failed: cells of this topology would be refused")


@command.command("run")
@replay_options
@click.option(
    "--guests", type=click.IntRange(1, 256), default=None, help="Guest kernels at once.  [default: one a CPU]"
)
@click.option(
    "--chunk",
    callback=parse_chunk,
    metavar="K/N",
    help="The K-th of N chunks of the pages alone; `firstflight replay merge` puts them together.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the replay's provenance as JSON.")
@click.pass_obj
def run(
    settings: Settings,
    /,
    *,
    guests: int | None,
    chunk: Chunk | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401  # those of replay_options.py
) -> None:
    """Replay every page of a release, or of recordings, over every profile, under all conditions, at every window, with every seed.

    Options that end in ,... take several values: each combination is replayed. A report takes that of the defaults alone; the others
    stand beside it. cells.parquet, a row each load, and replay.json, with what they depend on, go below replays/ in the data folder.

    It runs in virtual time alone. In real time (--lab of selftest and reproduce) the gates do not hold, and each load would be refused.

    \b
    Example:
      firstflight replay run --crawl 2026-11
      firstflight replay run --crawl 2026-11 --iw 10,20 --profiles avgdc-2010-mid --seeds 5
      firstflight replay run --crawl 2026-11 --harm core
      firstflight replay run --crawl 2026-11 --chunk 2/8 --guests 1
      firstflight replay run --crawl 2026-11 --population ndt-2026-05.csv --population-measured 2026-05
        --population-source "M-Lab NDT, query of docs/populations.md"
      firstflight replay run --crawl 2026-11 --congestion-control cubic,bbr --pacing off,on
      firstflight replay run --har page.har --cdp log.json.gz --cache cold,warm --think recorded
      firstflight replay run --crawl 2026-11 --loss own,0.01,0.01x4 --competition none,2xbbr@10
    """
    with one_line(*EXPECTED):
        check_signer(settings)
        asked = plan_replay(settings, **options)
        lab = find_lab(settings.cache_dir)
        if chunk:
            run_chunk(lab, asked, chunk, guests=guests)
            return
        result = watched(lab, asked.cells, guests=guests, responses=asked.responses)
        loads = response_tables(result) if asked.responses else None
        facts = write_replay(
            asked.folder, table_of(result), asked.facts, findings(result), loads, signer=settings.signer
        )
    tell(facts, asked.folder, as_json=as_json)


def check_signer(settings: Settings) -> None:
    """SigningFailed, before hours of work, if what they leave could not be signed."""
    if settings.signer is not None:
        settings.signer.check()


def run_chunk(lab: Lab, asked: PlannedReplay, chunk: Chunk, *, guests: int | None) -> None:
    """Replay a chunk, unless it is there; one of which no load was done is not kept."""
    folder = chunk.folder(asked.folder)
    if is_done(folder, asked.plan):
        click.echo(f"chunk {chunk} was done already: {folder}")
        return
    cells = chunk.cells(asked.cells)
    result = watched(lab, cells, guests=guests, responses=asked.responses, first_cpu=chunk.number - 1)
    done = sum(row["state"] == "done" for row in result.rows)
    if cells and not done:
        raise ReplayError(f"no load of chunk {chunk} was done: {result.rows[0]['reason']}")
    write_chunk(folder, result, asked.plan)
    click.echo(f"chunk {chunk}: {done:,} of {len(cells):,} loads done in {result.wall_s:.1f} s: {folder}")


def watched(
    lab: Lab, cells: Sequence[Cell], *, guests: int | None, responses: bool, first_cpu: int | None = None
) -> Result:
    """Replay cells, and show how far it is; beside others from the place `first_cpu` of the CPUs on."""
    cpus = usable_cpus() if first_cpu is None else quiet_cpus(first_cpu)
    with tqdm(total=len(cells), unit="load", disable=None, desc="replay") as progress:
        return replay(
            lab, cells, guests=guests or len(cpus), progress=progress, responses=responses, cpus=cpus
        )


@command.command("plan")
@replay_options
@click.option(
    "--minutes",
    type=click.FloatRange(1, 1440),
    default=30,
    show_default=True,
    help="Of one guest, that a chunk is to take at most.",
)
@click.option(
    "--at-least", type=click.IntRange(1, MOST), default=1, show_default=True, help="Chunks, for many workers."
)
@click.pass_obj
def plan(
    settings: Settings,
    /,
    *,
    minutes: float,
    at_least: int,
    **options: Any,  # noqa: ANN401  # those of replay_options.py
) -> None:
    """Say how many loads a replay is, and, on the last line, how many chunks it is best done in.

    \b
    Example:
      firstflight replay plan --crawl 2026-11 --seeds 5 --at-least 2
    """
    with one_line(*EXPECTED):
        asked = plan_replay(settings, **options)
        chunks = how_many(len(asked.cells), minutes=minutes, at_least=at_least)
    recipes, loads = asked.facts["recipes"], len(asked.cells)
    click.echo(
        f"{recipes['pages']:,} of {asked.facts['pages_there']:,} pages, {loads:,} loads: {loads * LOAD_S / 3600:.1f} "
        "hours of a core, at twice what loads of the bundled pages take"
    )
    click.echo(chunks)


@command.command("merge")
@replay_options
@click.option("--chunks", type=click.IntRange(1, MOST), required=True, help="How many there are.")
@click.option("--json", "as_json", is_flag=True, help="Print the replay's provenance as JSON.")
@click.pass_obj
def merge(
    settings: Settings,
    /,
    *,
    chunks: int,
    as_json: bool,
    **options: Any,  # noqa: ANN401  # those of replay_options.py
) -> None:
    """Put the chunks of a replay together: the same files as one run would leave. Takes the options that the chunks took.

    \b
    Example:
      firstflight replay merge --crawl 2026-11 --seeds 5 --chunks 8
    """
    with one_line(*EXPECTED):
        check_signer(settings)
        asked = plan_replay(settings, **options)
        facts = merge_chunks(asked.folder, chunks, asked.plan, asked.facts, signer=settings.signer)
    tell(facts, asked.folder, as_json=as_json)


@command.command("reproduce")
@which_lab
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option(
    "--document",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page of Markdown there, and its figures into images beside it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdicts, checks and values as JSON.")
@click.pass_obj
def reproduce(
    settings: Settings, *, which: str, names: tuple[str, ...], path: Path | None, as_json: bool
) -> None:
    """Measure published results again, and say of each whether it is reproduced.

    \b
    Names: rfc6928-rounds, cs244-2017, dukkipati-2010, baidu-2018, fld-2012, linkedin-2016, ietf77, or all.
    "Not reproduced" is a result: it is printed with its reason, and is no error.

    \b
    Example:
      firstflight replay reproduce rfc6928-rounds
      firstflight replay reproduce all --document docs/reproduction.md
    """
    known = list(REPRODUCTIONS)
    wanted = known if "all" in names else list(dict.fromkeys(names))
    if unknown := [name for name in wanted if name not in known]:
        raise click.BadParameter(f"no reproduction {', '.join(unknown)}; there are {', '.join(known)}")
    found = []
    commit = code_commit(settings.commit)  # before the document changes the tree
    with one_line(ReplayError, OSError):
        lab = find_lab(settings.cache_dir, which)
        with tqdm(wanted, disable=None, unit="result", leave=False) as progress:
            for name in progress:
                progress.set_description(name)
                found.append(REPRODUCTIONS[name](lab))
        if path is not None:
            figures = write_figures(found, path.parent)
            path.write_text(document(found, commit=commit, figures=figures), encoding="utf-8")
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=2))
        return
    for one in found:
        click.secho(f"{one.id}: {verdict(one)}", bold=True)
        for criterion in one.criteria:
            click.echo(
                f"  {'ok  ' if criterion.passed else 'FAIL'} {criterion.what}: {criterion.measured:.4g}, bound {criterion.bound:g}"
            )


def write_figures(found: Sequence[Reproduction], folder: Path) -> dict[str, str]:
    """Where each reproduction's figure is, from the folder."""
    from reports.document.published_figures import figure  # it takes a second to load

    figures = {}
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for one in found:
        drawn = figure(one)
        if drawn is not None:
            figures[one.id] = f"images/reproduction-{one.id}.svg"
            (folder / figures[one.id]).write_text(drawn, encoding="utf-8")
    return figures


def find_lab(cache: Path, which: str = VIRTUAL) -> Lab:
    """The lab's programs, built; on Debian's kernel the player is ours too."""
    if which == DEBIAN:
        return debian.locate(player.locate(cache))
    if which == HOST:
        return host.locate(player.locate(cache))
    return Lab(kernel=kernel.locate(cache), player=player.locate(cache))


def tell(facts: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    """What was replayed, as JSON or in a few lines; nothing done is a failure."""
    if as_json:
        click.echo(json.dumps(facts, indent=2, sort_keys=True))
    else:
        report(facts, folder)
    if not facts["cells"]["done"]:
        raise click.ClickException(f"no load was done; {folder / 'replay.json'} has the reasons")


def report(facts: dict[str, Any], folder: Path) -> None:
    """In a few lines, what was replayed."""
    recipes, cells = facts["recipes"], facts["cells"]
    click.echo(
        f"{recipes['pages']} pages, {recipes['objects']} objects, {recipes['response_bytes'] / 1e6:.1f} MB "
        f"({recipes['left_out_responses']} responses of unknown size left out)"
    )
    click.echo(f"{cells['done']} loads done, {cells['refused']} refused, {cells['failed']} failed")
    click.echo(
        f"{facts['virtual_s']:.0f} s of page loads in {facts['wall_s']:.1f} s: "
        f"{facts['virtual_s'] / facts['wall_s']:.0f} times real time"
    )
    click.echo(str(folder / "cells.parquet"))
    for failure in facts["failures"]:
        click.echo(f"failed: {failure['reason']}", err=True)


def say(line: str) -> None:
    """A line of progress."""
    click.echo(line, err=True)
    sys.stderr.flush()

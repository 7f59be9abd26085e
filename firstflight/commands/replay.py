"""`firstflight replay`: build the lab, prove it, and replay a release's pages in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from firstflight.commands.conditions import MOST_SEGMENTS, arms, conditions_options
from firstflight.commands.replay_sources import find_source, source_options
from firstflight.commit import code_commit
from firstflight.errors import one_line
from reports.harm_conditions import CORE, HARM_CONDITIONS
from reports.imported import PopulationError, read_population
from reports.populations import DECIDING, PROFILES, profiles_of
from reports.replay.cells import plan, sample
from reports.replay.errors import ReplayError
from reports.replay.lab import debian, host, kernel, player
from reports.replay.lab.machine import Lab, usable_cpus
from reports.replay.reproduce.catalogue import REPRODUCTIONS
from reports.replay.reproduce.document import document, verdict
from reports.replay.run import replay
from reports.replay.selftest import selftest
from reports.replay.store import write_replay
from schema.releases import ReleaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstflight.settings import Settings
    from reports.profiles import Profile
    from reports.replay.reproduce.verdict import Reproduction

WINDOWS = "3,10,16,30"
"""RFC 3390's window, RFC 6928's, and two candidates."""

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


def parse_windows(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """Distinct numbers of segments, from a comma-separated list."""
    words = value.split(",")
    if not all(word.isascii() and word.isdecimal() and 1 <= int(word) <= MOST_SEGMENTS for word in words):
        raise click.BadParameter(
            f"{value!r} is no list of windows of 1 to {MOST_SEGMENTS} segments, such as {WINDOWS}"
        )
    return tuple(dict.fromkeys(int(word) for word in words))


def parse_profiles(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[Profile, ...]:
    """Distinct profiles, from a comma-separated list of ids; none without one."""
    if value is None:
        return ()
    known = {one.id: one for one in PROFILES}
    words = list(dict.fromkeys(value.split(",")))
    if unknown := [word for word in words if word not in known]:
        raise click.BadParameter(f"no profile {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[word] for word in words)


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
@source_options
@click.option(
    "--iw",
    "windows",
    callback=parse_windows,
    metavar="N,...",
    default=WINDOWS,
    show_default=True,
    help="Initial windows.",
)
@click.option(
    "--profiles",
    callback=parse_profiles,
    metavar="ID,...",
    help="Network profiles; without it those that a recommendation rests on.",
)
@click.option(
    "--population",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE.csv",
    help="Networks with weights, instead of profiles: bandwidth_kbps, rtt_ms, loss, weight.",
)
@click.option("--population-measured", metavar="YYYY-MM", help="When that population was measured.")
@click.option("--population-source", metavar="TEXT", help="Where it comes from; the report prints it.")
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=3, show_default=True, help="Seeds of each cell."
)
@conditions_options
@click.option(
    "--harm",
    type=click.Choice(["none", "core", "all"]),
    default="none",
    show_default=True,
    help="Cells of the rule's harm conditions too: queues, other people's load, everyone at the window.",
)
@click.option(
    "--harm-pages",
    type=click.IntRange(1),
    default=25,
    show_default=True,
    help="Pages of those cells, evenly spread over their sizes.",
)
@click.option(
    "--guests", type=click.IntRange(1, 256), default=None, help="Guests at once; one a CPU without it."
)
@click.option(
    "--responses", is_flag=True, help="Write responses.parquet too: times and flights of each response."
)
@click.option("--json", "as_json", is_flag=True, help="Print the replay's provenance as JSON.")
@click.pass_obj
def run(
    settings: Settings,
    /,
    *,
    crawl: str | None,
    hars: tuple[Path, ...],
    logs: tuple[Path, ...],
    windows: tuple[int, ...],
    profiles: tuple[Profile, ...],
    population: Path | None,
    population_measured: str | None,
    population_source: str | None,
    seeds: int,
    harm: str,
    harm_pages: int,
    guests: int | None,
    responses: bool,
    as_json: bool,
    **conditions: Any,  # noqa: ANN401  # the options of conditions.py
) -> None:
    """Replay every page of a release, or of recordings, over every profile, under all conditions, at every window, with every seed.

    A report takes the arm of the defaults alone; the others stand beside it in cells.parquet.

    \b
    Example:
      firstflight replay run --crawl 2026-11
      firstflight replay run --crawl 2026-11 --iw 10,20 --profiles avgdc-2010-mid --seeds 5
      firstflight replay run --crawl 2026-11 --harm core
      firstflight replay run --crawl 2026-11 --population ndt-2026-05.csv --population-measured 2026-05
        --population-source "M-Lab NDT, query of docs/populations.md"
      firstflight replay run --crawl 2026-11 --congestion-control cubic,bbr --pacing off,on
      firstflight replay run --har page.har --cdp log.json.gz --cache cold,warm --think recorded
      firstflight replay run --crawl 2026-11 --loss own,0.01,0.01x4 --competition none,2xbbr@10
    """
    populations = DECIDING
    with one_line(ReplayError, ReleaseError, PopulationError, OSError):
        if population:
            if profiles:
                raise click.UsageError("--population brings its own networks: leave --profiles out")
            imported = read_population(
                population, measured=population_measured or "", source=population_source or ""
            )
            profiles, populations = imported.profiles, imported.populations
        elif population_measured or population_source:
            raise click.UsageError("--population-measured and --population-source belong to --population")
        profiles = profiles or profiles_of(populations)
        source = find_source(settings, crawl=crawl, hars=hars, logs=logs)
        cells = plan(source.recipes, profiles, windows=windows, seeds=seeds, conditions=arms(**conditions))
        if harm != "none":
            asked = [one.conditions for one in (CORE if harm == "core" else HARM_CONDITIONS)]
            some = sample(source.recipes, harm_pages)
            cells += plan(some, profiles, windows=windows, seeds=seeds, conditions=asked)
        lab = find_lab(settings.cache_dir)
        with tqdm(total=len(cells), unit="load", disable=None, desc="replay") as progress:
            result = replay(
                lab, cells, guests=guests or len(usable_cpus()), progress=progress, responses=responses
            )
        folder = settings.replays / source.folder
        facts = write_replay(
            folder,
            result,
            cells,
            source.facts,
            commit=code_commit(settings.commit),
            populations=populations,
            responses=responses,
        )
    if as_json:
        click.echo(json.dumps(facts, indent=2, sort_keys=True))
    else:
        report(facts, folder)
    if not facts["cells"]["done"]:
        raise click.ClickException(f"no load was done; {folder / 'replay.json'} has the reasons")


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
    with one_line(ReplayError, OSError):
        lab = find_lab(settings.cache_dir, which)
        with tqdm(wanted, disable=None, unit="result", leave=False) as progress:
            for name in progress:
                progress.set_description(name)
                found.append(REPRODUCTIONS[name](lab))
        if path is not None:
            figures = write_figures(found, path.parent)
            path.write_text(
                document(found, commit=code_commit(settings.commit), figures=figures), encoding="utf-8"
            )
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=2))
        return
    for one in found:
        click.secho(f"{one.id}: {verdict(one)}", bold=True)
        for check in one.checks:
            click.echo(
                f"  {'ok  ' if check.passed else 'FAIL'} {check.what}: {check.measured:.4g}, bound {check.bound:g}"
            )


def write_figures(found: Sequence[Reproduction], folder: Path) -> dict[str, str]:
    """Where each reproduction's figure is, from the folder."""
    from reports.replay.reproduce.figures import figure  # it takes a second to load

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

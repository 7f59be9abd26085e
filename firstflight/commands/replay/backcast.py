"""`firstflight replay backcast`: hold the replay and the rule against the experiment of 2010."""

import click

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, show
from firstflight.commands.replay.lab import find_lab
from firstflight.commit import code_commit
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.backcast import calibration, experiment
from replay.errors import ReplayError
from replay.runs.replay_folder import read_cells
from verdict.calibration import (
    BackCast,
    choose_windows,
    content_of,
    figures_in,
    figures_of,
    judge_stored,
    read_finding,
    sentence,
    write_backcast,
)


@click.command("backcast")
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=experiment.SEEDS,
    show_default=True,
    help="Loads of each page, network and window.",
)
@click.option(
    "--unless-stored",
    is_flag=True,
    help="Do nothing if the stored back-cast, or the one that comes with the code, has as many seeds, and is "
    "of this kernel, player and rule.",
)
@click.option(
    "--judge-again",
    is_flag=True,
    help="Judge the stored loads by this code's rule, without a load.",
)
@AS_JSON
@click.pass_obj
def run_backcast(
    settings: Settings, *, seeds: int, unless_stored: bool, judge_again: bool, as_json: bool
) -> None:
    """Replay the experiment that made IW 10 the standard, and ask which window the rule chooses.

    Servers count acknowledgements and recover from losses as in 2010. Inputs that the paper does not print
    (rates, queues, random loss, flows of a page, time of the back end) are calibrated by its figures at IW 3;
    the outcome is judged by what changed at IW 10. It is stored in the folder `backcast` of the data folder.
    The replay takes about a quarter of an hour on two cores.

    \b
    Example:
      firstflight replay backcast
      firstflight replay backcast --seeds 10 --json
      firstflight replay backcast --unless-stored
      firstflight replay backcast --judge-again
    """
    if judge_again:
        with one_line(ReplayError, OSError):
            content = judge_stored(settings.backcast)
            write_backcast(settings.backcast, content, read_cells(settings.backcast).to_pylist())
        show_outcome(content, as_json=as_json)
        return
    stored = read_finding(settings.backcast).content if unless_stored else None
    if stored is not None and stored["seeds"] >= seeds:
        click.echo(f"stored already, by {stored['seeds']} seeds. {sentence(stored)}", err=True)
        return
    commit = code_commit(settings.commit)
    loads = calibration.count_loads() + experiment.count_loads(seeds=seeds)
    with one_line(ReplayError, OSError):
        lab = find_lab(settings.cache_dir)
        with progress_bar(settings, total=loads, unit="loads", desc="back-cast") as progress:
            calibrated = calibration.calibrate(lab, progress)
            loads_by_cell = experiment.run_experiment(lab, calibrated, seeds=seeds, progress=progress)
        figures = tuple(figures_of(loads_by_cell, calibrated))
        content = content_of(
            calibrated, figures, choose_windows(loads_by_cell, calibrated), seeds=seeds, commit=commit
        )
        write_backcast(settings.backcast, content, [row for rows in loads_by_cell.values() for row in rows])
    show_outcome(content, as_json=as_json)


def show_outcome(content: BackCast, *, as_json: bool) -> None:
    lines = (
        f"  {'ok  ' if figure.is_met else 'MISS' if figure.quantity else '    '} {figure.what}: "
        f"{figure.ours:.3g} {figure.unit}, published {figure.published:.3g} {figure.unit}"
        for figure in figures_in(content)
        if figure.half == "judgement"
    )
    show(content, as_json=as_json, lines=[*lines, click.style(sentence(content), bold=True)])

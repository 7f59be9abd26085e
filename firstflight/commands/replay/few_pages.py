"""Options for the loads that a replay takes of a few pages alone: under harm conditions, and at the ends of inputs."""

from __future__ import annotations

import click

from firstflight.commands.replay.windows import parse_windows

FEW_PAGES_OPTIONS = (
    click.option(
        "--harm",
        type=click.Choice(["none", "core", "all"]),
        default="none",
        show_default=True,
        help="Also replay the harm conditions (queues, background load, everyone at the window); a recommendation needs "
        "core.",
    ),
    click.option(
        "--harm-pages",
        type=click.IntRange(1),
        default=25,
        show_default=True,
        help="Number of pages under the harm conditions, sampled evenly by size.",
    ),
    click.option(
        "--harm-iw",
        "harm_windows",
        callback=parse_windows,
        metavar="N,...",
        help="Initial windows under the harm conditions and at the ends of inputs.  [default: as --iw]",
    ),
    click.option(
        "--harm-seeds",
        type=click.IntRange(1, 1000),
        help="Loads of each page, network, window and harm condition.  [default: as --seeds]",
    ),
    click.option(
        "--sensitivity",
        is_flag=True,
        help="Also replay pages at the ends of every input that could turn the answer, with one seed: the report's ledger.",
    ),
    click.option(
        "--sensitivity-pages",
        type=click.IntRange(1),
        help="Number of pages at the ends of inputs, sampled evenly by size.  [default: as --harm-pages]",
    ),
)

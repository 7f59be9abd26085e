"""The conditions of a replay on the command line: lists, every combination of which is an arm."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from replay.runs.conditions import CACHE, CONGESTION_CONTROLS, SERVER_DELAY, Competition, Conditions, Loss

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any]")

MOST_LOSS = 0.5
MOST_COMPETING_FLOWS = 64
MOST_SEGMENTS = 250
"""Each window is an address of the guest's client."""

LOSS = re.compile(r"(0?\.\d+|0)(?:x(\d+(?:\.\d+)?))?", re.ASCII)
COMPETITION = re.compile(r"(\d{1,3})x([a-z]+)@(\d{1,3})", re.ASCII)


def each(
    read: Callable[[str], Any], allowed: str
) -> Callable[[click.Context, click.Parameter, str], tuple[Any, ...]]:
    """A callback that takes distinct values from a comma-separated list; `read` raises ValueError."""

    def parse(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[Any, ...]:
        try:
            return tuple(dict.fromkeys(read(word) for word in value.split(",")))
        except ValueError as exc:
            raise click.BadParameter(f"{value!r}: each must be {allowed}") from exc

    return parse


def read_control(word: str) -> str:
    """A congestion control of the guest's kernel."""
    if word not in CONGESTION_CONTROLS:
        raise ValueError(word)
    return word


def read_pacing(word: str) -> bool:
    """On or off."""
    return bool(("off", "on").index(word))


def read_think(word: str) -> bool:
    """As recorded, or none."""
    return bool(SERVER_DELAY.index(word))


def read_cache(word: str) -> bool:
    """Cold or warm."""
    return bool(CACHE.index(word))


def read_loss(word: str) -> Loss | None:
    """A share, or a share in bursts; None: as the network has it."""
    if word == "own":
        return None
    match = LOSS.fullmatch(word)
    if not match:
        raise ValueError(word)
    loss = Loss(share=float(match[1]), burst=float(match[2] or 1))
    if loss.share > MOST_LOSS or loss.burst < 1:
        raise ValueError(word)
    return loss


def read_competition(word: str) -> Competition | None:
    """So many downloads of a congestion control and a window; None without any."""
    if word == "none":
        return None
    match = COMPETITION.fullmatch(word)
    if not match:
        raise ValueError(word)
    found = Competition(flows=int(match[1]), congestion_control=read_control(match[2]), iw=int(match[3]))
    if not 1 <= found.flows <= MOST_COMPETING_FLOWS or not 1 <= found.iw <= MOST_SEGMENTS:
        raise ValueError(word)
    return found


OPTIONS = (
    click.option(
        "--congestion-control",
        callback=each(read_control, f"one of {', '.join(CONGESTION_CONTROLS)}"),
        metavar="NAME,...",
        default="cubic",
        show_default=True,
        help=f"Of the page's servers: {', '.join(CONGESTION_CONTROLS)}.",
    ),
    click.option(
        "--pacing",
        callback=each(read_pacing, "on or off"),
        metavar="on|off,...",
        default="off",
        show_default=True,
        help="Whether the page's servers spread what they send over the round trip; competing downloads stay as they are.",
    ),
    click.option(
        "--loss",
        callback=each(
            read_loss,
            f"own, a share up to {MOST_LOSS} such as 0.01, or one in bursts of so many packets such as 0.01x4",
        ),
        metavar="own|SHARE[xBURST],...",
        default="own",
        show_default=True,
        help="Share of packets lost on the way, each way, beside what the queue drops: 0.01 is 1 %, one by one, 0.01x4 "
        "the same in runs of four in the mean. own: as the network has it.",
    ),
    click.option(
        "--competition",
        callback=each(
            read_competition,
            f"none, or up to {MOST_COMPETING_FLOWS} downloads as FLOWSxCONTROL@IW, such as 2xbbr@10; "
            f"controls are {', '.join(CONGESTION_CONTROLS)}",
        ),
        metavar="none|NxCONTROL@IW,...",
        default="none",
        show_default=True,
        help="Downloads without end beside the page: 2xbbr@10 is two, by BBR, from a window of 10 segments.",
    ),
    click.option(
        "--think",
        callback=each(read_think, " or ".join(SERVER_DELAY)),
        metavar="none|recorded,...",
        default="none",
        show_default=True,
        help="What servers take to begin an answer: nothing, or as long as was recorded, where that is known.",
    ),
    click.option(
        "--cache",
        callback=each(read_cache, " or ".join(CACHE)),
        metavar="cold|warm,...",
        default="cold",
        show_default=True,
        help="warm: a second visit a minute later, by the recorded headers; of a release from schema version 3 on.",
    ),
)


def conditions_options(command: Command) -> Command:
    """All of them, on a command that passes them to `arms`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def arms(
    *,
    congestion_control: tuple[str, ...],
    pacing: tuple[bool, ...],
    loss: tuple[Loss | None, ...],
    competition: tuple[Competition | None, ...],
    think: tuple[bool, ...],
    cache: tuple[bool, ...],
) -> list[Conditions]:
    """Every combination."""
    return [
        Conditions(
            congestion_control=control,
            pacing=paced,
            loss=lost,
            competition=competing,
            server_delay=delayed,
            warm_cache=warm,
        )
        for control, paced, lost, competing, delayed, warm in itertools.product(
            congestion_control, pacing, loss, competition, think, cache
        )
    ]

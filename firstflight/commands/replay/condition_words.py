"""Words of the options for the conditions of a replay, as values."""

import re
from collections.abc import Callable, Collection
from typing import Any

import click

from replay.lab.kernel import congestion_controls
from replay.networks.profiles import DISCIPLINES, FRAME_BYTES
from replay.networks.queues import MOST_BYTES, QUEUES, PublishedQueues
from replay.runs.conditions import Competition, Loss, Queue

CONGESTION_CONTROLS = congestion_controls()
MOST_LOSS = 0.5
MOST_COMPETING_FLOWS = 64
MOST_BDP = 16
MOST_SEGMENTS = 250
"""Largest initial window: each window needs its own address in the guest's client."""

LOSS = re.compile(r"(0?\.\d+|0)(?:x(\d+(?:\.\d+)?))?", re.ASCII)
QUEUE = re.compile(r"(\d+(?:\.\d+)?)(BDP|B)", re.ASCII)
COMPETITION = re.compile(r"(\d{1,3})x([a-z]+)@(\d{1,3})", re.ASCII)


def each(
    read: Callable[[str], Any], allowed: str
) -> Callable[[click.Context, click.Parameter, str], tuple[Any, ...]]:
    """A callback that reads distinct values from a comma-separated list; `read` raises ValueError."""

    def parse(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[Any, ...]:
        try:
            return tuple(dict.fromkeys(read(word) for word in value.split(",")))
        except ValueError as exc:
            raise click.BadParameter(f"{value!r}: each must be {allowed}") from exc

    return parse


def among(known: Collection[str], allowed: str) -> Callable[..., tuple[str, ...]]:
    """A callback that reads words of `known`."""

    def read(word: str) -> str:
        if word not in known:
            raise ValueError(word)
        return word

    return each(read, allowed)


def one_of(*words: str) -> Callable[[click.Context, click.Parameter, str], tuple[bool, ...]]:
    """A callback that reads False or True, written as the first or the second of two words."""
    return each(lambda word: bool(words.index(word)), " or ".join(words))


def read_loss(word: str) -> Loss | None:
    """Read a share, or a share in bursts; None: the profile's own loss."""
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
    """Read competing flows with their congestion control and window; None: no flows."""
    if word == "none":
        return None
    match = COMPETITION.fullmatch(word)
    if not match:
        raise ValueError(word)
    found = Competition(flows=int(match[1]), congestion_control=match[2], iw=int(match[3]))
    is_known = found.congestion_control in CONGESTION_CONTROLS
    if not (is_known and 1 <= found.flows <= MOST_COMPETING_FLOWS and 1 <= found.iw <= MOST_SEGMENTS):
        raise ValueError(word)
    return found


def read_queue(word: str) -> Queue | PublishedQueues | None:
    """Read a discipline, a size of a queue with tail drop, or a reading of the published queues.

    None: the profile's own queue.
    """
    if word == "own":
        return None
    if word in QUEUES:
        return QUEUES[word]
    if word in DISCIPLINES and word != "tail-drop":
        return Queue(discipline=word)
    match = QUEUE.fullmatch(word)
    if not match:
        raise ValueError(word)
    size = float(match[1])
    if match[2] == "BDP" and MOST_BDP >= size > 0:
        return Queue(bdp=size)
    if match[2] == "B" and 2 * FRAME_BYTES <= size <= MOST_BYTES:
        return Queue(bytes=int(size))
    raise ValueError(word)

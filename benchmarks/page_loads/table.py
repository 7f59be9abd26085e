"""The comparison as tables of docs/methods.md, with the bounds that are met and missed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.page_loads.comparing import PAIRS, Comparison, Gain

BEGIN, END = "<!-- page-loads: begin -->\n", "<!-- page-loads: end -->\n"
MOST_ERROR, LEAST_CORRELATION, LEAST_SIGNS, MOST_DIFFERENCE = 0.10, 0.9, 0.9, 0.03
"""Bounds: median error, rank correlation, share of pages whose gain has the same sign, difference of the mean gains."""
TIMES = ["network", "time", "pages", "median error", "bias", "rank correlation", "missed"]
GAINS = [
    "network",
    "time",
    "IW",
    "gain, Chromium",
    "gain, replay",
    "same sign",
    "same sign, of sure ones",
    "missed",
]


def write(document: Path, found: Sequence[Comparison], introduction: str) -> None:
    """Replace the tables in a document."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    if not begin:
        raise ValueError(f"{document} has no place for the tables: {BEGIN.strip()}")
    after = rest.partition(END)[2]
    document.write_text(before + begin + markdown(found, introduction) + END + after, encoding="utf-8")


def markdown(found: Sequence[Comparison], introduction: str) -> str:
    """Introduction, the table of times and the table of gains."""
    lines = [
        introduction,
        "",
        *lined(TIMES, map(time_row, found)),
        "",
        *lined(GAINS, (gain_row(one, pair) for one in found for pair in PAIRS)),
    ]
    return "\n".join(lines) + "\n"


def lined(head: Sequence[str], body: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table's lines."""
    for cells in (head, ["---"] * len(head), *body):
        yield "| " + " | ".join(cells) + " |"


def time_row(one: Comparison) -> list[str]:
    """Errors of one time over one network."""
    missed = {
        "error": one.median_error >= MOST_ERROR,
        "correlation": one.rank_correlation <= LEAST_CORRELATION,
    }
    return [
        one.network,
        one.measure,
        str(one.pages),
        f"{one.median_error:.1%}",
        f"{one.median_bias:+.1%}",
        f"{one.rank_correlation:.3f}",
        named(missed),
    ]


def gain_row(one: Comparison, pair: tuple[int, int]) -> list[str]:
    """Gains of one time over one network, from one window to another."""
    gains = one.gains[pair]
    real = statistics.fmean(gain.real for gain in gains)
    replayed = statistics.fmean(gain.replayed for gain in gains)
    missed = {
        "sign": agreeing(gains) < LEAST_SIGNS * len(gains),
        "size": abs(replayed - real) > MOST_DIFFERENCE,
    }
    sure = [gain for gain in gains if gain.is_sure]
    return [
        one.network,
        one.measure,
        f"{pair[0]} to {pair[1]}",
        f"{real:.1%}",
        f"{replayed:.1%}",
        f"{agreeing(gains)} of {len(gains)}",
        f"{agreeing(sure)} of {len(sure)}",
        named(missed),
    ]


def agreeing(gains: Sequence[Gain]) -> int:
    """Number of pages whose gain has the same sign in both."""
    return sum(gain.has_same_sign for gain in gains)


def named(missed: dict[str, bool]) -> str:
    """Names of the bounds that are missed."""
    return ", ".join(name for name, is_missed in missed.items() if is_missed) or "-"


def facts(one: Comparison) -> dict[str, Any]:
    """A comparison as JSON has it."""
    return {
        "network": one.network,
        "measure": one.measure,
        "pages": one.pages,
        "median_error": one.median_error,
        "median_bias": one.median_bias,
        "rank_correlation": one.rank_correlation,
        "gains": {
            f"{small} to {large}": [[gain.real, gain.replayed, gain.is_sure] for gain in gains]
            for (small, large), gains in one.gains.items()
        },
    }

"""The comparison as tables of docs/methods.md, with the bounds that are met and missed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

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
    """Introduction, findings, the table of times and the table of gains."""
    lines = [
        introduction,
        findings(found),
        "",
        *lined(TIMES, map(time_row, found)),
        "",
        *lined(GAINS, (gain_row(one, pair) for one in found for pair in PAIRS)),
    ]
    return "\n".join(lines) + "\n"


def findings(found: Sequence[Comparison]) -> str:
    """Which bounds are missed and how often, and on which pages signs disagree."""
    gains = [one.gains[pair] for one in found for pair in PAIRS]
    missing = [some for some in gains if misses_sign(some)]
    apart = [gain for some in missing for gain in some if not gain.has_same_sign]
    alike = [gain for some in missing for gain in some if gain.has_same_sign]
    sentences = [
        f"Of {len(found)} rows of times the median error is under 10 % in {all_but(map(misses_error, found))}, and the rank correlation above 0.9 "
        f"in {all_but(map(misses_correlation, found))}.",
        f"Of {len(gains)} rows of gains the signs agree on 90 % of the pages in {all_but(map(misses_sign, gains))}, and the mean gains "
        f"within 3 percentage points in {all_but(map(misses_size, gains))}.",
    ]
    if apart:
        sentences.append(
            f"In the rows that miss it, signs disagree on {len(apart)} of {len(apart) + len(alike)} gains of pages; for "
            f"{sum(not gain.is_sure for gain in apart)} of these, Chromium's own loads do not agree which window is quicker."
        )
    if apart and alike:
        ours, others = (statistics.median(abs(gain.real) for gain in some) for some in (apart, alike))
        sentences.append(
            f"There the gain is {ours:.1%} in the median, up or down, against {others:.1%} where signs agree."
        )
    return " ".join(sentences)


def all_but(missed: Iterable[bool]) -> str:
    """How many rows meet a bound.

    >>> all_but([False, False]), all_but([False, True])
    ('all', 'all but 1')
    """
    count = sum(missed)
    return f"all but {count}" if count else "all"


def misses_error(one: Comparison) -> bool:
    """Return whether the median error is too large."""
    return one.median_error >= MOST_ERROR


def misses_correlation(one: Comparison) -> bool:
    """Return whether the rank correlation is too small."""
    return one.rank_correlation <= LEAST_CORRELATION


def misses_sign(gains: Sequence[Gain]) -> bool:
    """Return whether signs agree on too few pages."""
    return agreeing(gains) < LEAST_SIGNS * len(gains)


def misses_size(gains: Sequence[Gain]) -> bool:
    """Return whether the mean gains are too far apart."""
    return abs(mean(gains, "replayed") - mean(gains, "real")) > MOST_DIFFERENCE


def mean(gains: Sequence[Gain], side: Literal["real", "replayed"]) -> float:
    """The mean gain over pages."""
    return statistics.fmean(getattr(gain, side) for gain in gains)


def lined(head: Sequence[str], body: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table's lines."""
    for cells in (head, ["---"] * len(head), *body):
        yield "| " + " | ".join(cells) + " |"


def time_row(one: Comparison) -> list[str]:
    """Errors of one time over one network."""
    missed = {"error": misses_error(one), "correlation": misses_correlation(one)}
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
    missed = {"sign": misses_sign(gains), "size": misses_size(gains)}
    sure = [gain for gain in gains if gain.is_sure]
    return [
        one.network,
        one.measure,
        f"{pair[0]} to {pair[1]}",
        f"{mean(gains, 'real'):.1%}",
        f"{mean(gains, 'replayed'):.1%}",
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

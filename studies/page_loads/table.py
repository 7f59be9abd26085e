"""The comparison as tables, errors.csv and gains.csv, with the bounds that are met and missed."""

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from studies.csv_table import write_table
from studies.page_loads.comparing import PAIRS, Comparison, Gain

MOST_ERROR, LEAST_CORRELATION, LEAST_SIGNS, MOST_DIFFERENCE = 0.10, 0.9, 0.9, 0.03
"""Bounds: median error, rank correlation, share of pages whose gain has the same sign,
difference of the mean gains."""
ERRORS, GAINS = (Path(__file__).with_name(name) for name in ("errors.csv", "gains.csv"))
ERROR_FIELDS = ("network", "time", "pages", "median_error", "median_bias", "rank_correlation", "missed")
GAIN_FIELDS = (
    *("network", "time", "iw", "to_iw", "gain_chromium", "gain_replay"),
    *("pages", "same_sign", "sure_pages", "sure_same_sign", "missed"),
)


def write(comparisons: Sequence[Comparison]) -> None:
    write_table(ERRORS, ERROR_FIELDS, map(time_row, comparisons))
    write_table(
        GAINS, GAIN_FIELDS, (gain_row(comparison, pair) for comparison in comparisons for pair in PAIRS)
    )


def findings(comparisons: Sequence[Comparison]) -> str:
    """Return which bounds are missed and how often, and on which pages signs disagree."""
    gains = [comparison.gains[pair] for comparison in comparisons for pair in PAIRS]
    missing = [row for row in gains if misses_sign(row)]
    apart = [gain for row in missing for gain in row if not gain.has_same_sign]
    alike = [gain for row in missing for gain in row if gain.has_same_sign]
    sentences = [
        f"Of {len(comparisons)} rows of times the median error is under 10 % in "
        f"{all_but(map(misses_error, comparisons))}, and the rank correlation above 0.9 in "
        f"{all_but(map(misses_correlation, comparisons))}.",
        f"Of {len(gains)} rows of gains the signs agree on 90 % of the pages in "
        f"{all_but(map(misses_sign, gains))}, and the mean gains within 3 percentage points in "
        f"{all_but(map(misses_size, gains))}.",
    ]
    if apart:
        sentences.append(
            f"In the rows that miss it, signs disagree on {len(apart)} of {len(apart) + len(alike)} gains of "
            f"pages; for {sum(not gain.is_sure for gain in apart)} of these, Chromium's own loads do not "
            "agree which window is quicker."
        )
    if apart and alike:
        ours, others = (statistics.median(abs(gain.real) for gain in group) for group in (apart, alike))
        sentences.append(
            f"There the gain is {ours:.1%} in the median, up or down, against {others:.1%} where signs agree."
        )
    return " ".join(sentences)


def all_but(missed: Iterable[bool]) -> str:
    """Return how many rows meet a bound.

    >>> all_but([False, False]), all_but([False, True])
    ('all', 'all but 1')
    """
    count = sum(missed)
    return f"all but {count}" if count else "all"


def misses_error(comparison: Comparison) -> bool:
    return comparison.median_error >= MOST_ERROR


def misses_correlation(comparison: Comparison) -> bool:
    return comparison.rank_correlation <= LEAST_CORRELATION


def misses_sign(gains: Sequence[Gain]) -> bool:
    return agreeing(gains) < LEAST_SIGNS * len(gains)


def misses_size(gains: Sequence[Gain]) -> bool:
    return abs(mean(gains, "replayed") - mean(gains, "real")) > MOST_DIFFERENCE


def mean(gains: Sequence[Gain], side: Literal["real", "replayed"]) -> float:
    return statistics.fmean(getattr(gain, side) for gain in gains)


def time_row(comparison: Comparison) -> tuple[object, ...]:
    missed = {"error": misses_error(comparison), "correlation": misses_correlation(comparison)}
    errors = (
        f"{value:.4f}"
        for value in (comparison.median_error, comparison.median_bias, comparison.rank_correlation)
    )
    return (comparison.network, comparison.measure, comparison.pages, *errors, join_names(missed))


def gain_row(comparison: Comparison, pair: tuple[int, int]) -> tuple[object, ...]:
    gains = comparison.gains[pair]
    missed = {"sign": misses_sign(gains), "size": misses_size(gains)}
    sure = [gain for gain in gains if gain.is_sure]
    means = (f"{mean(gains, 'real'):.4f}", f"{mean(gains, 'replayed'):.4f}")
    agreements = (len(gains), agreeing(gains), len(sure), agreeing(sure))
    return (comparison.network, comparison.measure, *pair, *means, *agreements, join_names(missed))


def agreeing(gains: Sequence[Gain]) -> int:
    return sum(gain.has_same_sign for gain in gains)


def join_names(missed: dict[str, bool]) -> str:
    return ", ".join(name for name, is_missed in missed.items() if is_missed)

"""How far the replay's times are from Chromium's, and its differences between windows from the browser's."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from replay.published.reproduction import spearman

PAIRS = ((3, 10), (10, 30), (3, 30))

RESOLUTION_MS = 2.0
"""Largest difference of two times of NetLog, which counts whole milliseconds, that is no difference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """One load of a page, real or replayed; times in milliseconds since the first SYN."""

    network: str
    page: str
    iw: int
    page_ms: float
    """Last byte of the last response."""
    document_ms: float
    """Last byte of the main document."""
    first_byte_ms: float
    """First byte of the main document that could be used."""
    responses: Mapping[str, float]
    """From the request to the last byte of each response, by its URL without scheme."""


def mean_response_ms(load: Load) -> float:
    return statistics.fmean(load.responses.values())


MEASURES: Mapping[str, Callable[[Load], float]] = {
    "page": lambda load: load.page_ms,
    "document": lambda load: load.document_ms,
    "first byte": lambda load: load.first_byte_ms,
    "response, mean of the page": mean_response_ms,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """What a larger window saves on a page, as a share of the time at the smaller one."""

    real: float
    replayed: float
    has_same_sign: bool
    """True if both are savings, both are losses, or both are nothing as far
    as the browser's clock can tell."""
    is_sure: bool
    """True if every real load at one window was quicker than every one at the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One measure over one network."""

    network: str
    measure: str
    pages: int
    median_error: float
    """Median over pages and windows of the absolute error, as a share of the real time."""
    median_bias: float
    """The same with its sign: positive if the replay is slower."""
    rank_correlation: float
    gains: Mapping[tuple[int, int], tuple[Gain, ...]]
    """Gains of all pages by pair of windows."""


Times = Mapping[tuple[str, int], Sequence[float]]
"""Times by page and window, one for each load."""

Measured = Mapping[tuple[str, str], tuple[Times, Times]]
"""Real and replayed times by network and measure."""


def measure_all(real: Iterable[Load], replayed: Iterable[Load], networks: Sequence[str]) -> Measured:
    """Return all measures of loads over each network."""
    real, replayed = list(real), list(replayed)
    return {
        (network, name): (times(real, network, measure), times(replayed, network, measure))
        for network in networks
        for name, measure in MEASURES.items()
    }


def compare(measured_times: Measured) -> list[Comparison]:
    """Compare all measures over each network, on pages that have all windows in both."""
    return [compare_measure(network, name, *both) for (network, name), both in measured_times.items()]


def times(loads: Iterable[Load], network: str, measure: Callable[[Load], float]) -> Times:
    """Return a measure of all loads over a network, to a microsecond."""
    times_of_loads: dict[tuple[str, int], list[float]] = {}
    for load in loads:
        if load.network == network:
            times_of_loads.setdefault((load.page, load.iw), []).append(round(measure(load), 3))
    return times_of_loads


def compare_measure(network: str, name: str, real: Times, replayed: Times) -> Comparison:
    """Compare the medians of loads by page and window, and the gains between windows by page."""
    windows = sorted({iw for pair in PAIRS for iw in pair})
    pages = sorted(
        {page for page, _ in real if all((page, iw) in real.keys() & replayed.keys() for iw in windows)}
    )
    pairs = [
        (statistics.median(real[page, iw]), statistics.median(replayed[page, iw]))
        for page in pages
        for iw in windows
    ]
    errors = [ours / theirs - 1 for theirs, ours in pairs]
    return Comparison(
        network=network,
        measure=name,
        pages=len(pages),
        median_error=statistics.median(map(abs, errors)),
        median_bias=statistics.median(errors),
        rank_correlation=spearman([ours for _, ours in pairs], [theirs for theirs, _ in pairs]),
        gains={pair: tuple(gain(real, replayed, page, pair) for page in pages) for pair in PAIRS},
    )


def gain(real: Times, replayed: Times, page: str, pair: tuple[int, int]) -> Gain:
    """Return the gain of the larger window of a pair on one page.

    >>> gain({("a", 3): [40.0, 50.0], ("a", 10): [36.0]}, {("a", 3): [45.0], ("a", 10): [44.0]}, "a", (3, 10))
    Gain(real=0.2, replayed=0.0222, has_same_sign=False, is_sure=True)
    """
    small, large = (real[page, iw] for iw in pair)
    theirs, ours = ([statistics.median(times_of[page, iw]) for iw in pair] for times_of in (real, replayed))
    return Gain(
        real=round(1 - theirs[1] / theirs[0], 4),
        replayed=round(1 - ours[1] / ours[0], 4),
        has_same_sign=sign(*theirs) == sign(*ours),
        is_sure=max(large) < min(small) or max(small) < min(large),
    )


def sign(small_ms: float, large_ms: float) -> int:
    """Return 1 if the larger window saves time, -1 if it costs time, 0 if the clock cannot tell.

    >>> sign(100, 90), sign(100, 101), sign(100, 110)
    (1, 0, -1)
    """
    saved_ms = small_ms - large_ms
    return 0 if abs(saved_ms) <= RESOLUTION_MS else 1 if saved_ms > 0 else -1

"""Replay results by profile and window: means with intervals, over the pages that are complete at every window."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from releases.interval import Interval
from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import Floats, bootstrap
from reports.statistics.paired_loads import PairedLoads, complete


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """Results on one profile at one window."""

    profile: str
    iw: int
    pages: int
    loads: int
    page_ms: Interval
    saved_percent: Interval | None
    """Percentage of the mean page time at the incumbent; None if the incumbent was not replayed."""
    retransmitted_percent: Interval
    """Retransmitted payload as a percentage of received payload."""
    connections_initial_loss_percent: Interval


COLUMNS = ("page_ms", "bytes_retransmitted", "payload_bytes", "connections_initial_loss", "connections")


def summarise(loads: PairedLoads, *, incumbent: int, rule: Rule) -> list[WindowResult]:
    """Summarise every profile at every window; a profile without a complete page is left out."""
    return [
        result
        for place, profile in enumerate(loads.profiles)
        for result in _results(loads, place, profile, incumbent=incumbent, rule=rule)
    ]


def _results(
    loads: PairedLoads, place: int, profile: str, *, incumbent: int, rule: Rule
) -> list[WindowResult]:
    values = {name: loads.values[name][:, place] for name in COLUMNS}  # [page, window, seed]
    # All windows share a mask, since means over different pages cannot be compared.
    mask = complete(
        [values[name][:, np.newaxis, at] for name in COLUMNS for at in range(len(loads.windows))], np.ones(1)
    )
    kept = mask.any(axis=1)
    if not kept.any():
        return []
    mask = mask[kept]

    def interval(columns: list[Floats], statistic: Callable[[Floats], Floats]) -> Interval:
        stacked = np.stack([column[kept] for column in columns], axis=-1)
        estimate = bootstrap(stacked, mask, statistic, replicates=rule.replicates, seed=rule.bootstrap_seed)
        return estimate.interval(rule.confidence)

    def result(at: int, iw: int) -> WindowResult:
        here = {name: values[name][:, at] for name in COLUMNS}
        saved = None
        if incumbent in loads.windows:
            base = values["page_ms"][:, loads.windows.index(incumbent)]
            saved = interval([here["page_ms"], base], lambda means: 100 - _percent(means))
        return WindowResult(
            profile=profile,
            iw=iw,
            pages=len(mask),
            loads=int(mask.sum()),
            page_ms=interval([here["page_ms"]], lambda means: means[:, 0]),
            saved_percent=saved,
            retransmitted_percent=interval([here["bytes_retransmitted"], here["payload_bytes"]], _percent),
            connections_initial_loss_percent=interval(
                [here["connections_initial_loss"], here["connections"]], _percent
            ),
        )

    return [result(at, iw) for at, iw in enumerate(loads.windows)]


def _percent(means: Floats) -> Floats:
    return 100 * means[:, 0] / means[:, 1]

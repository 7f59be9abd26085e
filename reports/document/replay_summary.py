"""What the replay measured, by profile and window: means with intervals over pages that every window has."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reports.statistics.bootstrap import bootstrap
from reports.statistics.paired_loads import complete

if TYPE_CHECKING:
    from collections.abc import Callable

    from releases.interval import Interval
    from reports.recommendation.rule import Rule
    from reports.statistics.bootstrap import Floats
    from reports.statistics.paired_loads import PairedLoads


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """One profile at one window."""

    profile: str
    iw: int
    pages: int
    loads: int
    page_ms: Interval
    saved_percent: Interval | None
    """Of the mean page time at the incumbent; None where that was not replayed."""
    retransmitted_percent: Interval
    """Payload sent again, of payload received."""
    connections_initial_loss_percent: Interval


COLUMNS = (
    "page_ms",
    "bytes_retransmitted",
    "payload_bytes",
    "connections_initial_loss",
    "connections",
)


def summarise(loads: PairedLoads, *, incumbent: int, rule: Rule) -> list[WindowResult]:
    """Every profile at every window; a profile without one complete page is left out."""
    return [
        outcome
        for place, profile in enumerate(loads.profiles)
        for outcome in _profile(loads, place, profile, incumbent=incumbent, rule=rule)
    ]


def _profile(
    loads: PairedLoads, place: int, profile: str, *, incumbent: int, rule: Rule
) -> list[WindowResult]:
    cut = {name: loads.values[name][:, place] for name in COLUMNS}  # [page, window, seed]
    # One mask for all windows: means over different pages must not be compared.
    arrays = [cut[name][:, np.newaxis, window] for name in COLUMNS for window in range(len(loads.windows))]
    mask = complete(arrays, np.ones(1))
    kept = mask.any(axis=1)
    if not kept.any():
        return []
    mask = mask[kept]
    base = loads.windows.index(incumbent) if incumbent in loads.windows else None

    def interval(columns: list[Floats], statistic: Callable[[Floats], Floats]) -> Interval:
        stacked = np.stack([column[kept] for column in columns], axis=-1)
        estimate = bootstrap(stacked, mask, statistic, replicates=rule.replicates, seed=rule.bootstrap_seed)
        return estimate.interval(rule.confidence)

    def percent(means: Floats) -> Floats:
        return 100 * means[:, 0] / means[:, 1]

    outcomes = []
    for at, iw in enumerate(loads.windows):
        mine = {name: cut[name][:, at] for name in COLUMNS}
        outcomes.append(
            WindowResult(
                profile=profile,
                iw=iw,
                pages=len(mask),
                loads=int(mask.sum()),
                page_ms=interval([mine["page_ms"]], lambda means: means[:, 0]),
                saved_percent=None
                if base is None
                else interval([mine["page_ms"], cut["page_ms"][:, base]], lambda means: 100 - percent(means)),
                retransmitted_percent=interval([mine["bytes_retransmitted"], mine["payload_bytes"]], percent),
                connections_initial_loss_percent=interval(
                    [mine["connections_initial_loss"], mine["connections"]], percent
                ),
            )
        )
    return outcomes

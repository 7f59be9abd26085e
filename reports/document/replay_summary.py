"""Replay results by profile and window: means with intervals,
over the pages that are complete at every window."""

import dataclasses

import numpy as np

from releases.interval import Interval
from reports.recommendation.effects import saved_percent
from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import Floats
from reports.statistics.paired_loads import PairedLoads, complete
from reports.statistics.simultaneous import LEAST_PAGES, simultaneous_intervals


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """Results on one profile at one window."""

    profile: str
    iw: int
    pages: int
    loads: int
    page_ms: Interval
    saved_percent: Interval | None
    """Page time saved against the incumbent, from the mean over pages of the log ratio;
    None if it was not replayed."""
    retransmitted_percent: Interval
    """Mean over pages of the retransmitted payload as a percentage of the received payload."""
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
    if kept.sum() < LEAST_PAGES:
        return []
    mask = mask[kept]

    def by_page(array: Floats) -> Floats:
        """Mean over the complete seeds, [page, window]."""
        counted = np.where(mask[:, np.newaxis], array[kept], 0.0)
        mean: Floats = counted.sum(axis=2) / mask.sum(axis=1)[:, np.newaxis]
        return mean

    def intervals(pages: Floats) -> list[Interval]:
        return simultaneous_intervals(
            pages, rule.confidence, seed=rule.bootstrap_seed, replicates=rule.replicates
        )

    def shares(part: str, whole: str) -> list[Interval]:
        counts, totals = by_page(values[part]), by_page(values[whole])
        return intervals(np.divide(100 * counts, totals, out=np.zeros_like(counts), where=totals > 0))

    saved: list[Interval] | list[None] = [None] * len(loads.windows)
    if incumbent in loads.windows:
        logs = np.log(values["page_ms"])
        base = logs[:, [loads.windows.index(incumbent)]]
        saved = [saved_percent(one) for one in intervals(by_page(logs - base))]
    page_ms = intervals(by_page(values["page_ms"]))
    retransmitted = shares("bytes_retransmitted", "payload_bytes")
    initial_loss = shares("connections_initial_loss", "connections")
    return [
        WindowResult(
            profile=profile,
            iw=iw,
            pages=len(mask),
            loads=int(mask.sum()),
            page_ms=page_ms[at],
            saved_percent=saved[at],
            retransmitted_percent=retransmitted[at],
            connections_initial_loss_percent=initial_loss[at],
        )
        for at, iw in enumerate(loads.windows)
    ]

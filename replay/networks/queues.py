"""Published queues of bottlenecks, in milliseconds of the line's rate by class of rate.

Each class has five depths of equal weight, the percentiles 10, 30, 50, 70 and 90 of loaded tests. All drop at
the tail, unless a variant gives a share of the lines FQ-CoDel.
"""

import csv
import functools
from dataclasses import dataclass, replace
from pathlib import Path

from replay.networks.profiles import FRAME_BYTES, Profile

PUBLISHED = Path(__file__).with_name("published")

MOST_BYTES = 16_000_000
"""Largest queue: a connection's receive window in the lab."""

PERCENTS = (10, 30, 50, 70, 90)
"""Percentiles of a class that stand for a fifth of its lines each."""

LEAST_PACKETS = 20
"""Least queue in full packets: published medians of slow lines are 37 to 107. Ours."""

CODEL_TARGET_US, CODEL_INTERVAL_US = 5_000, 100_000
"""Defaults of FQ-CoDel and CAKE: the queue's standing delay, and how long it may last (RFC 8290 §5.2)."""


def codel_target_us(down_bps: int) -> int:
    """Return CoDel's target: one and a half full packets where that is longer than the default, as in CAKE.

    >>> codel_target_us(12_000_000), codel_target_us(1_000_000)
    (5000, 18168)
    """
    return max(CODEL_TARGET_US, 12_000_000 * FRAME_BYTES // down_bps)


@functools.cache
def read_depths() -> dict[tuple[str, str], tuple[float, ...]]:
    with (PUBLISHED / "queues_ms.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["variant"], row["rate_mbps"]): tuple(float(row[f"p{percent}_ms"]) for percent in PERCENTS)
            for row in csv.DictReader(file)
        }


def rate_class(down_bps: int) -> str:
    """Return the class of a rate.

    >>> rate_class(5_999_000), rate_class(6_000_000), rate_class(25_000_000), rate_class(25_001_000)
    ('<6', '6-25', '6-25', '>25')
    """
    return "<6" if down_bps < 6_000_000 else "6-25" if down_bps <= 25_000_000 else ">25"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedQueues:
    """One reading of the published queues: the queue of a rate and place."""

    id: str
    variant: str = "default"
    least_packets: int = LEAST_PACKETS
    fq_codel_share: float = 0.0
    """Share of the lines that have FQ-CoDel, whatever their depth."""

    def bytes(self, down_bps: int, place: float) -> int:
        """Return the queue at a cumulative share of its class, from the shallowest.

        >>> QUEUES["default"].bytes(100_000_000, 0.5), QUEUES["default"].bytes(300_000, 0.0) // FRAME_BYTES
        (550000, 20)
        """
        depth_ms = read_depths()[self.variant, rate_class(down_bps)][int(place * len(PERCENTS))]
        return min(max(round(depth_ms * down_bps / 8e3), self.least_packets * FRAME_BYTES), MOST_BYTES)

    def over(self, profile: Profile) -> Profile:
        """Return the network with its queue; one without a place keeps its own."""
        if profile.queue_place is None:
            return profile
        has_fq_codel = profile.queue_place * len(PERCENTS) % 1 < self.fq_codel_share
        return replace(
            profile,
            queue_bytes=self.bytes(profile.down_bps, profile.queue_place),
            discipline="fq_codel" if has_fq_codel else "tail-drop",
        )

    def __str__(self) -> str:
        return self.id


QUEUES = {
    reading.id: reading
    for reading in (
        PublishedQueues(id="default"),
        PublishedQueues(id="low", variant="low"),
        PublishedQueues(id="high", variant="high"),
        PublishedQueues(id="at-least-2", least_packets=2),
        PublishedQueues(id="at-least-50", least_packets=50),
        PublishedQueues(id="fq-codel-25", fq_codel_share=0.25),
    )
}

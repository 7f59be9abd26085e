"""Queues of bottlenecks with weights, from a quarter of the bandwidth-delay product to a second of the rate.

All have tail drop. FQ-CoDel and CAKE are disciplines of a profile, and arms of a replay:
how many lines have them is not known.
"""

from dataclasses import dataclass

from replay.networks.profiles import FRAME_BYTES

MOST_BYTES = 16_000_000
"""Largest queue: the receive window of a connection in the lab."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """A depth of the bottleneck's queue, in bandwidth-delay products or in milliseconds of the rate."""

    # Stable, like the id of a profile.
    id: str
    weight: float
    """Share of networks."""
    bdp: float = 0.0
    ms: float = 0.0
    source: str

    def bytes(self, *, bandwidth_mbps: float, rtt_ms: float) -> int:
        """Size over a network: at least two frames, at most MOST_BYTES.

        >>> QUEUES[1].bytes(bandwidth_mbps=12, rtt_ms=40), QUEUES[2].bytes(bandwidth_mbps=12, rtt_ms=40)
        (60000, 150000)
        """
        waits_ms = self.ms + self.bdp * rtt_ms
        return min(max(round(waits_ms * bandwidth_mbps * 125), 2 * FRAME_BYTES), MOST_BYTES)


CODEL_TARGET_US, CODEL_INTERVAL_US = 5_000, 100_000
"""Defaults of FQ-CoDel and CAKE: the queue's standing delay, and how long it may last (RFC 8290 §5.2)."""


def codel_target_us(down_bps: int) -> int:
    """CoDel's target over a bottleneck: one and a half full packets where that is longer than the default,
    as CAKE does.

    >>> codel_target_us(12_000_000), codel_target_us(1_000_000)
    (5000, 18168)
    """
    return max(CODEL_TARGET_US, 12_000_000 * FRAME_BYTES // down_bps)


OURS = "ours: no published distribution of queues by their share of lines is at hand"

QUEUES: tuple[QueueDepth, ...] = (
    QueueDepth(id="quarter-bdp", bdp=0.25, weight=0.15, source=f"{OURS}; a shallow buffer"),
    QueueDepth(id="bdp", bdp=1, weight=0.25, source=f"{OURS}; the rule of thumb"),
    QueueDepth(id="100ms", ms=100, weight=0.25, source=f"{OURS}; a home router"),
    QueueDepth(id="300ms", ms=300, weight=0.25, source=f"{OURS}; a deep home router or a radio link"),
    QueueDepth(id="1000ms", ms=1000, weight=0.10, source=f"{OURS}; bufferbloat"),
)


def queue_at(share: float) -> QueueDepth:
    """The queue at a cumulative share of the weights, from the shallowest.

    >>> queue_at(0.2).id, queue_at(0.95).id
    ('bdp', '1000ms')
    """
    for queue in QUEUES:
        share -= queue.weight
        if share < 0:
            return queue
    return QUEUES[-1]

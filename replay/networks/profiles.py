"""Network profiles, and populations: weighted sets of profiles."""

import re
from dataclasses import dataclass
from typing import Literal

from releases.slow_start import FRAME_OVERHEAD, MSS_TIMESTAMPS

QUEUE_BYTES = 65_536
"""Default queue of the bottleneck: of the harm conditions' queues the nearest to home routers of 2010. Two
connections at IW 30 overflow it, and a page opens dozens. Our choice: the 2010 paper has no figure.
"""

FRAME_BYTES = MSS_TIMESTAMPS + FRAME_OVERHEAD
"""Ethernet frame of a full segment, which the bottleneck's shaper counts."""


Discipline = Literal["tail-drop", "fq_codel", "cake"]

DISCIPLINES: tuple[Discipline, ...] = ("tail-drop", "fq_codel", "cake")
"""Queueing disciplines of a bottleneck: one queue in bytes that drops what does not fit;
FQ-CoDel (RFC 8290); CAKE."""


NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)


def check_losses(share: float, burst: float) -> None:
    """Raise ValueError for losses of all packets, or of runs too short for so many."""
    if not (0 <= share < 1 and burst >= 1):
        raise ValueError(
            f"a loss is a share from 0 to below 1, in runs of 1 packet or more, not {share:g}x{burst:g}"
        )
    if burst > 1 and share > burst / (1 + burst):
        raise ValueError(
            f"with runs of {burst:g} packets at most {burst / (1 + burst):.3g} can be lost, not {share:g}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """One network: rates, delay, queue and loss."""

    # Stable: written into every cell, so a rename breaks past reports.
    id: str
    version: int = 1
    down_bps: int
    """Downlink rate of the bottleneck."""
    up_bps: int
    rtt_us: int
    """Round-trip time of the idle network, without serialisation."""
    queue_bytes: int
    """Downlink queue; without effect under other disciplines than tail drop."""
    source: str
    loss: float = 0.0
    """Share lost at random in each direction, beside the queue's drops."""
    loss_burst: float = 1.0
    """Mean number of packets lost together; 1: independent losses."""
    discipline: Discipline = "tail-drop"
    queue_place: float | None = None
    """Cumulative share of the line among the published queues of its rate; None: its queue is its own
    (`queues`).
    """
    country: str | None = None
    """ISO 3166-1 alpha-2; None: unknown, or no country's."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.id):
            raise ValueError(
                f"the id of a network has up to 64 letters, digits, dots and hyphens, not {self.id!r}"
            )
        if min(self.down_bps, self.up_bps, self.queue_bytes) < 1 or self.rtt_us < 0:
            raise ValueError(f"{self.id}: rates and queue must be above 0, and the round trip not below")
        if self.queue_place is not None and not 0 <= self.queue_place < 1:
            raise ValueError(f"{self.id}: the place of a queue is a share from 0 to below 1")
        check_losses(self.loss, self.loss_burst)

    @property
    def bdp_bytes(self) -> int:
        return self.down_bps * self.rtt_us // 8_000_000


def symmetric(
    id: str,  # noqa: A002  # the field's name
    *,
    bps: int,
    rtt_us: int,
    source: str,
    queue_bytes: int = QUEUE_BYTES,
    loss: float = 0.0,
) -> Profile:
    return Profile(
        id=id, down_bps=bps, up_bps=bps, rtt_us=rtt_us, queue_bytes=queue_bytes, source=source, loss=loss
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Population:
    """A weighted set of profiles."""

    # Stable, like the id of a profile.
    id: str
    version: int = 1
    weights: tuple[tuple[str, float], ...]
    """Profile ids and shares, which sum to 1."""
    slow: bool
    """True for slow networks, which have their own margins."""
    measured: str
    """Year, or month as YYYY-MM."""
    source: str
    checksum: str | None = None
    """SHA-256 of the file; None for a built-in one."""
    is_stored: bool = False
    """True if `firstflight population list` has it."""


MOST_MONTHS = 24
"""Most months by which lines may be older than the pages."""


def is_stale(measured: str, month: str) -> bool:
    """Return whether what a month or year (its January) measured is too old for pages of `month`.

    >>> is_stale("2024-11", "2026-11"), is_stale("2024-10", "2026-11"), is_stale("2010", "2026-11")
    (False, True, True)
    """
    (year, at), (since, then) = ((int(text[:4]), int(text[5:7] or 1)) for text in (month, measured))
    return 12 * (year - since) + at - then > MOST_MONTHS

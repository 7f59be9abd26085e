"""What a network and a population of networks are."""

from __future__ import annotations

from dataclasses import dataclass

QUEUE_BYTES = 65_536
"""64 kB, the queue of the harm set that home routers of the time come nearest to: two
connections at IW 30 overflow it, and a page opens dozens. Ours: the paper has no figure for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """One network: its bottleneck, its delay, its queue."""

    # Stable: written into every cell, so a rename breaks past reports.
    id: str
    version: int
    down_bps: int
    """Rate of the bottleneck towards the client."""
    up_bps: int
    """Rate from the client."""
    rtt_us: int
    """Round trip of an idle network, without serialisation."""
    queue_bytes: int
    """Of the bottleneck, towards the client."""
    source: str
    loss: float = 0.0
    """Share of packets lost on the way, each way, whatever the queue does."""
    loss_burst: float = 1.0
    """Packets that are lost together, in the mean; 1: each by itself."""

    @property
    def bdp_bytes(self) -> int:
        """Bandwidth times delay: what is on its way when the bottleneck is just busy."""
        return self.down_bps * self.rtt_us // 8_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Population:
    """A weighted set of profiles."""

    # Stable, like a profile's.
    id: str
    version: int
    weights: tuple[tuple[str, float], ...]
    """Profile and its share; the shares sum to 1."""
    slow: bool
    """Whether it stands for the slow networks, which have margins of their own."""
    measured: str
    """The year, or the month as YYYY-MM: a recommendation asks for no older than 24 months."""
    source: str

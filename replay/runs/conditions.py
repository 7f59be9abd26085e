"""Conditions: what may be varied of a load beside its network, its window and its seed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from replay.lab.kernel import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from replay.networks.profiles import Profile

BACKGROUND_IW = 10
"""Today's window (RFC 6928), and the player's for the background: every guest has a route for it."""

CONGESTION_CONTROLS = (
    "reno",
    *(
        name.lower()
        for name in re.findall(r"^CONFIG_TCP_CONG_(\w+)=y$", CONFIG.read_text(encoding="utf-8"), re.MULTILINE)
        if name != "ADVANCED"
    ),
)
"""Those of the guest's kernel: Reno is in every one."""

SERVER_DELAY = ("none", "recorded")
"""Whether servers think, in words."""

CACHE = ("cold", "warm")
"""Whether the cache is warm, in words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """Packets that are lost on the way, each way, whatever the queue does."""

    share: float
    burst: float = 1.0
    """Packets that are lost together, in the mean, in runs of geometric length; 1: each by itself."""

    def __str__(self) -> str:
        """As it is given on the command line."""
        return f"{self.share:g}x{self.burst:g}" if self.burst > 1 else f"{self.share:g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Competition:
    """Downloads without end that share the bottleneck with the page: they begin with the background, before it."""

    flows: int
    congestion_control: str
    iw: int

    def __str__(self) -> str:
        """As it is given on the command line."""
        return f"{self.flows}x{self.congestion_control}@{self.iw}"


PACKET_BYTES = 1514
"""A full segment on the wire."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """The bottleneck's, in place of the network's own."""

    bdp: float | None = None
    """As so many bandwidth-delay products of the network, two packets at least; None: `bytes` says it."""
    bytes: int = 0

    def of(self, profile: Profile) -> int:
        """In bytes."""
        return self.bytes if self.bdp is None else max(round(self.bdp * profile.bdp_bytes), 2 * PACKET_BYTES)

    def __str__(self) -> str:
        """As it stands in a cell's row."""
        return f"{self.bytes}B" if self.bdp is None else f"{self.bdp:g}BDP"


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Who else is at the bottleneck, in place of the ordinary background, and what of them is measured."""

    load: float = 0.0
    """Share of the bottleneck that other people's short flows ask for; their times are measured."""
    everyone: bool = False
    """Whether they begin at the cell's own window, rather than at today's."""
    probe: bool = False
    """Whether a datagram of 8 bytes every 20 ms is measured; it is no neighbour of short flows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditions:
    """One arm of a replay; as it stands here, the arm that the recommendation rests on."""

    congestion_control: str = "cubic"
    """Of the page's servers: Linux's default, and so what most servers run."""
    pacing: bool = False
    """Whether the page's servers pace what they send."""
    loss: Loss | None = None
    """In place of the network's own; None: its own."""
    competition: Competition | None = None
    server_delay: bool = False
    """Whether servers think before they answer, as long as the crawl recorded."""
    warm_cache: bool = False
    """Whether it is a second visit, with a cache that the first one filled."""
    queue: Queue | None = None
    """In place of the network's own; None: its own."""
    neighbours: Neighbours | None = None
    """In place of the ordinary background; None: that."""

    @property
    def id(self) -> str:
        """Unique among conditions; part of a cell's id."""
        pacing = "paced" if self.pacing else "bursts"
        return (
            f"{self.congestion_control}.{pacing}.{self.loss or 'own'}.{self.competition or 'alone'}"
            f".{SERVER_DELAY[self.server_delay]}.{CACHE[self.warm_cache]}{self._others}"
        )

    @property
    def _others(self) -> str:
        found = f".{self.queue}" if self.queue else ""
        if self.neighbours:
            who = "everyone" if self.neighbours.everyone else "today"
            found += f".{self.neighbours.load:g}.{who}{'.probe' if self.neighbours.probe else ''}"
        return found

    def network(self, profile: Profile) -> Profile:
        """The profile with the queue that it has here."""
        return replace(profile, queue_bytes=self.queue.of(profile)) if self.queue else profile

    def columns(self) -> dict[str, Any]:
        """Their part of a cell's row."""
        return {
            "congestion_control": self.congestion_control,
            "pacing": self.pacing,
            "loss": self.loss and self.loss.share,
            "loss_burst": self.loss and self.loss.burst,
            "competition": self.competition and str(self.competition),
            "think": SERVER_DELAY[self.server_delay],
            "cache": CACHE[self.warm_cache],
            "queue": self.queue and str(self.queue),
            "background_load": self.neighbours and self.neighbours.load,
            "everyone": self.neighbours and self.neighbours.everyone,
            "probe": self.neighbours and self.neighbours.probe,
        }

    def commands(self, profile: Profile, iw: int) -> Iterator[str]:
        """At a cell's window, as the player takes them; each stays in force until the next of its kind."""
        yield f"control {self.congestion_control}"
        yield f"pacing {'on' if self.pacing else 'off'}"
        loss = self.loss or Loss(share=profile.loss, burst=profile.loss_burst)
        yield f"loss {loss.share:.9f} {loss.burst:.3f}"
        competing = self.competition or Competition(flows=0, congestion_control="cubic", iw=10)
        yield f"thinking {'on' if self.server_delay else 'off'}"
        yield f"rivals {competing.flows} {competing.iw} {competing.congestion_control}"
        neighbours = self.neighbours or Neighbours()
        yield f"background {iw if neighbours.everyone else BACKGROUND_IW}"
        yield f"probe {'on' if neighbours.probe else 'off'}"
        yield f"short-flows {'on' if neighbours.load else 'off'}"

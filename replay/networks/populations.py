"""Network profiles, and populations of them, as data: each with an id that outlives the code, and a source.

The 2010 paper's come from its figure, others' published figures from networks.toml; a population can also be
imported (`replay.networks.population_csv`).
"""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

from replay.networks.copula import PAPER_POPULATIONS, PAPER_PROFILES
from replay.networks.profiles import QUEUE_BYTES, Population, Profile

NETWORKS = Path(__file__).with_name("networks.toml")

LONG_RTT = (
    "ours: LinkedIn Engineering, The TCP Tortoise: Optimizations for Emerging Markets (2016) tells of users in India "
    "and prints no network"
)
LONG_RTTS_MS, LONG_RTT_MBPS = (150, 250, 350), (1, 4, 16)


def published() -> tuple[Profile, ...]:
    """Those of networks.toml."""
    told = tomllib.loads(NETWORKS.read_text(encoding="utf-8"))
    return tuple(
        Profile(
            id=one["id"],
            version=one["version"],
            down_bps=one["down_bps"],
            up_bps=one["up_bps"],
            rtt_us=round(1000 * one["rtt_ms"]),
            queue_bytes=one.get("queue_bytes", QUEUE_BYTES),
            source=told["source"][one["source"]],
            loss=one.get("loss", 0.0),
        )
        for one in told["profile"]
    )


def long_rtt(rtt_ms: int, mbps: int, loss: float) -> Profile:
    """A network of emerging markets."""
    return Profile(
        id=f"emerging-{rtt_ms}ms-{mbps}mbps-{loss:g}",
        version=1,
        down_bps=mbps * 1_000_000,
        up_bps=mbps * 1_000_000,
        rtt_us=rtt_ms * 1000,
        queue_bytes=QUEUE_BYTES,
        source=LONG_RTT,
        loss=loss,
    )


EMERGING = tuple(
    long_rtt(rtt_ms, mbps, 0.005) for rtt_ms, mbps in itertools.product(LONG_RTTS_MS, LONG_RTT_MBPS)
)

PROFILES: tuple[Profile, ...] = (*PAPER_PROFILES, *published(), *EMERGING)


def alike(id: str, measured: str, source: str) -> Population:  # noqa: A002  # the field's name
    """A population of all profiles whose ids begin as its own does; each weighs the same, which is ours."""
    names = [one.id for one in PROFILES if one.id.startswith(id.split("-")[0])]
    return Population(
        id=id,
        version=1,
        weights=tuple((name, 1 / len(names)) for name in names),
        slow=False,
        measured=measured,
        source=f"{source}; equal weights are ours",
    )


POPULATIONS: tuple[Population, ...] = (
    *PAPER_POPULATIONS,
    alike("baidu-2018", "2018", "Q. Zhang et al., Early Experiences with Baidu (2018), its four cases"),
    alike("emerging-2016", "2016", LONG_RTT),
)

DECIDING: tuple[Population, ...] = PAPER_POPULATIONS
"""What a recommendation rests on where no population is imported: one for the average, one for the slow."""


def profile(id: str) -> Profile:  # noqa: A002  # the field's name
    """The profile of this id; KeyError if there is none."""
    return {one.id: one for one in PROFILES}[id]


def profiles_of(populations: tuple[Population, ...]) -> tuple[Profile, ...]:
    """All that they name, in their order."""
    return tuple(
        profile(name) for name in dict.fromkeys(name for one in populations for name, _ in one.weights)
    )

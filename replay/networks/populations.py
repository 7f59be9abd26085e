"""All built-in network profiles, each with a permanent id and a source.

Those of the 2010 paper are derived from its Figure 3 (`copula`), others from published figures
(networks.toml). `population_csv` reads further populations from files.
"""

import itertools
import tomllib
from pathlib import Path

from replay.networks.copula import PAPER_PROFILES
from replay.networks.profiles import QUEUE_BYTES, Profile, symmetric

NETWORKS = Path(__file__).with_name("networks.toml")

LONG_RTT = (
    "ours: LinkedIn Engineering, The TCP Tortoise: Optimizations for Emerging Markets (2016) tells of users "
    "in India and prints no network"
)
LONG_RTTS_MS, LONG_RTT_MBPS = (150, 250, 350), (1, 4, 16)


def read_published() -> tuple[Profile, ...]:
    tables = tomllib.loads(NETWORKS.read_text(encoding="utf-8"))
    return tuple(
        Profile(
            id=row["id"],
            version=row["version"],
            down_bps=row["down_bps"],
            up_bps=row["up_bps"],
            rtt_us=round(1000 * row["rtt_ms"]),
            queue_bytes=row.get("queue_bytes", QUEUE_BYTES),
            source=tables["source"][row["source"]],
            loss=row.get("loss", 0.0),
        )
        for row in tables["profile"]
    )


def long_rtt(rtt_ms: int, mbps: int, loss: float) -> Profile:
    name = f"emerging-{rtt_ms}ms-{mbps}mbps-{loss:g}"
    return symmetric(name, bps=mbps * 1_000_000, rtt_us=rtt_ms * 1000, source=LONG_RTT, loss=loss)


EMERGING = tuple(
    long_rtt(rtt_ms, mbps, 0.005) for rtt_ms, mbps in itertools.product(LONG_RTTS_MS, LONG_RTT_MBPS)
)

PROFILES: tuple[Profile, ...] = (*PAPER_PROFILES, *read_published(), *EMERGING)


def profile(id: str) -> Profile:  # noqa: A002  # the field's name
    """Return the profile with this id; KeyError if there is none."""
    return {profile.id: profile for profile in PROFILES}[id]

"""All built-in network profiles and populations, each with a permanent id and a source.

Those of the 2010 paper are derived from its Figure 3 (`copula`), others from published figures
(networks.toml). `population_csv` reads further populations from files.
"""

import itertools
import tomllib
from pathlib import Path

from replay.networks.copula import PAPER_POPULATIONS, PAPER_PROFILES
from replay.networks.profiles import QUEUE_BYTES, Population, Profile, symmetric

NETWORKS = Path(__file__).with_name("networks.toml")

LONG_RTT = (
    "ours: LinkedIn Engineering, The TCP Tortoise: Optimizations for Emerging Markets (2016) tells of users "
    "in India and prints no network"
)
LONG_RTTS_MS, LONG_RTT_MBPS = (150, 250, 350), (1, 4, 16)


def read_published() -> tuple[Profile, ...]:
    """Return the profiles of networks.toml."""
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
    """Return a network with a long round trip, as in emerging markets."""
    name = f"emerging-{rtt_ms}ms-{mbps}mbps-{loss:g}"
    return symmetric(name, bps=mbps * 1_000_000, rtt_us=rtt_ms * 1000, source=LONG_RTT, loss=loss)


EMERGING = tuple(
    long_rtt(rtt_ms, mbps, 0.005) for rtt_ms, mbps in itertools.product(LONG_RTTS_MS, LONG_RTT_MBPS)
)

PROFILES: tuple[Profile, ...] = (*PAPER_PROFILES, *read_published(), *EMERGING)


def equal_population(id: str, measured: str, source: str) -> Population:  # noqa: A002  # the field's name
    """Return a population of all profiles whose ids share its first word. Equal weights are our choice."""
    names = [profile.id for profile in PROFILES if profile.id.startswith(id.split("-")[0])]
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
    equal_population(
        "baidu-2018", "2018", "Q. Zhang et al., Early Experiences with Baidu (2018), its four cases"
    ),
    equal_population("emerging-2016", "2016", LONG_RTT),
)


def profile(id: str) -> Profile:  # noqa: A002  # the field's name
    """Return the profile with this id; KeyError if there is none."""
    return {profile.id: profile for profile in PROFILES}[id]

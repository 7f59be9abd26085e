"""The networks that the lab offers: a few that stand for the bundled population of today's networks."""

import dataclasses
import functools
from collections.abc import Sequence

from releases.formatting import NARROW, number, size
from replay.networks.profiles import Profile
from replay.networks.representatives import choose_representatives, slowness_ms
from replay.networks.stored_populations import BUNDLED, CURRENT, facts_of, find_population

OFFERED = 6

MOST_CHOSEN = 3


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OfferedNetwork:
    """A network on the list."""

    profile: Profile
    share: float

    @property
    def label(self) -> str:
        profile = self.profile
        down, up = (f"{number(bps / 1e6)}{NARROW}Mbps" for bps in (profile.down_bps, profile.up_bps))
        loss = f", {profile.loss:.2%} lost at random".replace("%", f"{NARROW}%") if profile.loss else ""
        round_trip = f"{number(profile.rtt_us / 1e3, 0)}{NARROW}ms"
        return f"{down} down, {up} up, {round_trip}, a queue of {size(profile.queue_bytes)}{loss}"


@functools.cache
def offered_networks() -> tuple[OfferedNetwork, ...]:
    chosen = choose_representatives(find_population(BUNDLED, CURRENT), OFFERED)
    shares = dict(chosen.populations[0].weights)
    ordered = sorted(chosen.profiles, key=slowness_ms)
    return tuple(OfferedNetwork(profile=profile, share=shares[profile.id]) for profile in ordered)


def measured() -> str:
    """Month of the population, as YYYY-MM."""
    return facts_of(BUNDLED, CURRENT).measured


def usual_network() -> str:
    return offered_networks()[OFFERED // 2].profile.id


def choose(ids: Sequence[str]) -> tuple[OfferedNetwork, ...]:
    """The networks, the fastest first; ValueError unless they are one to three of the list."""
    wanted = set(ids)
    networks = tuple(network for network in offered_networks() if network.profile.id in wanted)
    if len(networks) != len(wanted) or not 1 <= len(networks) <= MOST_CHOSEN:
        raise ValueError(f"choose one to {MOST_CHOSEN} networks of the list")
    return networks

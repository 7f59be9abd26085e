"""Evidence: draws of a page over a network, with what a load of each at every window measured."""

import collections
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.networks.profiles import Population
from replay.runs.conditions import Conditions
from replay.runs.policy import Policy
from verdict.student import Floats, Integers, Mask

COLUMNS = (
    "page_ms",
    "document_ms",
    "first_byte_ms",
    "response_latency_ms",
    "payload_bytes",
    "bytes_retransmitted",
    "bytes_dropped",
    "bytes_spurious",
    "responses",
    "responses_own_retransmitted",
    "connections",
    "connections_initial_loss",
    "short_flow_ms",
    "handshake_max_ms",
)

CELL_COLUMNS = ("visit_id", "profile", "policy", "route", "seed", "state", *COLUMNS)


class EvidenceError(Exception):
    """Loads contradict each other, or are of networks that are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network with the share of the population that it stands for."""

    id: str
    stratum: int = 0
    """The stratum that it was drawn from."""
    share: float = 1.0
    weight: float = 1.0
    """Among the stratum's networks, divided among its draws."""
    slow_share: float = 0.0
    """Share of the stratum in the slowest tenth."""
    rtt_ms: float = float("nan")
    down_bps: float = float("nan")


def weighted_networks(populations: Sequence[Population]) -> tuple[Network, ...]:
    """Return the weighted networks of a population that was not drawn anew.

    The slowest tenth is a population of its own.
    """
    average = next(population for population in populations if not population.slow)
    slow = dict(next((population.weights for population in populations if population.slow), ()))
    return tuple(
        Network(id=name, weight=weight, slow_share=float(slow.get(name, 0.0) > 0))
        for name, weight in average.weights
        if weight > 0
    )


Load = Mapping[str, Floats]
"""Loads at one window, an array along the draws for each column; NaN where unknown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Draws in the order of page, network and seed; arrays run along them."""

    networks: tuple[Network, ...]
    visits: Integers
    places: Integers
    """Each draw's place in `networks`."""
    windows: tuple[Policy, ...]
    values: Mapping[str, Floats]
    """[draw, window] by column; NaN where a load is missing or failed."""
    again: Mapping[str, Floats]
    """[draw] by column: the incumbent by another route in other guests."""
    states: Mapping[str, int]
    sites: Integers | None = None
    """Site of each draw's page; None where every page is one."""

    def __len__(self) -> int:
        return len(self.visits)

    def at(self, window: Policy) -> Load:
        """Return the loads at a window; unknown if it was not loaded."""
        if window not in self.windows:
            return dict.fromkeys(COLUMNS, np.full(len(self), np.nan))
        place = self.windows.index(window)
        return {name: self.values[name][:, place] for name in COLUMNS}

    def touched(self, policy: Policy, *, incumbent: Policy) -> Mask:
        """Return the draws with a connection that the policy is for, by the incumbent's handshakes; false
        where unknown.
        """
        longest_ms = self.at(incumbent)["handshake_max_ms"]
        return np.isfinite(longest_ms) & (longest_ms > (policy.beyond_ms or 0))

    @functools.cached_property
    def pages(self) -> Integers:
        return np.unique(self.visits, return_inverse=True)[1].astype(np.intp)

    @property
    def clusters(self) -> Integers:
        """Site of each draw's page."""
        return self.pages if self.sites is None else self.sites

    @functools.cached_property
    def frame(self) -> Mapping[str, Floats]:
        return {
            field.name: np.array([getattr(network, field.name) for network in self.networks], float)
            for field in fields(Network)
            if field.name != "id"
        }

    @functools.cached_property
    def strata(self) -> Integers:
        return np.unique(self.frame["stratum"], return_inverse=True)[1].astype(np.intp)

    def of_network(self, name: str) -> Floats:
        return self.frame[name][self.places]

    def where(self, mask: Mask) -> "Evidence":
        return replace(
            self,
            visits=self.visits[mask],
            places=self.places[mask],
            values={name: array[mask] for name, array in self.values.items()},
            again={name: array[mask] for name, array in self.again.items()},
            sites=None if self.sites is None else self.sites[mask],
        )


def select_draws(evidence: Evidence, mask: Mask) -> Evidence:
    """Return the draws under a mask; each stratum counts by its part in it."""
    stratum = evidence.of_network("stratum").astype(np.intp)
    most = int(stratum.max(initial=0)) + 1
    part = np.bincount(stratum[mask], minlength=most) / np.maximum(np.bincount(stratum, minlength=most), 1)
    networks = tuple(
        replace(
            network, share=network.share * float(part[network.stratum]) if network.stratum < most else 0.0
        )
        for network in evidence.networks
    )
    return replace(evidence, networks=networks).where(mask)


def share_of_draws(evidence: Evidence, mask: Mask) -> float:
    """Return the share of the population that the draws stand for."""
    inside = select_draws(evidence, mask)
    shares = {network.stratum: network.share for network in inside.networks}
    return float(sum(shares.values()))


def select_conditions(loads: pa.Table, conditions: Conditions) -> pa.Table:
    for name, value in conditions.columns().items():
        if name != "route":
            loads = loads.filter(pc.field(name).is_null() if value is None else pc.field(name) == value)
    return loads


def read_evidence(
    loads: pa.Table,
    networks: Iterable[Network],
    *,
    incumbent: Policy,
    conditions: Conditions | None = None,
    sites: Mapping[int, int] | None = None,
) -> Evidence:
    """Return the evidence of loads (schema.computed_tables.CELL) under `conditions`; EvidenceError if one
    occurs twice.
    """
    selected = select_conditions(loads, conditions or Conditions())
    return evidence_of(selected, networks, incumbent=incumbent, sites=sites)


def evidence_of(
    loads: pa.Table,
    networks: Iterable[Network],
    *,
    incumbent: Policy,
    sites: Mapping[int, int] | None = None,
) -> Evidence:
    """Return the evidence of loads under the same conditions, over these networks."""
    frame = tuple(sorted(networks, key=lambda network: network.id))
    loads = loads.filter(pc.field("profile").isin(pa.array([network.id for network in frame], pa.string())))
    place_of = {network.id: place for place, network in enumerate(frame)}
    names = loads["profile"].combine_chunks().dictionary_encode()
    codes = np.array([place_of[name] for name in names.dictionary.to_pylist()], np.intp)
    places = codes[names.indices.to_numpy()] if len(loads) else np.zeros(0, np.intp)
    visits, seeds = (loads[name].to_numpy().astype(np.intp) for name in ("visit_id", "seed"))
    texts = loads["policy"].combine_chunks().dictionary_encode()
    policies = [Policy.parse(text) for text in texts.dictionary.to_pylist()]
    kinds = texts.indices.to_numpy() if len(loads) else np.zeros(0, np.intp)
    is_again = np.asarray(pc.equal(loads["route"], "alias").to_numpy(), np.bool_)
    keys, draws = np.unique(np.column_stack([visits, places, seeds]), axis=0, return_inverse=True)
    draws = draws.reshape(-1)
    windows = sorted({incumbent, *(policies[kind] for kind in np.unique(kinds[~is_again]))})
    places_of = np.array([windows.index(policy) if policy in windows else -1 for policy in policies], np.intp)
    column = np.where(is_again, len(windows), places_of[kinds])
    is_used = ~is_again | (places_of[kinds] == windows.index(incumbent))
    counted = collections.Counter(zip(draws[is_used].tolist(), column[is_used].tolist(), strict=True))
    if counted and max(counted.values()) > 1:
        (draw, _), _ = counted.most_common(1)[0]
        visit, place, seed = keys[draw].tolist()
        raise EvidenceError(f"a load of visit {visit} over {frame[place].id} with seed {seed} occurs twice")
    is_done = np.asarray(pc.equal(loads["state"], "done").to_numpy(), np.bool_) & is_used
    whole = {name: np.full((len(keys), len(windows) + 1), np.nan) for name in COLUMNS}
    for name, array in whole.items():
        array[draws[is_done], column[is_done]] = loads[name].cast(pa.float64()).to_numpy()[is_done]
    return Evidence(
        networks=frame,
        visits=keys[:, 0].copy(),
        places=keys[:, 1].copy(),
        windows=tuple(windows),
        values={name: array[:, :-1] for name, array in whole.items()},
        again={name: array[:, -1] for name, array in whole.items()},
        states=dict(sorted(collections.Counter(loads["state"].to_pylist()).items())),
        sites=None if sites is None else np.array([sites[visit] for visit in keys[:, 0].tolist()], np.intp),
    )

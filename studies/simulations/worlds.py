"""Worlds: true effects of every policy, near by and far away, and the noise that sites, networks and pairs
add."""

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from replay.runs.policy import PACED, SPREAD, Policy
from verdict.evidence import COLUMNS, Evidence, Network
from verdict.rule import INCUMBENT
from verdict.sampling import StagePlan, page_order
from verdict.student import Floats, Integers

PAIRS = Path(__file__).with_name("pairs.csv")
"""4,000 of the edition's pairs of loads at ten segments and at 16 paced: page time, payload and what of it
was sent again at ten, and what 16 paced changes; far are loads whose main document is more than 100 ms
away."""

OF_SITES = (0.0096, 0.31)
"""Standard deviation between sites, of logarithms of time and of percentage points, over the first edition's
loads."""

OF_NETWORKS = (0.0164, 1.08)
"""The same between networks, not within strata: more than drawn networks differ."""

PAGES, STRATA = 591, 64

NEAR_RESENT_PP = 0.345
"""Payload that IW 16 paced sends more again near by: the noise of a world grows with its own."""

PROFILE: dict[Policy, tuple[float, float]] = {
    Policy(3): (-1.1, -1.0),
    Policy(6): (-0.9, -0.8),
    Policy(10, PACED): (0.1, -0.3),
    Policy(16, PACED): (1.0, 1.0),
    Policy(16): (0.67, 1.6),
    Policy(20, PACED): (1.19, 1.8),
    Policy(20, SPREAD): (1.15, 1.5),
    Policy(30): (0.9, 5.0),
    Policy(32, PACED): (1.2, 4.7),
    Policy(32, SPREAD): (1.25, 3.5),
    Policy(44, PACED): (1.6, 6.8),
}
"""What each policy for all saves and sends again, in parts of what 16 paced does, about as in those loads."""

FAR_MS = 100

LEVEL = 0.05
"""Share of its payload that the incumbent sends again in a load of which none was: shares stay above zero."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Pairs of loads, [pair]."""

    page_ms: Floats
    payload: Floats
    is_far: Floats
    """1 where the main document of the pair's page is far away, else 0."""
    residuals: Floats
    """[pair, 2]: logarithm of time and percentage points, around the mean of the near or of the far."""


@functools.cache
def pool() -> Pool:
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    column = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    residuals = np.column_stack([column["log_time"], column["resent_pp"]])
    for far in (0.0, 1.0):
        of = column["is_far"] == far
        residuals[of] -= residuals[of].mean(axis=0)
    return Pool(
        page_ms=column["page_ms"],
        payload=1e3 * column["payload_kb"],
        is_far=column["is_far"],
        residuals=residuals,
    )


@dataclass(frozen=True, slots=True)
class World:
    """True effects of 16 paced over the loads near by and far away; the other policies follow."""

    id: str
    near: tuple[float, float]
    """Page time saved in per cent (of the geometric mean) and payload sent again in percentage points."""
    far: tuple[float, float]
    input_error: float = 0.0
    """Standard deviation of the logarithm of what is sent again, by error of the inputs: drawn once a replay,
    as queues between low and high."""

    def effects(self, policy: Policy, is_far: Floats) -> Floats:
        """Return the change of the logarithm of time, and percentage points sent again, of loads: [load,
        2]."""
        gain, resent = PROFILE[Policy(policy.window, policy.sending)]
        near, far = (
            np.array([np.log1p(-gain * side[0] / 100), resent * side[1]]) for side in (self.near, self.far)
        )
        if policy.beyond_ms is not None:
            near = np.zeros(2)
        effects: Floats = np.where(is_far[:, np.newaxis] > 0, far, near)
        return effects

    def noise(self, policy: Policy, is_far: Floats) -> Floats:
        """Return how much a load's noise counts in both effects, [load, 2]; none where the policy changes
        nothing."""
        _, resent = PROFILE[Policy(policy.window, policy.sending)]
        scale = max(0.2, abs(self.near[1]) / NEAR_RESENT_PP) * max(0.5, abs(resent))
        is_touched = is_far > 0 if policy.beyond_ms is not None else np.ones(len(is_far), np.bool_)
        return np.where(is_touched[:, np.newaxis], np.array([1.0, scale]), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a policy does in a world: gains in per cent, payload sent again in percentage points."""

    gain: float
    resent: float
    gain_in_sum: float
    resent_in_sum: float
    gain_touched: float


@functools.cache
def truth(world: World, policy: Policy) -> Truth:
    """Return the true effects of a policy, from two hundred thousand loads with noise around them; the exact
    effects per load."""
    rng, known = np.random.default_rng(11), pool()
    at = rng.integers(len(known.page_ms), size=200_000)
    is_far, page_ms, payload = known.is_far[at], known.page_ms[at], known.payload[at]
    effects, weight = world.effects(policy, is_far), world.noise(policy, is_far)
    own = known.residuals[at], _alike(rng, at)
    drawn = rng.standard_normal((len(at), 2)) * OF_SITES + rng.standard_normal((len(at), 2)) * OF_NETWORKS
    changes = effects + weight * (np.sqrt(0.5) * (own[0] + own[1]) + drawn)
    touched = is_far > 0 if policy.beyond_ms is not None else np.ones(len(at), np.bool_)
    shares = world.effects(policy, known.is_far)
    return Truth(
        gain=-100 * float(np.expm1(shares[:, 0].mean())),
        resent=float(shares[:, 1].mean()),
        gain_in_sum=100 * (1 - float((page_ms * np.exp(changes[:, 0])).sum() / page_ms.sum())),
        resent_in_sum=float((payload * changes[:, 1]).sum() / payload.sum()),
        gain_touched=-100 * float(np.expm1(effects[touched, 0].mean())),
    )


def _alike(rng: np.random.Generator, at: Integers) -> Floats:
    """Return residuals of other pairs, near ones for near ones and far ones for far ones."""
    known = pool()
    residuals = np.empty((len(at), 2))
    for far in (0.0, 1.0):
        of = known.is_far[at] == far
        places = np.flatnonzero(known.is_far == far)
        residuals[of] = known.residuals[rng.choice(places, int(of.sum()))]
    return residuals


class Replay:
    """Loads of one replay of a world: its networks, pages and draws so far."""

    def __init__(self, world: World, rng: np.random.Generator, policies: tuple[Policy, ...]) -> None:
        self.world = world
        self.rng = rng
        self.error = float(np.exp(world.input_error * rng.standard_normal()))
        self.of_sites = rng.standard_normal((PAGES, 2)) * OF_SITES
        self.strata = np.zeros(0, np.intp)
        self.visits = np.zeros(0, np.intp)
        self.places = np.zeros(0, np.intp)
        self.windows = tuple(sorted({*policies, INCUMBENT}))
        self.drawn = np.zeros(0, np.intp)
        self.changes = np.zeros((0, len(self.windows), 2))
        self.again = np.zeros((0, 2))

    def load(self, plan: StagePlan) -> None:
        rng, known = self.rng, pool()
        strata = np.repeat(list(plan.networks), list(plan.networks.values()))
        first, size = len(self.strata), len(strata) * plan.pages
        order = page_order(PAGES, run=1, first=len(self.visits))
        visits = np.array([next(order)[0] for _ in range(size)], np.intp)
        places = first + np.repeat(np.arange(len(strata)), plan.pages)
        # Heavy tails: a few networks of shallow queues lose much more than others.
        of_networks = rng.standard_t(4, (len(strata), 2)) / np.sqrt(2) * OF_NETWORKS
        shared = self.of_sites[visits] + of_networks[places - first]
        at = rng.integers(len(known.page_ms), size=size)
        is_far = known.is_far[at]
        changes = np.full((size, len(self.windows), 2), np.nan)
        # Policies of one window and one sending share their noise where both apply.
        own = {kind: _alike(rng, at) for kind in sorted({(p.window, p.sending) for p in plan.windows})}
        for place, policy in enumerate(self.windows):
            if policy == INCUMBENT:
                changes[:, place] = 0
            elif policy in plan.windows:
                noise = shared + np.sqrt(0.5) * (known.residuals[at] + own[policy.window, policy.sending])
                effects = self.world.effects(policy, is_far) * [1.0, self.error]
                changes[:, place] = effects + self.world.noise(policy, is_far) * noise
        again = np.where(
            (rng.random(size) < plan.again)[:, np.newaxis],
            known.residuals[rng.integers(len(known.page_ms), size=size)],
            np.nan,
        )
        self.strata = np.append(self.strata, strata)
        self.visits, self.places = np.append(self.visits, visits), np.append(self.places, places)
        self.drawn = np.append(self.drawn, at)
        self.changes, self.again = np.vstack([self.changes, changes]), np.vstack([self.again, again])

    def evidence(self) -> Evidence:
        known = pool()
        page_ms, payload = known.page_ms[self.drawn], known.payload[self.drawn]
        blank = np.full(self.changes.shape[:2], np.nan)
        values = dict.fromkeys(COLUMNS, blank)
        values["page_ms"] = page_ms[:, np.newaxis] * np.exp(self.changes[:, :, 0])
        values["payload_bytes"] = np.where(np.isfinite(self.changes[:, :, 0]), payload[:, np.newaxis], np.nan)
        values["bytes_retransmitted"] = values["payload_bytes"] * (LEVEL + self.changes[:, :, 1] / 100)
        far = np.where(known.is_far[self.drawn] > 0, 2.0 * FAR_MS, 0.5 * FAR_MS)
        values["handshake_max_ms"] = np.broadcast_to(far[:, np.newaxis], blank.shape)
        again = dict.fromkeys(COLUMNS, np.full(len(self.visits), np.nan))
        again["page_ms"] = page_ms * np.exp(self.again[:, 0])
        again["payload_bytes"] = payload
        again["bytes_retransmitted"] = payload * (LEVEL + self.again[:, 1] / 100)
        return Evidence(
            networks=tuple(
                Network(id=str(at), stratum=int(stratum), share=1 / STRATA)
                for at, stratum in enumerate(self.strata)
            ),
            visits=self.visits,
            places=self.places,
            windows=self.windows,
            values=values,
            again=again,
            states={},
        )


WORLDS = (
    World("as in August 2025", (2.1, 0.345), (4.9, 0.07)),
    World("5 % for a fifth of the price", (5.0, 0.088), (5.0, 0.088)),
    World("far alone, for half the price", (0.5, 0.4), (5.0, 0.2)),
    World("far alone, at the price", (0.5, 0.4), (5.0, 0.44)),
    World("5 % at the price", (5.0, 0.44), (5.0, 0.44)),
    World("no effect", (0.0, 0.0), (0.0, 0.0)),
    World("5 % for twice the price", (5.0, 0.8), (5.0, 0.8)),
    World("just worthwhile", (1.0, 0.0), (1.0, 0.0)),
    World("5 % for half the price", (5.0, 0.2), (5.0, 0.2)),
    World("2 % for half the price", (2.0, 0.08), (2.0, 0.08)),
    World("5 % for half the price, input error", (5.0, 0.2), (5.0, 0.2), input_error=0.5),
)

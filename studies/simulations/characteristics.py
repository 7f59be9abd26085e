"""Operating characteristics of the rule: its answers in simulated worlds whose truth is known,
by its own code."""

import collections
import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from reports.recommendation.estimands import ESTIMANDS
from reports.recommendation.estimates import estimates_of
from reports.recommendation.recommend import decide
from reports.recommendation.rule import MARGINS, RULE, Role, Rule
from reports.statistics.bootstrap import Floats
from reports.statistics.paired_loads import PairedLoads
from studies.simulations.coverage import draw

PAGES, SEEDS = 600, 2
WINDOWS = (10, 16)
POPULATIONS: Mapping[Role, Mapping[str, float]] = {
    "average": {"fast": 0.7, "slow": 0.3},
    "slow": {"slow": 1.0},
}

PAGE_SD, SEED_SD = 0.05, 0.03
"""Spread of log ratios over pages, with tails of t of 3 degrees, and over seeds."""
LOST_SHARE, LOST_SD = 0.02, 0.02
"""Mean and spread of a page's share of payload sent again at the incumbent; gamma distributed."""

SIMULATED: Rule = dataclasses.replace(
    RULE,
    replicates=999,
    harm_conditions=(),
    asks_for_alias=False,
    margins=tuple(one for one in MARGINS if one.measure in ("retransmitted_bytes", "page_time_mean")),
)
"""The rule in ordinary cells: mean page time, and payload sent again,
which has a margin of a production mixture."""

LIMIT = next(one.limit for one in MARGINS if one.id == "retransmitted_bytes_average")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A truth about IW 16 against IW 10."""

    id: str
    gain_percent: float
    harm_pp: float
    """Share of payload that it sends again beyond the incumbent, in percentage points."""
    answer: int | None
    """The right answer: 16, or None for no change."""


WORLDS: tuple[World, ...] = (
    World(id="no effect", gain_percent=0, harm_pp=0, answer=None),
    World(id="gain of 2 %", gain_percent=2, harm_pp=0, answer=16),
    World(id="gain of 5 %", gain_percent=5, harm_pp=0, answer=16),
    World(id="gain of 10 %", gain_percent=10, harm_pp=0, answer=16),
    World(id="gain of 5 %, harm at half the bound", gain_percent=5, harm_pp=LIMIT / 2, answer=16),
    World(id="gain of 5 %, harm at the bound", gain_percent=5, harm_pp=LIMIT, answer=None),
    World(id="gain of 5 %, harm at 1.5 times the bound", gain_percent=5, harm_pp=1.5 * LIMIT, answer=None),
)


def verdict(world: World, repetition: int) -> str:
    """right, wrong or undecided: the rule's answer in one draw of the world."""
    loads = simulate(world, np.random.Generator(np.random.PCG64([WORLDS.index(world), repetition])))
    found = decide(estimates_of(loads, POPULATIONS, rule=SIMULATED), rule=SIMULATED)
    if not found.is_decided:
        return "undecided"
    return "right" if found.iw == world.answer else "wrong"


def simulate(world: World, rng: np.random.Generator) -> PairedLoads:
    """Finished loads of every page, network, window and seed."""
    profiles = tuple(POPULATIONS["average"])
    shape = (PAGES, len(profiles), len(WINDOWS), SEEDS)
    log_ms = np.empty(shape)
    log_ms[:] = (7 + rng.normal(scale=0.8, size=PAGES))[:, np.newaxis, np.newaxis, np.newaxis]
    log_ms += rng.normal(scale=SEED_SD / math.sqrt(2), size=shape)
    own = PAGE_SD * draw(rng, "t of 3 degrees", (PAGES,))
    log_ms[:, :, 1] += (math.log1p(-world.gain_percent / 100) + own)[:, np.newaxis, np.newaxis]
    payload = np.full(shape, 800_000.0)
    lost = payload * np.minimum(1, shares(world, rng))[:, np.newaxis, :, np.newaxis]
    return PairedLoads(
        congestion_control="cubic",
        pages=tuple(f"page{page}.test" for page in range(PAGES)),
        profiles=profiles,
        windows=WINDOWS,
        seeds=SEEDS,
        down_bps=np.full(len(profiles), 1e7),
        values={**{one.column: np.exp(log_ms) for one in ESTIMANDS}, "payload_bytes": payload, "bytes_retransmitted": lost, "bottleneck_drops": np.ones(shape)},  # noqa: E501
        states=collections.Counter(done=math.prod(shape)),
        missing=(),
    )  # fmt: skip


def shares(world: World, rng: np.random.Generator) -> Floats:
    """Share of payload that a page sends again, [page, window]:
    more at the candidate by the world's harm in the mean."""
    shape = (LOST_SHARE / LOST_SD) ** 2
    base = rng.gamma(shape, LOST_SHARE / shape, size=PAGES)
    noise = rng.normal(scale=0.002, size=PAGES)
    more = rng.gamma(1, world.harm_pp / 100, size=PAGES) if world.harm_pp else np.zeros(PAGES)
    found: Floats = np.maximum(np.stack([base, base + more + noise], axis=1), 0)
    return found


def run(world: World, begin: int, end: int) -> collections.Counter[str]:
    """Verdicts of the draws numbered `begin` to `end`."""
    return collections.Counter(verdict(world, repetition) for repetition in range(begin, end))

"""Worlds: true effects of every candidate, and the noise that pages, networks and pairs of them add."""

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from replay.runs.policy import PACED, Policy
from verdict.evidence import COLUMNS, Evidence, Network
from verdict.rule import RULE
from verdict.sampling import Plan, page_order
from verdict.student import Floats

RESIDUALS = Path(__file__).with_name("residuals.csv")
"""Pairs of IW 16 paced over 10 in 591 recorded pages over 64 networks, around the mean of each network."""

EDITION_RESENT_PP = 0.37
"""Payload that IW 16 paced sent more again in those loads: the noise of a world grows with its own."""

OF_PAGES = (0.0096, 0.31)
"""Standard deviation between pages, of logarithms of time and of percentage points, in those loads."""

OF_NETWORKS = (0.0164, 1.08)
"""The same between networks, not within strata: more than drawn networks differ."""

PAGES, STRATA = 591, 64

PROFILE: dict[Policy, tuple[float, float]] = {
    Policy(3): (-1.1, -1.0),
    Policy(6): (-0.9, -0.8),
    Policy(10, PACED): (0.1, -0.3),
    Policy(16, PACED): (1.0, 1.0),
    Policy(16): (0.67, 1.6),
    Policy(20, PACED): (1.19, 1.8),
    Policy(30): (0.9, 5.0),
    Policy(32, PACED): (1.2, 4.7),
    Policy(44, PACED): (1.6, 6.8),
}
"""What each candidate saves and sends again, in parts of what 16 paced does, about as in those loads."""


@functools.cache
def residuals() -> Floats:
    """Return the residuals of pairs: [pair, 2], logarithm of time and percentage points."""
    with RESIDUALS.open(encoding="utf-8", newline="") as file:
        rows = np.array([[float(row["log_time"]), float(row["resent_pp"])] for row in csv.DictReader(file)])
    centred: Floats = rows - rows.mean(axis=0)
    return centred


@dataclass(frozen=True, slots=True)
class World:
    """True effects of 16 paced; the other candidates follow."""

    id: str
    gain_percent: float
    resent_pp: float
    input_error: float = 0.0
    """Standard deviation of the logarithm of what is sent again, by error of the inputs: drawn once a replay,
    as queues between low and high."""

    def truth(self, window: Policy) -> tuple[float, float]:
        """Return the gain in per cent and payload sent again in percentage points."""
        gain, resent = PROFILE[window]
        return self.gain_percent * gain, self.resent_pp * resent

    def worth(self, window: Policy) -> bool:
        """Return whether a window is worth it in truth."""
        gain, resent = self.truth(window)
        return gain >= RULE.worthwhile_percent and (RULE.price_pp or 0) * gain >= resent


class Replay:
    """Loads of one replay of a world: its networks, pages and draws so far."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world = world
        self.rng = rng
        self.error = float(np.exp(world.input_error * rng.standard_normal()))
        self.scale = max(0.2, abs(world.resent_pp) / EDITION_RESENT_PP)
        self.of_pages = rng.standard_normal((PAGES, 2)) * OF_PAGES
        self.of_networks = np.zeros((0, 2))
        self.strata = np.zeros(0, np.intp)
        self.visits = np.zeros(0, np.intp)
        self.places = np.zeros(0, np.intp)
        self.windows = tuple(sorted({*PROFILE, RULE.incumbent}))
        self.changes = np.zeros((0, len(self.windows), 2))
        self.again = np.zeros((0, 2))

    def load(self, plan: Plan) -> None:
        """Add the draws of a stage."""
        rng = self.rng
        strata = np.repeat(list(plan.networks), list(plan.networks.values()))
        first, size = len(self.strata), len(strata) * plan.pages
        order = page_order(PAGES, run=1, first=len(self.visits))
        visits = np.array([next(order)[0] for _ in range(size)], np.intp)
        places = first + np.repeat(np.arange(len(strata)), plan.pages)
        # Heavy tails: a few networks of shallow queues lose much more than others.
        heavy = rng.standard_t(4, (len(strata), 2)) / np.sqrt(2)
        self.of_networks = np.vstack([self.of_networks, heavy * OF_NETWORKS])
        self.strata = np.append(self.strata, strata)
        shared = self.of_pages[visits] + self.of_networks[places]
        pool = residuals()
        common = pool[rng.integers(len(pool), size=size)]
        changes = np.full((size, len(self.windows), 2), np.nan)
        for at, window in enumerate(self.windows):
            if window == RULE.incumbent:
                changes[:, at] = 0
            elif window in plan.windows:
                own = pool[rng.integers(len(pool), size=size)]
                noise = shared + np.sqrt(0.5) * (common + own)
                gain, resent = self.world.truth(window)
                changes[:, at, 0] = np.log1p(-gain / 100) + noise[:, 0]
                changes[:, at, 1] = resent * self.error + noise[:, 1] * self.scale * max(
                    0.5, abs(PROFILE[window][1])
                )
        again = np.where(
            (rng.random(size) < plan.again)[:, np.newaxis], pool[rng.integers(len(pool), size=size)], np.nan
        )
        self.visits, self.places = np.append(self.visits, visits), np.append(self.places, places)
        self.changes, self.again = np.vstack([self.changes, changes]), np.vstack([self.again, again])

    def evidence(self) -> Evidence:
        """Return all loads so far."""
        blank = np.full(self.changes.shape[:2], np.nan)
        values = dict.fromkeys(COLUMNS, blank)
        values["page_ms"] = 1000 * np.exp(self.changes[:, :, 0])
        values["payload_bytes"] = np.ones_like(blank)
        values["bytes_retransmitted"] = 0.05 + self.changes[:, :, 1] / 100
        nothing = np.full(len(self.visits), np.nan)
        again = dict.fromkeys(COLUMNS, nothing)
        again["page_ms"] = 1000 * np.exp(self.again[:, 0])
        again["payload_bytes"] = np.ones_like(nothing)
        again["bytes_retransmitted"] = 0.05 + self.again[:, 1] / 100
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
    World("no effect", 0.0, 0.0),
    World("gain 5 %, half the price", 5.0, 0.5 * 0.077 * 5),
    World("gain 2 %, half the price", 2.0, 0.5 * 0.077 * 2),
    World("gain 5 %, twice the price", 5.0, 2 * 0.077 * 5),
    World("gain 2 %, twice the price", 2.0, 2 * 0.077 * 2),
    World("gain 5 %, at the price", 5.0, 0.077 * 5),
    World("gain just worthwhile", 1.0, 0.0),
    World("as in August 2025", 1.8, 0.37),
    World("gain 5 %, half the price, input error", 5.0, 0.5 * 0.077 * 5, input_error=0.5),
)

"""Made-up loads: page times and payload sent again with known effects, over drawn networks and pages."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from replay.runs.policy import Policy
from verdict.evidence import COLUMNS, Evidence, Network
from verdict.rule import RULE

TEN, SIXTEEN, PACED = Policy(10), Policy(16), Policy(16, "paced")
RULE_OF_ONE = dataclasses.replace(RULE, candidates=(PACED,), shown=(), guards=())


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """True effects by window: logarithms of time and percentage points, and how much they differ."""

    log_time: Mapping[Policy, float]
    resent: Mapping[Policy, float]
    of_pages: float = 0.03
    of_networks: float = 0.06
    of_pairs: float = 0.06

    def evidence(
        self, rng: np.random.Generator, *, pages: int, networks: int, each: int, strata: int = 8
    ) -> Evidence:
        frame = tuple(
            Network(id=f"n{at:05}", stratum=at % strata, share=1 / strata, slow_share=float(at % strata == 0))
            for at in range(networks)
        )
        places = np.repeat(np.arange(networks), each)
        visits = np.concatenate([rng.choice(pages, each, replace=False) for _ in range(networks)])
        windows = (TEN, *self.log_time)
        size = len(places)
        values = {name: np.full((size, len(windows)), 1000.0) for name in COLUMNS}
        noise = {
            what: scale
            * (
                self.of_pages * rng.standard_normal(pages)[visits]
                + self.of_networks * rng.standard_normal(networks)[places]
            )
            for what, scale in (("page_ms", 1.0), ("bytes_retransmitted", 10.0))
        }
        for place, window in enumerate(windows):
            if window == TEN:
                values["bytes_retransmitted"][:, place] = 20.0
                continue
            own = noise["page_ms"] + self.of_pairs * rng.standard_normal(size)
            values["page_ms"][:, place] = 1000 * np.exp(self.log_time[window] + own)
            shares = (
                2
                + self.resent[window]
                + noise["bytes_retransmitted"]
                + 10 * self.of_pairs * rng.standard_normal(size)
            )
            values["bytes_retransmitted"][:, place] = 10 * shares
        again = {name: array[:, 0].copy() for name, array in values.items()}
        again["page_ms"] = 1000 * np.exp(self.of_pairs * rng.standard_normal(size))
        again["bytes_retransmitted"] = 20 + rng.standard_normal(size)
        return Evidence(
            networks=frame,
            visits=visits.astype(np.intp),
            places=places.astype(np.intp),
            windows=windows,
            values=values,
            again=again,
            states={"done": size * len(windows)},
        )


def saving(percent: float, resent: float) -> World:
    """A world in which a paced window saves per cent and sends percentage points more again."""
    return World(log_time={PACED: float(np.log1p(-percent / 100))}, resent={PACED: resent})


def quiet(percent: float, resent: float) -> World:
    return dataclasses.replace(saving(percent, resent), of_pages=0.002, of_networks=0.002, of_pairs=0.002)

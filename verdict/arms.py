"""Arms: the same pages under another input, loaded once over networks of their own.

They turn no verdict: the ledger is made from them.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.networks.distances import FAR, NEAR
from replay.networks.queues import QUEUES
from replay.runs.origins import AS_TCP, ONE_SENDER
from replay.runs.policy import PACED, SPREAD, Policy
from verdict.question import STRATA, ReplayQuestion
from verdict.sampling import StagePlan

WINDOWS = (
    Policy(10),
    Policy(16, PACED),
    Policy(16, PACED, 100),
    Policy(20, PACED, 100),
    Policy(20, SPREAD, 100),
)

NETWORKS, PAGES = 8, 2
"""Networks of each stratum, and pages over each: 1,024 draws. Ours."""

OTHER_RUN = 1000
"""Added to a run's number, so that an arm draws networks and seeds of its own."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that differs in an arm."""

    # Stable: names of folders, written into every verdict.
    id: str
    title: str
    changes: dict[str, Any] = field(hash=False)

    def question(self, of: ReplayQuestion) -> ReplayQuestion:
        conditions = dataclasses.replace(of.conditions, **self.changes)
        return dataclasses.replace(of, conditions=conditions, run=of.run + OTHER_RUN)

    @property
    def plan(self) -> StagePlan:
        networks = dict.fromkeys(STRATA, NETWORKS)
        return StagePlan(networks=networks, pages=PAGES, windows=tuple(sorted(WINDOWS)), again=0.0)


ARMS = {
    arm.id: arm
    for arm in (
        Input("queues-low", "shallow queues", {"queue": QUEUES["low"]}),
        Input("queues-high", "deep queues", {"queue": QUEUES["high"]}),
        Input("at-least-2", "queues of 2 packets and more", {"queue": QUEUES["at-least-2"]}),
        Input("at-least-50", "queues of 50 packets and more", {"queue": QUEUES["at-least-50"]}),
        Input("fq-codel-25", "FQ-CoDel on a quarter of the lines", {"queue": QUEUES["fq-codel-25"]}),
        Input("near", "servers near by", {"distance": NEAR}),
        Input("far", "servers far away", {"distance": FAR}),
        Input("all-tcp", "as if HTTP/3 were TCP", {"http3": AS_TCP}),
        Input("bbr", "all servers send by BBR", {"senders": ONE_SENDER, "congestion_control": "bbr"}),
    )
}


SAME = Input("default", "the default, over the draws of all arms", {})

LOADED = {**ARMS, SAME.id: SAME}


def paired(names: Sequence[str]) -> tuple[str, ...]:
    """Return these arms behind the default, which they are compared with."""
    return (SAME.id, *names) if names else ()

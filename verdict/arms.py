"""Arms: the same pages under another input, loaded once over networks of their own.

They turn no verdict: the ledger and what everyone's window does to a half-loaded line are made from them.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.networks.distances import FAR, NEAR
from replay.networks.queues import QUEUES
from replay.runs.conditions import Neighbours
from replay.runs.origins import AS_TCP, ONE_SENDER
from replay.runs.policy import PACED, SPREAD, Policy
from verdict.question import HALF_LOADED, STRATA, Question
from verdict.rule import RULE_VERSION
from verdict.sampling import Plan

WINDOWS = (Policy(10), Policy(16, PACED), Policy(16), Policy(20, PACED))
"""Windows around the price of 2010."""

PAIRED_WINDOWS = (
    Policy(10),
    Policy(16, PACED),
    Policy(16, PACED, 100),
    Policy(20, PACED, 100),
    Policy(20, SPREAD, 100),
)
"""Policies that rule 7 compares under another input."""

SHARED_WINDOWS = (Policy(10), Policy(16, PACED), Policy(16), Policy(30))
"""Windows on a half-loaded line."""

NETWORKS, PAGES = 8, 2
"""Networks of each stratum, and pages over each: 1,024 draws, some three minutes of a core, twenty on a
half-loaded line. Ours."""

OTHER_RUN = 1000
"""Added to the number of a run, so that an arm draws networks and seeds of its own."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that differs in an arm."""

    # Stable: names of folders, written into every verdict.
    id: str
    title: str
    changes: dict[str, Any] = field(hash=False)
    """Conditions that differ from the question's."""
    windows: tuple[Policy, ...] = WINDOWS

    def question(self, of: Question) -> Question:
        """Return the question under this input."""
        conditions = dataclasses.replace(of.conditions, **self.changes)
        return dataclasses.replace(of, conditions=conditions, run=of.run + OTHER_RUN)

    @property
    def plan(self) -> Plan:
        """The one stage of the arm."""
        networks = dict.fromkeys(STRATA, NETWORKS)
        return Plan(networks=networks, pages=PAGES, windows=tuple(sorted(self.windows)), again=0.0)


ALONE, EVERYONE = "half-loaded", "half-loaded-everyone"

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
        Input(
            ALONE,
            "a half-loaded line, the page alone at the window",
            {"neighbours": Neighbours(load=HALF_LOADED.load)},
            SHARED_WINDOWS,
        ),
        Input(
            EVERYONE,
            "a half-loaded line, everyone at the window",
            {"neighbours": HALF_LOADED},
            SHARED_WINDOWS,
        ),
    )
}
"""All arms by id."""


SAME = Input("default", "the default, over the draws of all arms", {}, PAIRED_WINDOWS)
"""What rule 7 compares each arm with: all arms have the same draws."""


def arm_of(name: str, rule_version: int) -> Input:
    """Return an arm as a version of the rule loads it."""
    if rule_version == RULE_VERSION:
        return ARMS[name]
    return SAME if name == SAME.id else dataclasses.replace(ARMS[name], windows=PAIRED_WINDOWS)


def paired(names: Sequence[str]) -> tuple[str, ...]:
    """Return the arms that rule 7 loads where these are asked for: the default first, and none of a
    half-loaded line, which its guards load for themselves."""
    others = tuple(name for name in names if not is_shared(name))
    return (SAME.id, *others) if others else ()


def is_shared(name: str) -> bool:
    """Return whether an arm is of a half-loaded line; those are no rows of the ledger."""
    return name in (ALONE, EVERYONE)

"""Constants of rule 7, written down before the loads that they decide on
(docs/protocols/policy-of-the-year.md)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from replay.runs.policy import AT_ONCE, PACED, SPREAD, Policy

VERSION: Final = 7

INCUMBENT = Policy(10)
"""The policy in force (RFC 6928)."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A limit on harm that is asked of a window that is worth it."""

    # Stable: written into every verdict.
    id: str
    what: str
    quantity: str
    """In verdict.judgement.GUARDED."""
    limit_percent: float
    """Most by which it may be longer than at the incumbent."""
    everyone: bool = False
    """True for loads on a half-loaded line where all traffic has the window."""


GUARDS = (
    Guard(
        "others",
        "others' short flows on a half-loaded line, everyone at the window",
        "short flows",
        3.0,
        True,
    ),
    Guard("slow", "page time over the slowest tenth of the networks", "slow tenth", 1.0),
)

FAR_MS = 100
"""Handshake beyond which a server may send more, in milliseconds. From the loads of the edition of 2026."""

CANDIDATES = (
    Policy(16),
    Policy(30),
    Policy(16, PACED),
    Policy(20, PACED),
    Policy(20, SPREAD),
    Policy(32, SPREAD),
    Policy(16, PACED, FAR_MS),
    Policy(20, PACED, FAR_MS),
    Policy(20, SPREAD, FAR_MS),
    Policy(32, SPREAD, FAR_MS),
)
"""What the rule may recommend."""

SHOWN = (Policy(3), Policy(6))
"""Loaded for the picture; they decide nothing."""

Unit = Literal["per load", "in sum"]

UNITS: tuple[Unit, Unit] = ("per load", "in sum")

PER_LOAD, IN_SUM = UNITS
"""Per load: of page time the geometric mean, of what is sent again the mean of each load's share. In sum: of
page time the mean, of what is sent again all bytes over all bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Constants of the rule."""

    version: int = VERSION
    price_per_load_pp: float = 0.088
    """Payload sent again, in percentage points, for 1 % of the geometric mean of page time:
    verdict.prices."""
    price_in_sum_pp: float = 0.059
    """Payload sent again, in percentage points, for 1 % of the mean of page time."""
    worthwhile_percent: float = 1.0
    """Least page time that a policy must save of the loads that it touches. Ours."""
    zone_pp: float = 0.05
    """Half width of the zone around the price in which more loads would not change the answer; lower ends of
    net benefit that differ by less are alike. Ours."""
    noise_pp: float = 0.10
    """Largest half width of the net benefit in sum at which an estimate of 0 or more says anything. Ours."""
    confidence: float = 0.95
    """Over candidates, quantities and looks."""
    parts: tuple[float, float, float] = (1.0, 0.25, 0.05)
    """Error probability of an interval of net benefit per load, of one in sum, and of one of the gain, in
    parts of the first. Ours: gains are far from their limit, and net benefits per load are near to theirs."""
    incumbent: Policy = INCUMBENT
    candidates: tuple[Policy, ...] = CANDIDATES
    shown: tuple[Policy, ...] = SHOWN
    guards: tuple[Guard, ...] = GUARDS
    looks: tuple[float, ...] = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
    """Parts of the budget after which the loads are looked at."""
    most_again: float = 0.1
    """Largest share of loads that hold the incumbent against itself."""
    time: str = "page_ms"
    """Column of loads whose time is saved."""

    @property
    def error(self) -> float:
        """Probability that any interval of the family fails.

        >>> round(Rule().error, 6)
        0.05
        """
        return 1 - self.confidence

    def price_pp(self, unit: Unit) -> float:
        return self.price_per_load_pp if unit == PER_LOAD else self.price_in_sum_pp

    def over(self, *candidates: Policy) -> "Rule":
        """Return the rule with other candidates, a family of its own."""
        return dataclasses.replace(self, candidates=candidates)


RULE = Rule()


def is_stock(policy: Policy) -> bool:
    """Return whether an unchanged Linux server can follow a policy: by a route, by pacing, and by a sockops
    program that reads the handshake's round trip. It cannot spread a first flight.

    >>> is_stock(Policy(20, PACED, 100)), is_stock(Policy(16)), is_stock(Policy(20, SPREAD))
    (True, True, False)
    """
    return policy.sending in (AT_ONCE, PACED)


NEARLY = 0.95
"""Part of a look's budget at which it is taken: what is left may be too little for a stage of its own."""


def next_look(looks: Sequence[float], fraction: float) -> float | None:
    """Return the part of the budget at which the loads are looked at next; None after the last look.

    >>> next_look((1 / 4, 1 / 2, 1.0), 0.24), next_look((1 / 4, 1 / 2, 1.0), 0.96)
    (0.5, None)
    """
    return next((look for look in looks if NEARLY * look > fraction), None)

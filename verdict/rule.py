"""The rule that turns two effects of a window into an answer, by the price that 2010 paid."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from replay.runs.policy import PACED, Policy

RULE_VERSION: Final = 6
"""Version of the rule. Loads name it, and are judged by no other."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy that the rule may recommend."""

    window: Policy
    source: str


INCUMBENT = Policy(10)
"""The policy in force (RFC 6928)."""

CANDIDATES = (
    Candidate(Policy(3), "RFC 3390, the window before RFC 6928"),
    Candidate(Policy(6), "ours, between the windows before and after RFC 6928"),
    Candidate(INCUMBENT, "RFC 6928, the window in force"),
    Candidate(Policy(10, PACED), "the window in force, from a sender that paces"),
    Candidate(Policy(16, PACED), "ours, the next step of the 2010 paper"),
    Candidate(Policy(16), "Dukkipati et al. 2010, Figure 2"),
    Candidate(Policy(20, PACED), "ours, twice the window in force"),
    Candidate(Policy(30), "CDN Planet, windows of content networks"),
    Candidate(Policy(32, PACED), "Chromium, kInitialCongestionWindow"),
    Candidate(Policy(44, PACED), "the largest window of a CDN, paced"),
)


@dataclass(frozen=True, slots=True)
class Guard:
    """A limit on harm that is asked of a window that is worth it."""

    # Stable: written into every verdict.
    id: str
    what: str
    quantity: str
    """Id of the quantity in verdict.effects."""
    limit_percent: float
    """Most that the quantity may be longer than at the incumbent."""
    everyone: bool = False
    """True if it is asked of loads on a half-loaded line where all traffic has the window."""


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


NEARLY = 0.95
"""Part of a look's budget at which it is taken: what is left may be too little for a stage of its own."""


def next_look(looks: Sequence[float], fraction: float) -> float | None:
    """Return the part of the budget at which the loads are looked at next; None after the last look.

    >>> next_look((1 / 4, 1 / 2, 1.0), 0.24), next_look((1 / 4, 1 / 2, 1.0), 0.96)
    (0.5, None)
    """
    return next((look for look in looks if NEARLY * look > fraction), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Constants of the rule, written down before the loads that they decide on."""

    version: int = RULE_VERSION
    price_pp: float | None = 0.077
    """Payload sent again, in percentage points, that 1 % of page time may cost: 0.67 pp for 8.75 %, the slow
    data centre of Dukkipati et al. 2010 (Tables 3 and 7). None: whatever it costs."""
    worthwhile_percent: float = 1.0
    """Least page time that a change of the Internet's servers must save. Ours."""
    zone_pp: float = 0.05
    """Half width of the zone around the price in which more loads would not change the answer. Ours."""
    confidence: float = 0.95
    """Simultaneous confidence over all candidates and looks."""
    incumbent: Policy = INCUMBENT
    candidates: tuple[Policy, ...] = tuple(candidate.window for candidate in CANDIDATES)
    guards: tuple[Guard, ...] = GUARDS
    looks: tuple[float, ...] = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
    """Parts of the budget after which the loads are looked at; each look spends as much of the error."""
    most_again: float = 0.1
    """Largest share of loads that hold the incumbent against itself."""
    time: str = "page"
    """Quantity that counts as the time saved."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """Ids of the quantities that the rule decides by.

        >>> Rule().quantities
        ('page', 'resent', 'short flows', 'slow tenth')
        """
        return (self.time, "resent", *(guard.quantity for guard in self.guards))

    def spent(self, fraction: float) -> float:
        """Return the share of the error probability that may be spent when `fraction` of the budget is used.

        >>> [Rule().spent(fraction) for fraction in (0.01, 1 / 16, 0.3, 1.0)]
        [0.0, 0.2, 0.6, 1.0]
        """
        return sum(NEARLY * look <= fraction for look in self.looks) / len(self.looks)

    def rivals(self) -> tuple[Policy, ...]:
        """Return the candidates beside the incumbent."""
        return tuple(candidate for candidate in self.candidates if candidate != self.incumbent)

    def over(self, windows: tuple[Policy, ...], *, incumbent: Policy | None = None) -> "Rule":
        """Return the same rule with other candidates, or another incumbent."""
        other = self.incumbent if incumbent is None else incumbent
        return dataclasses.replace(self, candidates=tuple(sorted(windows)), incumbent=other)


RULE = Rule()

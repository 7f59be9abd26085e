"""The rule that turns two effects of a window into an answer, by the price that 2010 paid."""

from collections.abc import Sequence
from dataclasses import dataclass

from replay.runs.policy import Policy

INCUMBENT = Policy(10)
"""The policy in force (RFC 6928)."""


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

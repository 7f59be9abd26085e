"""The conditions that a margin is held against: each by itself, or their weighted mixture of queues."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reports.recommendation.rule import Margin, Rule
from reports.statistics.paired_loads import PairedLoads

ORDINARY = "ordinary"
"""Names the cells that gains are measured in, beside the ids of harm conditions."""

MIXTURE = "mixture"
"""Names the weighted mixture of conditions."""

Arms = Sequence[tuple[PairedLoads, float]]
"""Loads with their weights."""


def queues_are_mixed(queue_bytes: Iterable[object]) -> bool:
    """Whether networks have queues of different sizes, and not one that a study gave to all.

    >>> queues_are_mixed([65536, 65536]), queues_are_mixed([65536, 250000])
    (False, True)
    """
    return len(set(queue_bytes)) > 1


def arms_of(
    margin: Margin, ordinary: PairedLoads, in_conditions: Mapping[str, PairedLoads], rule: Rule
) -> Iterator[tuple[str, Arms | None]]:
    """The conditions that a margin is held against, with their arms.

    None if a deciding condition was not replayed.
    """
    asked = [
        one
        for one in rule.harm_conditions
        if one.kind in margin.asked_in and (one.is_core or one.id in in_conditions)
    ]
    if margin.held_against == "mixture" and ORDINARY in margin.asked_in:
        core = [] if rule.has_queues_in_population else [one for one in asked if one.is_core]
        if not core:
            yield ORDINARY, [(ordinary, 1.0)]
        elif all(one.id in in_conditions for one in core):
            yield MIXTURE, [(in_conditions[one.id], one.weight) for one in core]
        else:
            yield MIXTURE, None
        return
    if ORDINARY in margin.asked_in:
        yield ORDINARY, [(ordinary, 1.0)]
    for one in asked:
        loads = in_conditions.get(one.id)
        yield one.id, [(loads, 1.0)] if loads else None

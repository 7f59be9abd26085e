"""Conditions in which harm is measured besides the ordinary cells: queues, competing load,
and windows of the others.

Every report contains the ids, so renaming one breaks past reports.
"""

from dataclasses import dataclass
from typing import Literal

from replay.runs.conditions import Competition, Conditions, Neighbours, Queue

ConditionKind = Literal["ordinary", "idle", "alone", "everyone", "bulk"]

KINDS: dict[ConditionKind, str] = {
    "ordinary": "the cells that gains are measured in",
    "idle": "the page with only a probe beside it",
    "alone": "the page at the candidate window among short flows of others at today's window",
    "everyone": "the page and the short flows of others at the candidate window",
    "bulk": "the page beside one competing bulk flow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmCondition:
    """A combination of queue, competing load and its window."""

    id: str
    kind: ConditionKind
    conditions: Conditions
    is_core: bool
    """True if the rule's bounds apply; other conditions are only reported."""
    weight: float
    """Weight of the condition's queue in a mixture of queues."""


QUEUES: dict[Queue, float] = {
    Queue(bdp=0.25): 0.25,
    Queue(bdp=1): 0.25,
    Queue(bdp=4): 0.25,
    Queue(bytes=65_536): 0.25,
}
"""Queues of the harm cells with their weights in a mixture; each holds at least two packets.

Equal weights are ours.
"""

CORE_LOAD, HIGH_LOAD = 0.5, 0.8
"""Share of the bottleneck that others ask for in the core conditions, and beyond them.

At 80 % the page often asks for more than what is left: most losses occur at any window,
and a load takes many times as long. Ours.
"""

LOADS: tuple[tuple[ConditionKind, float], ...] = (
    ("idle", 0.0),
    ("bulk", 0.0),
    ("alone", CORE_LOAD),
    ("alone", HIGH_LOAD),
    ("everyone", CORE_LOAD),
    ("everyone", HIGH_LOAD),
)


def _condition(queue: Queue, kind: ConditionKind, load: float) -> HarmCondition:
    bulk_flow = Competition(flows=1, congestion_control="cubic", iw=10)
    return HarmCondition(
        id=f"{kind}{f'-{load:.0%}'.rstrip('%') if load else ''}-{queue}".lower(),
        kind=kind,
        conditions=Conditions(
            queue=queue,
            neighbours=Neighbours(load=load, everyone=kind == "everyone", probe=kind == "idle"),
            competition=bulk_flow if kind == "bulk" else None,
        ),
        is_core=load < HIGH_LOAD,
        weight=QUEUES[queue],
    )


HARM_CONDITIONS: tuple[HarmCondition, ...] = tuple(
    _condition(queue, kind, load) for queue in QUEUES for kind, load in LOADS
)

CORE: tuple[HarmCondition, ...] = tuple(one for one in HARM_CONDITIONS if one.is_core)
"""Conditions of which the worst decides."""

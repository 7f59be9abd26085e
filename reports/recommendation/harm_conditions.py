"""Where harm is asked besides the ordinary cells: queues, other people's load, and who has the candidate.

Ids are stable: they stand in every report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from replay.runs.conditions import Competition, Conditions, Neighbours, Queue

ConditionKind = Literal["ordinary", "idle", "alone", "everyone", "bulk"]
"""What is asked there: see `KINDS`."""

KINDS: dict[ConditionKind, str] = {
    "ordinary": "the cells that a gain is measured in",
    "idle": "the page beside a probe alone",
    "alone": "the page at the candidate among other people's short flows at today's window",
    "everyone": "those flows at the candidate too",
    "bulk": "the page beside one download without end",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmCondition:
    """One combination of queue, load and arm."""

    id: str
    kind: ConditionKind
    conditions: Conditions
    is_core: bool
    """Whether the rule's bounds are asked there; the others stand beside it."""


QUEUES = (Queue(bdp=0.25), Queue(bdp=1), Queue(bdp=4), Queue(bytes=65_536))
"""Of the design's harm cells; the smallest is two packets where a quarter of the product is less."""

CORE_LOAD, HIGH_LOAD = 0.5, 0.8
"""Half of the bottleneck asked for by others is in the core. At 80 % the page itself is often more than the rest: most of
what is lost there is lost at any window, and a load takes many times as long. Ours."""


def _neighbours(kind: ConditionKind, load: float) -> Neighbours:
    return Neighbours(load=load, everyone=kind == "everyone", probe=kind == "idle")


def _conditions(queue: Queue) -> list[HarmCondition]:
    kinds: list[tuple[ConditionKind, float]] = [
        ("idle", 0.0),
        ("bulk", 0.0),
        ("alone", CORE_LOAD),
        ("alone", HIGH_LOAD),
        ("everyone", CORE_LOAD),
        ("everyone", HIGH_LOAD),
    ]
    return [
        HarmCondition(
            id=f"{kind}{f'-{load:.0%}'.rstrip('%') if load else ''}-{queue}".lower(),
            kind=kind,
            conditions=Conditions(
                queue=queue,
                neighbours=_neighbours(kind, load),
                competition=Competition(flows=1, congestion_control="cubic", iw=10)
                if kind == "bulk"
                else None,
            ),
            is_core=load < HIGH_LOAD,
        )
        for kind, load in kinds
    ]


HARM_CONDITIONS: tuple[HarmCondition, ...] = tuple(one for queue in QUEUES for one in _conditions(queue))

CORE: tuple[HarmCondition, ...] = tuple(one for one in HARM_CONDITIONS if one.is_core)
"""The worst of these decides."""

"""What each stage of a replay added and decided, and why another one followed: a ledger that only grows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replay.runs.initial_window import with_names
from reports.decision.record import possible, reason
from reports.decision.stage import Stage
from reports.decision.until_decided import Outcome, outcome_by


def history(
    outcome: Outcome, stages: Sequence[Stage], facts: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield an entry for each stage; `facts` are what stage.json says of each.

    A time that was not kept is null.
    """
    for number, (stage, said) in enumerate(zip(stages, facts, strict=True), start=1):
        after = outcome_by(outcome.problem, stages[:number], outcome.looks[:number])
        plan = said["plan"]
        yield {
            "stage": number,
            "starts": list(stage.starts),
            "ended": stage.ended,
            "commit": plan.get("commit"),
            "kernel": plan.get("kernel"),
            "player": plan.get("player"),
            "programs": said["programs"],
            "windows": with_names(sorted({window for part in stage.parts for window in part.windows})),
            "draws": {part.condition: part.draws for part in stage.parts},
            "seeds": sorted({row["seed"] for row in stage.rows}),
            "loads": len(stage.rows),
            "done": sum(row["state"] == "done" for row in stage.rows),
            "core_minutes": round(stage.core_s / 60, 2),
            "part_of_budget": round(stage.fraction, 4),
            "possible_answers": possible(after),
            "lost": with_names(sorted(after.standing.lost)),
            "is_settled": after.is_settled,
            "reason": reason(after),
        }

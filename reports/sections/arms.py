"""The loads of a report's replay as evidence, by how the servers sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from releases.formatting import grouped
from replay.recipes.http_version import HTTP1, HTTP2
from replay.runs.conditions import Conditions
from reports.decision.stage import draws_of
from reports.decision.stored_problem import StagedReplay
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.rule import Role, Rule
from reports.sections.evidence import Evidence, draws_of_loads
from reports.sections.senders import Sender
from reports.statistics.paired_loads import PairedLoads, pair_loads


def of_stages(staged: StagedReplay, *, query: str) -> Evidence:
    """The evidence of a replay in stages."""
    problem = staged.problem
    facts = {one["id"]: one for one in staged.provenance["profiles"]}
    return Evidence(
        draws=draws_of(problem, staged.stages),
        visits=problem.frame.pages,
        networks=tuple(facts[one.id] for one in problem.networks),
        weights=problem.weights,
        rule=problem.rule,
        incumbent=problem.incumbent,
        windows=staged.outcome.standing.candidates,
        source=f"{grouped(staged.outcome.loads)} loads of {grouped(len(problem.recipes))} pages over "
        f"{len(problem.networks)} networks",
        query=query,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeReplay:
    """A replay of every page over every network."""

    cells: pa.Table
    profiles: Sequence[Mapping[str, Any]]
    populations: Mapping[Role, Mapping[str, float]]
    """Weights by profile and role."""
    harm_loads: Mapping[str, PairedLoads]
    """Loads of the replayed harm conditions by id, of the deciding sender."""
    rule: Rule
    incumbent: int


def of_replay(whole: WholeReplay, *, query: str) -> Iterator[tuple[Sender, Evidence]]:
    """Yield the evidence of each sender that was replayed, the deciding one first."""
    decides = (whole.rule.congestion_control, False)
    columns = (whole.cells[name].to_pylist() for name in ("congestion_control", "pacing"))
    for control, is_paced in sorted(set(zip(*columns, strict=True)), key=lambda one: (one != decides, one)):
        loads = pair_loads(
            whole.cells,
            congestion_control=control,
            conditions=Conditions(pacing=is_paced),
            networks=whole.profiles,
        )
        if loads.pages and whole.incumbent in loads.windows:
            harm = whole.harm_loads if (control, is_paced) == decides else {}
            yield (control, is_paced), _evidence(whole, loads, harm, query=query)


def by_http(whole: WholeReplay, *, query: str) -> dict[str, Evidence]:
    """The loads of the same pages over HTTP/1.1 alone and over HTTP/2, where both were replayed;
    else none."""
    found = {}
    for version in (HTTP1, HTTP2):
        loads = pair_loads(
            whole.cells,
            congestion_control=whole.rule.congestion_control,
            conditions=Conditions(http=version),
            networks=whole.profiles,
        )
        if loads.pages and whole.incumbent in loads.windows:
            found[version] = _evidence(whole, loads, {}, query=query)
    return found if len(found) == 2 else {}


def _evidence(
    whole: WholeReplay, loads: PairedLoads, harm: Mapping[str, PairedLoads], *, query: str
) -> Evidence:
    facts = {one["id"]: one for one in whole.profiles}
    visits = dict(zip(whole.cells["page"].to_pylist(), whole.cells["visit_id"].to_pylist(), strict=True))
    alike = {name: there for name, there in harm.items() if there.profiles == loads.profiles}
    return Evidence(
        draws={name: draws_of_loads(there) for name, there in {ORDINARY: loads, **alike}.items()},
        visits=tuple(visits[page] for page in loads.pages),
        networks=tuple(facts[name] for name in loads.profiles),
        weights={
            role: np.array([population.get(name, 0.0) for name in loads.profiles])
            for role, population in whole.populations.items()
        },
        rule=whole.rule,
        incumbent=whole.incumbent,
        windows=tuple(one for one in loads.windows if one != whole.incumbent),
        source=f"{grouped(sum(loads.states.values()))} loads of {grouped(len(loads.pages))} pages over "
        f"{len(loads.profiles)} networks",
        query=query,
    )

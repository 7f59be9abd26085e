"""The loads of an edition with policies for far connections read off those for all: each load is switched as
a whole by the round trip to its main document's origin."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from recordings.pages.same_sites import site_keys
from recordings.pages.sets import AUGUST_2025
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell
from replay.runs.conditions import Conditions
from replay.runs.facts import StageFacts
from replay.runs.policy import PACED, Policy
from reports.inputs.carried import read_carried
from reports.inputs.replays import Replay
from verdict.evidence import Evidence, select_conditions
from verdict.judgement import Look
from verdict.ledger import switch
from verdict.question import ReplayQuestion
from verdict.replay_file import ReplayFile
from verdict.replayed import plan_of_facts, policies_of_stages
from verdict.rule import INCUMBENT, RULE

FOR_ALL = (Policy(16), Policy(30), Policy(16, PACED), Policy(20, PACED))
"""Candidates of rule 7 that the edition loaded."""

WIDE = (Policy(16, PACED), Policy(20, PACED), Policy(32, PACED))
"""Policies for all that those for far loads are read off."""


def read_edition(folder: Path) -> Replay:
    carried = read_carried(folder)
    if carried is None:
        raise ValueError(f"{folder} carries no loads")
    return carried[0]


def looks_of(replay: Replay, recipes: Sequence[Recipe], *, thresholds_ms: Sequence[int]) -> tuple[Look, ...]:
    """Return the looks of the edition's run with policies beyond each threshold, and the sites of its
    pages."""
    recipe_of = {recipe.visit_id: recipe for recipe in recipes}
    file = msgspec.convert(asked_of(replay), ReplayFile)
    question = ReplayQuestion(recipes=(), incumbent=INCUMBENT, run=file.run, conditions=file.base)
    stages = [facts["plan"] for facts in replay.facts if facts["plan"].get("arm") is None]
    drawn = question.networks([plan_of_facts(plan["stage"]) for plan in stages])
    profiles = {network.profile.id: network.profile for stage in drawn for network in stage}
    round_trip = functools.cache(
        functools.partial(main_round_trip_ms, recipe_of, profiles, conditions=question.conditions)
    )
    tables = [
        with_handshakes(select_conditions(table, question.conditions), round_trip)
        if facts["plan"].get("arm") is None
        else table
        for table, facts in zip(replay.loads, replay.facts, strict=True)
    ]
    replayed = read_looks(dataclasses.replace(replay, loads=tuple(tables)))
    return tuple(
        dataclasses.replace(look, evidence=emulate(with_sites(look.evidence), thresholds_ms))
        for look in replayed
    )


def read_looks(replay: Replay) -> tuple[Look, ...]:
    """Return the looks of the edition's run, without its arms, which had other policies than those of
    today."""
    stages = [
        (table, facts)
        for table, facts in zip(replay.loads, replay.facts, strict=True)
        if facts["plan"].get("arm") is None
    ]
    plans = [facts for _, facts in stages]
    first: StageFacts = {**plans[0], "plan": {**plans[0]["plan"], "asked": asked_of(replay)}}
    return policies_of_stages([table for table, _ in stages], [first, *plans[1:]]).pages.looks


def asked_of(replay: Replay) -> dict[str, Any]:
    return {**replay.facts[0]["plan"]["asked"], "arms": []}


def main_round_trip_ms(
    recipes: Mapping[int, Recipe],
    profiles: Mapping[str, Profile],
    visit: int,
    profile: str,
    seed: int,
    *,
    conditions: Conditions,
) -> float:
    """Return the round trip to the origin of a load's main document, in milliseconds."""
    recipe, network = recipes[visit], profiles[profile]
    cell = Cell(recipe=recipe, profile=network, policy=INCUMBENT, seed=seed, conditions=conditions)
    return (network.rtt_us + cell.origins[recipe.objects[0].origin].distance_us) / 1e3


def with_handshakes(loads: pa.Table, round_trip: Callable[[int, str, int], float]) -> pa.Table:
    """Return the loads with that round trip in the place of the longest handshake, which they lack."""
    keys = zip(*(loads[name].to_pylist() for name in ("visit_id", "profile", "seed")), strict=True)
    at = loads.schema.get_field_index("handshake_max_ms")
    return loads.set_column(at, loads.field(at), pa.array([round_trip(*key) for key in keys], pa.float64()))


def with_sites(evidence: Evidence) -> Evidence:
    """Return the evidence with the sites of August 2025's pages."""
    sites = site_keys(AUGUST_2025)
    names = [sites[visit] for visit in evidence.visits.tolist()]
    return dataclasses.replace(evidence, sites=np.unique(names, return_inverse=True)[1].astype(np.intp))


def emulate(evidence: Evidence, thresholds_ms: Sequence[int]) -> Evidence:
    """Return the evidence with the policies of WIDE beyond each threshold beside it."""
    policies = {
        dataclasses.replace(wide, beyond_ms=limit_ms): wide
        for limit_ms in thresholds_ms
        for wide in WIDE
        if wide in evidence.windows
    }
    columns = {
        policy: switch(evidence, wide, policy, policy.beyond_ms or 0, RULE).at(policy)
        for policy, wide in policies.items()
    }
    values = {
        name: np.column_stack([array, *(load[name] for load in columns.values())])
        for name, array in evidence.values.items()
    }
    # The round trip is the load's, whatever the policy.
    trips = evidence.at(INCUMBENT)["handshake_max_ms"]
    values["handshake_max_ms"] = np.repeat(trips[:, np.newaxis], len(evidence.windows) + len(columns), axis=1)
    return dataclasses.replace(evidence, windows=(*evidence.windows, *columns), values=values)

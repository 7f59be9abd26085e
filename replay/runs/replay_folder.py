"""The folder of loads, a stage or a part of one: cells.parquet, stage.json or part.json, a manifest and
checksums, written in one step."""

import collections
import dataclasses
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.slow_start import MSS_TIMESTAMPS
from replay.errors import ReplayError
from replay.lab.kernel import PACKAGE, build_key, package_version, patches
from replay.lab.player import player_key
from replay.networks.profiles import Population
from replay.recipes import page_recipe, tls_records, variants
from replay.recipes.page_recipe import Recipe
from replay.runs import background
from replay.runs.cells import Cell
from replay.runs.conditions import BACKGROUND_IW
from replay.runs.facts import GuestFacts, KernelFacts, LoadsPlan, PopulationFacts, StageFacts
from replay.runs.policy import PACED
from replay.runs.responses import write_responses
from replay.runs.run import ReplayResult
from schema.computed_tables import CELL
from storage.signatures import Signer
from storage.staging import put_in_place
from storage.sums import seal

FORMAT_VERSION = 1


def store_loads(
    folder: Path,
    kind: Literal["stage", "part"],
    table: pa.Table,
    facts: StageFacts,
    responses: Iterable[pa.Table] | None = None,
    *,
    signer: Signer | None = None,
) -> None:
    """Write sorted cells, KIND.json, and responses if given, in one step."""
    with put_in_place(folder) as stage:
        pq.write_table(table, stage / "cells.parquet", compression="zstd")
        if responses is not None:
            write_responses(stage, responses)
        text = json.dumps(facts, indent=2, sort_keys=True) + "\n"
        (stage / f"{kind}.json").write_text(text, encoding="utf-8")
        seal(stage, {"kind": kind, **origin({**facts["plan"], **facts})})
        if signer is not None:
            signer.sign(stage)


ORIGIN = (
    "format_version", "release", "recorded_pages", "recordings", "pages_there", "commit", "kernel", "player", "programs", "rule_version",  # noqa: E501
    "parameters",
)  # fmt: skip
"""Fields of stage.json that decide the cells, which the manifest repeats."""


def origin(facts: Mapping[str, object]) -> dict[str, object]:
    return {name: facts[name] for name in ORIGIN if name in facts}


ADDED = ("segments_dropped", "bytes_dropped", "bytes_spurious", "handshake_max_ms")
"""Columns that loads of version 1.0 do not have."""


DIRTY = "-dirty"
"""End of a commit's name with uncommitted changes, by git."""


def is_dirty(commit: str) -> bool:
    return commit.endswith(DIRTY)


def read_cells(folder: Path) -> pa.Table:
    """Return a replay's cells; ReplayError if the folder has none."""
    stored = pq.ParquetFile(folder / "cells.parquet").read()
    known = {*stored.column_names, *ADDED, *(("policy",) if "pacing" in stored.column_names else ())}
    if lacking := sorted({*CELL.names} - known):
        raise ReplayError(f"{folder} is of another version: its cells have no {', '.join(lacking)}")
    return as_cells(stored)


def as_cells(loads: pa.Table) -> pa.Table:
    """Return loads with every column of schema.computed_tables.CELL; null where not carried.

    Version 1.0 had a column `pacing` in place of `policy`.
    """
    if "policy" not in loads.column_names and "pacing" in loads.column_names:
        sending = pc.if_else(loads["pacing"], f" {PACED}", "")
        policies = pc.binary_join_element_wise(pc.cast(loads["iw"], pa.string()), sending, "")
        loads = loads.append_column("policy", policies)
    columns = [
        loads[field.name].cast(field.type)
        if field.name in loads.column_names
        else pa.nulls(len(loads), field.type)
        for field in CELL
    ]
    return pa.table(columns, schema=CELL)


def count_states(table: pa.Table) -> dict[str, int]:
    states = collections.Counter(table["state"].to_pylist())
    return {state: states[state] for state in ("done", "refused", "failed")}


def guest_facts(result: ReplayResult) -> GuestFacts:
    """Return the guests, their checks and failures, without durations: a replay made again has the same
    checksums.
    """
    return {
        "gates": [
            {"guest": number, "profile": job.profile.id, **check.to_dict()}
            for number, guest in enumerate(result.guests)
            for job in guest.jobs
            for check in job.checks
        ],
        "failures": [{"reason": str(g.failure), "log": g.failure.log} for g in result.guests if g.failure],
        "guests": len(result.guests),
        "programs": [result.programs],
    }


def plan_facts(
    cells: Sequence[Cell],
    source: LoadsPlan,
    *,
    commit: str,
    rule_version: int,
    populations: Sequence[Population],
) -> LoadsPlan:
    """Return all that the cells depend on; `rule_version` is the recommendation's."""
    profiles = {cell.profile.id: cell.profile for cell in cells}
    return {
        "format_version": FORMAT_VERSION,
        "commit": commit,
        **source,
        "kernel": kernel_facts(),
        "player": player_key(),
        "rule_version": rule_version,
        "parameters": parameters(cells),
        "profiles": [
            {**dataclasses.asdict(profile), "bdp_bytes": profile.bdp_bytes} for profile in profiles.values()
        ],
        "populations": [population_facts(population) for population in populations],
        "recipes": recipe_facts(recipes_of(cells, warm=False) or recipes_of(cells, warm=True)),
        "recipes_warm": recipe_facts(recipes_of(cells, warm=True)),
    }


def kernel_facts() -> KernelFacts:
    version = package_version()
    return {
        "package": PACKAGE,
        "version": version,
        "recipe": build_key(version),
        "patches": [patch.stem for patch in patches()],
    }


def parameters(cells: Sequence[Cell]) -> dict[str, object]:
    return {
        "policies": [str(policy) for policy in sorted({cell.policy for cell in cells})],
        "seeds": sorted({cell.seed for cell in cells}),
        "conditions": [
            conditions.columns() for conditions in dict.fromkeys(cell.conditions for cell in cells)
        ],
        "background_load": background.LOAD,
        "background_sizes": list(background.SHORT_SIZES),
        "background_short_flows_bps": background.SHORT_FLOWS_BPS,
        "background_large_flows": f"bounded Pareto of exponent {background.TAIL}, from what the bottleneck "
        f"carries in {background.LEAST_S} s (at least {background.SHORT_SIZES[-1]} bytes) to what it "
        f"carries in {background.MOST_S} s",
        "background_iw": BACKGROUND_IW,
        "bottleneck": "token bucket of one packet (1,540 bytes) over a FIFO queue in bytes with tail drop",
        "h1_connections_per_host": 6,
        "request_bytes": page_recipe.REQUEST_BYTES,
        "request_bodies": f"as recorded, at most {page_recipe.MOST_BODY_BYTES} bytes, "
        "sent from a client's window of 10",
        "tls": "the bytes of the server's flight and a round trip; no cryptography",
        "tls_record_overhead_bytes": tls_records.RECORD_OVERHEAD_BYTES,
        "tls_records": {name: tls_records.runs_text(runs) for name, runs in tls_records.TLS_RECORDS.items()},
        "think_time": "time from request to first byte, less a round trip and what the first TLS record "
        "took; the median of its kind where unknown",
        "warm_cache": f"second visit after {variants.REVISIT_S} s: the main document and all stale "
        f"responses, a 304 of {variants.NOT_MODIFIED_BYTES} bytes where there is a validator, "
        "else the whole response",
        "segment_bytes": MSS_TIMESTAMPS,
        "receive_window": "16 MB from the client's first acknowledgement on; "
        "a stock Linux client has 64,240 bytes",
        "tcp_slow_start_after_idle": 1,
        "tcp_no_metrics_save": 1,
        "offloads": "off",
        "ipv6": "not in the kernel",
    }


def population_facts(population: Population) -> PopulationFacts:
    return {
        "id": population.id,
        "version": population.version,
        "weights": dict(population.weights),
        "slow": population.slow,
        "measured": population.measured,
        "source": population.source,
        "checksum": population.checksum,
        "is_stored": population.is_stored,
    }


def recipes_of(cells: Sequence[Cell], *, warm: bool) -> list[Recipe]:
    """Return each page's recipe with a cold or a warm cache, whatever its HTTP."""
    by_visit: dict[int, Recipe] = {}
    for cell in cells:
        if cell.conditions.warm_cache == warm:
            by_visit.setdefault(cell.recipe.visit_id, cell.recipe)
    return list(by_visit.values())


def recipe_facts(recipes: Sequence[Recipe]) -> dict[str, object]:
    return {
        "pages": len(recipes),
        "objects": sum(len(recipe.requested) for recipe in recipes),
        "origins": sum(len(recipe.origins) for recipe in recipes),
        "response_bytes": sum(recipe.response_bytes for recipe in recipes),
        "left_out_responses": sum(recipe.left_out for recipe in recipes),
        "think_ms": server_delay_facts(recipes),
        "unknown_freshness": sum(
            object_.fresh_s is None for recipe in recipes for object_ in recipe.requested
        ),
        "left_out_by_page": {recipe.page: recipe.left_out for recipe in recipes if recipe.left_out},
    }


def server_delay_facts(recipes: Sequence[Recipe]) -> dict[str, object]:
    delays = [
        object_.server_delay_us / 1e3
        for recipe in recipes
        for object_ in recipe.requested
        if object_.server_delay_us is not None
    ]
    return {
        "known": len(delays),
        "unknown": sum(len(recipe.requested) for recipe in recipes) - len(delays),
        "median": statistics.median(delays) if delays else None,
        "mean": statistics.fmean(delays) if delays else None,
        "usual": {
            object_.kind: object_.usual_delay_us / 1e3 for recipe in recipes for object_ in recipe.requested
        },
    }

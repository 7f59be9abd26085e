"""The replays of a release's pages that a report reads: in stages, or full."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from releases.catalogue import Release
from replay.recipes.page_recipe import read_recipes
from replay.runs.replay_folder import read_cells
from reports.backcast.stored import INSTRUMENT
from reports.decision.stored_problem import StagedReplay, read_staged
from reports.decision.stored_stages import StageError, stages_folders
from reports.inputs.errors import ReportError
from reports.recommendation.rule import Role, Rule
from schema.computed_tables import CELL
from storage.signatures import faults
from storage.sums import checksum_of

WEIGHTS_OFF = 1e-6
"""Largest distance of the sum of a population's weights from 1, which rounding explains."""

FULL = "full"
"""Names the replay of every page over every network, in place of the plan of one in stages."""

BESIDE = f"+{FULL}"
"""What follows a plan where the full replay is shown beside the stages that decide."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The replay of a crawl's pages: its cells, and its provenance from replay.json."""

    cells: pa.Table
    provenance: dict[str, Any]
    checksum: str
    """Checksum of the replay's SHA256SUMS."""

    @property
    def profiles(self) -> list[dict[str, Any]]:
        """The replayed networks, in the order in which they were given."""
        profiles: list[dict[str, Any]] = self.provenance.get("profiles", [])
        return profiles

    @property
    def populations(self) -> list[dict[str, Any]]:
        """The average and the slow population that the replay was made for;
        raises ReportError if they lack."""
        found: list[dict[str, Any]] = self.provenance.get("populations", [])
        if sorted(one["slow"] for one in found) != [False, True]:
            raise ReportError("the replay names no populations; run `firstflight replay run` again")
        return found

    @property
    def own_cells(self) -> pa.Table:
        """The cells but those over the networks of other populations, which only the ledger takes."""
        return self.cells.filter(~pc.field("profile").isin(pa.array(sorted(self._others), pa.string())))

    @property
    def own_profiles(self) -> list[dict[str, Any]]:
        """The networks but those of other populations."""
        return [one for one in self.profiles if one["id"] not in self._others]

    @property
    def _others(self) -> set[str]:
        populations = self.sensitivity_populations.values()
        return {name for some in populations for one in some for name in one["weights"]}

    @property
    def sensitivity_populations(self) -> dict[str, list[dict[str, Any]]]:
        """Populations at the ends of inputs, by what the ends add to a population's id;
        none without a sensitivity replay."""
        found: dict[str, list[dict[str, Any]]] = self.provenance.get("sensitivity_populations", {})
        return found

    @property
    def population_weights(self) -> dict[Role, Mapping[str, float]]:
        """Weights by profile of the average and the slow population."""
        return weights_of(self.populations)


def check_weights(populations: Sequence[Mapping[str, Any]]) -> None:
    """Raise ReportError if the weights of a replay's population do not sum to 1."""
    for one in populations:
        total = math.fsum(one["weights"].values())
        if not math.isclose(total, 1, abs_tol=WEIGHTS_OFF):
            raise ReportError(
                f"the weights of the population {one['id']} in the replay sum to {total:.4g}, not to 1: its "
                "means would be of no population; mend the population and run `firstflight replay run` again"
            )


def weights_of(populations: Sequence[Mapping[str, Any]]) -> dict[Role, Mapping[str, float]]:
    """Weights by profile of an average and a slow population."""
    return {"slow" if one["slow"] else "average": one["weights"] for one in populations}


def chosen_replays(root: Path, release: Release, wanted: str | None) -> tuple[str | None, bool]:
    """The plan of the stages to read, if they decide, and whether the full replay is read.

    `wanted` is FULL, a plan, or a plan and BESIDE; None for all that there are,
    of those in stages the only one.
    """
    folder = root / str(release.manifest.crawl)
    plans = [*stages_folders(folder)]
    if wanted is None:
        if len(plans) > 1:
            raise ReportError(
                f"{folder.name} has several replays in stages ({', '.join(plans)}): choose one with --replay"
            )
        return (plans[0], folder.exists()) if plans else (None, True)
    if wanted == FULL:
        return None, True
    plan = wanted.removesuffix(BESIDE)
    if plan not in plans:
        found = [*([FULL] if folder.exists() else []), *plans]
        raise ReportError(
            f"{folder.name} has no replay in stages {plan}; it has: {', '.join(found) or 'none'}"
        )
    return plan, wanted.endswith(BESIDE)


def check_same_instrument(stages: Mapping[str, Any], full: Mapping[str, Any]) -> None:
    """Raise ReportError if the full replay was made with another kernel or player than
    the stages that it stands beside."""
    others = [
        words
        for name, words in INSTRUMENT.items()
        if name in full and name in stages and full[name] != stages[name]
    ]
    if others:
        raise ReportError(
            f"the full replay has another {' and '.join(others)} than the stages; replay again, or leave it "
            "out by naming the stages alone with --replay"
        )


def staged_replay(root: Path, release: Release, plan: str, rule: Rule) -> StagedReplay:
    """Read the stages of a plan, which must be of this release and of `rule`."""
    folder = stages_folders(root / str(release.manifest.crawl))[plan]
    try:
        found = read_staged(folder, read_recipes(release), rule=rule)
    except StageError as exc:
        raise ReportError(str(exc)) from exc
    if found.provenance.get("release", {}).get("checksum") != release.checksum:
        raise ReportError(
            f"the stages in {folder} were made from another version of the release; replay again"
        )
    return found


def full_replay(root: Path, release: Release, allowed_signers: Path) -> Replay:
    """Read the full replay of a release once its checksums and signature hold."""
    name = str(release.manifest.crawl)
    again = f"run `firstflight replay run --crawl {name}`"
    folder = root / name
    if not (folder / "cells.parquet").is_file() or not (folder / "replay.json").is_file():
        raise ReportError(
            f"the pages of {name} are not replayed; {again}, or build the report with --without-replay"
        )
    if broken := faults(folder, allowed_signers):
        raise ReportError(f"the replay in {folder} is damaged ({', '.join(broken)}); {again}")
    try:
        cells = read_cells(folder)
        provenance = json.loads((folder / "replay.json").read_text(encoding="utf-8"))
    except (pa.ArrowInvalid, json.JSONDecodeError, UnicodeDecodeError) as exc:
        raise ReportError(f"the replay in {folder} cannot be read; {again}") from exc
    lacking = set(CELL.names) - set(cells.column_names)
    if lacking or not isinstance(provenance, dict):
        raise ReportError(f"the replay in {folder} is of another version; {again}")
    if provenance.get("release", {}).get("checksum") != release.checksum:
        raise ReportError(f"the replay of {name} was made from another version of the release; {again}")
    if not cells.num_rows:
        raise ReportError(f"the replay of {name} has no cell; {again}")
    return Replay(cells.select(CELL.names), provenance, checksum_of(folder))

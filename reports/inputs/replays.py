"""The replay of a release's pages that a report reads: a decision in stages, or all pairs at once."""

import collections
import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from releases.catalogue import Release
from replay.errors import ReplayError
from replay.runs.replay_folder import read_cells
from storage.signatures import find_faults
from storage.sums import checksum_of
from verdict.replayed import Replayed, of_pairs, of_stages
from verdict.rule import RULE_VERSION
from verdict.stages import read_stages, stage_places

WEIGHTS_OFF = 1e-6
"""Largest distance of the sum of a population's weights from 1, which rounding explains."""

FULL = "full"
"""Names the replay of every page over every network, in place of a decision's eight characters."""


class ReportError(Exception):
    """A report cannot be built; the message names the command that helps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """Loads by stage, with what each stage says of itself; all pairs at once are one stage."""

    loads: tuple[pa.Table, ...]
    facts: tuple[Mapping[str, Any], ...]
    """stage.json of each stage, or replay.json."""
    checksum: str
    name: str
    """Eight characters of a decision, or FULL."""

    @property
    def is_staged(self) -> bool:
        """True for a decision in stages."""
        return self.name != FULL

    @functools.cached_property
    def provenance(self) -> dict[str, Any]:
        """Everything that the loads depend on, with calibration checks, failures and times of all stages."""
        if not self.is_staged:
            return dict(self.facts[0])
        times = [time for table in self.loads for time in table["page_ms"].to_pylist() if time is not None]
        return {
            **self.facts[0]["plan"],
            "commits": sorted({stage["plan"]["commit"] for stage in self.facts}),
            "gates": [gate for stage in self.facts for gate in stage.get("gates", ())],
            "failures": [failure for stage in self.facts for failure in stage.get("failures", ())],
            "core_s": round(math.fsum(stage["core_s"] for stage in self.facts), 3),
            "virtual_s": round(math.fsum(times) / 1e3, 3),
        }

    @property
    def populations(self) -> Sequence[Mapping[str, Any]]:
        """Populations of networks that were not drawn anew; none of a decision."""
        populations: Sequence[Mapping[str, Any]] = (
            () if self.is_staged else self.facts[0].get("populations", ())
        )
        return populations

    @functools.cached_property
    def replayed(self) -> Replayed:
        """The loads as the rule takes them; raises ReportError."""
        if self.is_staged:
            return of_stages(self.loads, self.facts)
        replayed = of_pairs(self.loads[0], self.populations)
        if not len(replayed.looks[-1].evidence):
            raise ReportError(
                "the replay has no load under the default conditions; run `firstflight replay run` again"
            )
        return replayed


def check_populations(populations: Sequence[Mapping[str, Any]]) -> None:
    """Raise ReportError if a replay names no populations, or the weights of one do not sum to 1."""
    if sorted(population["slow"] for population in populations) != [False, True]:
        raise ReportError("the replay names no populations; run `firstflight replay run` again")
    for population in populations:
        total = math.fsum(population["weights"].values())
        if not math.isclose(total, 1, abs_tol=WEIGHTS_OFF):
            raise ReportError(
                f"the weights of the population {population['id']} in the replay sum to {total:.4g}, "
                "not to 1: its means would be of no population; mend the population and run "
                "`firstflight replay run` again"
            )


def decisions_of(root: Path, crawl: str) -> dict[str, Path]:
    """Return folders of the decisions over a crawl's pages that have a whole stage, by their eight
    characters."""
    return {
        path.name.rpartition(".")[2]: path
        for path in sorted(root.glob(f"{crawl}.????????"))
        if (path / "stage-01").exists()
    }


def choose_replay(
    replays: Path, decisions: Path, release: Release, wanted: str | None, allowed_signers: Path
) -> Replay:
    """Return the replay that a report is of: FULL, or a decision by its eight characters; by default the only
    one.

    A decision comes before a full replay. Raises ReportError.
    """
    crawl = str(release.manifest.crawl)
    known = decisions_of(decisions, crawl)
    if wanted == FULL or (wanted is None and not known):
        return full_replay(replays, release, allowed_signers)
    if wanted is None and len(known) > 1:
        raise ReportError(
            f"{crawl} has {len(known)} decisions ({', '.join(known)}); choose one with --replay"
        )
    name = wanted or next(iter(known))
    if name not in known:
        raise ReportError(f"{crawl} has no decision {name!r}; there are: {', '.join(known) or 'none'}")
    return decision(known[name], release)


def decision(folder: Path, release: Release) -> Replay:
    """Read a decision's stages, which must be of this release and of this code's rule."""
    try:
        tables, facts = read_stages(folder)
    except ReplayError as exc:
        raise ReportError(str(exc)) from exc
    plan = facts[0]["plan"]
    if plan["rule_version"] != RULE_VERSION:
        raise ReportError(
            f"the stages in {folder} are of version {plan['rule_version']} of the rule, and reports are of "
            f"{RULE_VERSION}: decide by that, or choose another decision with --replay"
        )
    _check_release(plan, release, str(folder))
    sums = "\n".join(map(checksum_of, stage_places(folder)))
    return Replay(
        loads=tuple(tables),
        facts=tuple(
            {**stage, "gates": drop_unmade_checks(stage["gates"])} if "gates" in stage else stage
            for stage in facts
        ),
        checksum=hashlib.sha256(sums.encode()).hexdigest(),
        name=folder.name.rpartition(".")[2],
    )


def drop_unmade_checks(checks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the checks without those of networks that a guest which ended early left to another, before any
    flight.

    >>> left = {"guest": 1, "profile": "a", "name": "IW 10 from host 2: flight arrived", "passed": False}
    >>> drop_unmade_checks([left, {"guest": 2, "profile": "a", "name": "IW 10", "passed": True}])
    [{'guest': 2, 'profile': 'a', 'name': 'IW 10', 'passed': True}]
    """
    arrived = [
        check for check in checks if check["name"].startswith("IW") and "flight arrived" not in check["name"]
    ]
    begun = {(check["profile"], check["guest"]) for check in arrived}
    guests = collections.Counter(profile for profile, _ in begun)
    return [
        check
        for check in checks
        if "flight arrived" not in check["name"]
        or (check["profile"], check["guest"]) in begun
        or not guests[check["profile"]]
    ]


def full_replay(root: Path, release: Release, allowed_signers: Path) -> Replay:
    """Read the full replay of a release once its checksums and signature hold."""
    name = str(release.manifest.crawl)
    again = f"run `firstflight replay run edition --set pages={name}`"
    folder = root / name
    if not (folder / "cells.parquet").is_file() or not (folder / "replay.json").is_file():
        raise ReportError(
            f"the pages of {name} are not replayed; {again}, or build the report with --without-replay"
        )
    if broken := find_faults(folder, allowed_signers):
        raise ReportError(f"the replay in {folder} is damaged ({', '.join(broken)}); {again}")
    try:
        cells = read_cells(folder)
        facts = json.loads((folder / "replay.json").read_text(encoding="utf-8"))
    except ReplayError as exc:
        raise ReportError(f"{exc}; {again}") from exc
    except (pa.ArrowInvalid, json.JSONDecodeError, UnicodeDecodeError) as exc:
        raise ReportError(f"the replay in {folder} cannot be read; {again}") from exc
    if not isinstance(facts, dict):
        raise ReportError(f"the replay in {folder} cannot be read; {again}")
    _check_release(facts, release, str(folder))
    check_populations(facts.get("populations", ()))
    if not cells.num_rows:
        raise ReportError(f"the replay of {name} has no cell; {again}")
    return Replay(loads=(cells,), facts=(facts,), checksum=checksum_of(folder), name=FULL)


def _check_release(facts: Mapping[str, Any], release: Release, where: str) -> None:
    if facts.get("release", {}).get("checksum") != release.checksum:
        raise ReportError(f"the loads in {where} were made from another version of the release; replay again")

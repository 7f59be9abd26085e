"""The replay of a release's pages that a report reads, from its stages."""

import collections
import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from releases.catalogue import Release
from replay.errors import ReplayError
from storage.signatures import find_faults
from storage.sums import checksum_of
from verdict.replayed import Replayed, of_stages
from verdict.rule import RULE_VERSION
from verdict.stages import read_stages, stage_name, stage_places

WEIGHTS_OFF = 1e-6
"""Largest distance of the sum of a population's weights from 1, which rounding explains."""


class ReportError(Exception):
    """A report cannot be built; the message names the command that helps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """Loads by stage, with what each stage says of itself."""

    loads: tuple[pa.Table, ...]
    facts: tuple[Mapping[str, Any], ...]
    """stage.json of each stage."""
    checksum: str
    name: str
    """Eight characters by what was asked."""

    @functools.cached_property
    def provenance(self) -> dict[str, Any]:
        """Everything that the loads depend on, with calibration checks, failures and times of all stages."""
        times = [time for table in self.loads for time in table["page_ms"].to_pylist() if time is not None]
        return {
            **self.facts[0]["plan"],
            "commits": sorted({stage["plan"]["commit"] for stage in self.facts}),
            "gates": [gate for stage in self.facts for gate in stage.get("gates", ())],
            "failures": [failure for stage in self.facts for failure in stage.get("failures", ())],
            "core_s": round(math.fsum(stage.get("core_s", 0.0) for stage in self.facts), 3),
            "virtual_s": round(math.fsum(times) / 1e3, 3),
        }

    @property
    def populations(self) -> Sequence[Mapping[str, Any]]:
        """Populations of networks that were not drawn anew; none of a decision."""
        populations: Sequence[Mapping[str, Any]] = self.facts[0]["plan"].get("populations", ())
        return populations

    @functools.cached_property
    def replayed(self) -> Replayed:
        """The loads as the rule takes them; raises ReportError."""
        replayed = of_stages(self.loads, self.facts)
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


def replays_of(root: Path, crawl: str) -> dict[str, Path]:
    """Return folders of the replays of a crawl's pages that have a whole stage, by their eight characters."""
    return {
        path.name.rpartition(".")[2]: path
        for path in sorted(root.glob(f"{crawl}.????????"))
        if (path / stage_name(1)).exists()
    }


def choose_replay(root: Path, release: Release, wanted: str | None, allowed_signers: Path) -> Replay:
    """Return the replay that a report is of, by its eight characters; by default the only one.

    Raises ReportError.
    """
    crawl = str(release.manifest.crawl)
    known = replays_of(root, crawl)
    if not known:
        raise ReportError(
            f"the pages of {crawl} are not replayed; run `firstflight replay run edition --set "
            f"pages={crawl}`, or build the report with --without-replay"
        )
    if wanted is None and len(known) > 1:
        raise ReportError(f"{crawl} has {len(known)} replays ({', '.join(known)}); choose one with --replay")
    name = wanted or next(iter(known))
    if name not in known:
        raise ReportError(f"{crawl} has no replay {name!r}; there are: {', '.join(known)}")
    return read_replay(known[name], release, allowed_signers)


def read_replay(folder: Path, release: Release, allowed_signers: Path) -> Replay:
    """Read a replay's stages once their checksums and signatures hold; they must be of this release and of
    this code's rule."""
    remedy = "remove it and all later stages, and run `firstflight replay run` again"
    places = stage_places(folder)
    for place in places:
        if broken := find_faults(place, allowed_signers):
            raise ReportError(f"the replay in {place} is damaged ({', '.join(broken)}); {remedy}")
    try:
        tables, facts = read_stages(folder)
        plan = facts[0]["plan"]
        rule_version, made_from = plan["rule_version"], plan["release"]["checksum"]
    except ReplayError as exc:
        raise ReportError(f"{exc}; {remedy}") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise ReportError(f"the replay in {folder} cannot be read; {remedy}") from exc
    if rule_version != RULE_VERSION:
        raise ReportError(
            f"the stages in {folder} are of version {rule_version} of the rule, and reports are of "
            f"{RULE_VERSION}: decide by that, or choose another replay with --replay"
        )
    if made_from != release.checksum:
        raise ReportError(
            f"the loads in {folder} were made from another version of the release; replay again"
        )
    if "stage" not in plan:
        check_populations(plan.get("populations", ()))
    if not sum(map(len, tables)):
        raise ReportError(f"the replay in {folder} has no cell; {remedy}")
    return Replay(
        loads=tuple(tables),
        facts=tuple(
            {**stage, "gates": drop_unmade_checks(stage["gates"])} if "gates" in stage else stage
            for stage in facts
        ),
        checksum=hashlib.sha256("\n".join(map(checksum_of, places)).encode()).hexdigest(),
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

"""The replay of a release's pages that a report reads, and those of other lists that are to confirm it."""

import collections
import functools
import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Required

import pyarrow as pa

from releases.catalogue import Release, find_release
from replay.errors import ReplayError
from replay.runs.facts import CheckFacts, FailureFacts, LoadedRelease, LoadsPlan, PopulationFacts, StageFacts
from storage.signatures import find_faults
from storage.sums import checksum_of
from verdict.replayed import PolicyReplayed, policies_of_stages
from verdict.rule import VERSION as RULE_VERSION
from verdict.stages import read_facts, read_stages, stage_name, stage_places

WEIGHTS_OFF = 1e-6
"""Largest distance of a sum of weights from 1, for rounding."""

REMEDY = "remove it and all later stages, and run `firstflight replay run` again"


class ReportError(Exception):
    """A report cannot be built."""


class LoadsProvenance(LoadsPlan, total=False):
    """Everything that the loads of all stages depend on; the plan is that of the first."""

    commits: Required[list[str]]
    gates: Required[list[CheckFacts]]
    failures: Required[list[FailureFacts]]
    core_s: Required[float]
    virtual_s: Required[float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """Loads by stage, with what each stage says of itself."""

    loads: tuple[pa.Table, ...]
    facts: tuple[StageFacts, ...]
    checksum: str
    name: str
    confirming: tuple["Replay", ...] = ()
    """Of other lists of pages that are to confirm it; one a crawl."""

    @property
    def crawl(self) -> str:
        return self.facts[0]["plan"]["release"]["crawl"]

    @functools.cached_property
    def provenance(self) -> LoadsProvenance:
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
    def populations(self) -> Sequence[PopulationFacts]:
        """Networks that were not drawn anew."""
        return self.facts[0]["plan"].get("populations", ())

    @functools.cached_property
    def replayed(self) -> PolicyReplayed:
        replayed = policies_of_stages(self.loads, self.facts)
        if not len(replayed.pages.looks[-1].evidence):
            raise ReportError(
                "the replay has no load under the default conditions; run `firstflight replay run` again"
            )
        return replayed


def check_populations(populations: Sequence[PopulationFacts]) -> None:
    """Raise ReportError without populations, or if weights do not sum to 1."""
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


def choose_replay(
    root: Path, releases: Path, release: Release, wanted: Sequence[str], allowed_signers: Path
) -> Replay:
    """Return the replay that a report is of, with those that are to confirm it; ReportError.

    Of several over one crawl, `wanted` has the eight characters of the one to take.
    """
    crawl, main, confirming = str(release.manifest.crawl), dict[str, Path](), dict[str, dict[str, Path]]()
    own = {"crawl": crawl, "version": release.version, "checksum": release.checksum}
    for folder in sorted(root.glob("*.????????")):
        of_crawl, _, name = folder.name.rpartition(".")
        if not (folder / stage_name(1)).exists():
            continue
        if of_crawl != crawl:
            if _confirmed_by(folder) == own:
                confirming.setdefault(of_crawl, {})[name] = folder
        elif not _is_confirming(folder):
            main[name] = folder
    if unknown := [name for name in wanted if name not in {*main, *itertools.chain(*confirming.values())}]:
        raise ReportError(f"{crawl} has no replay {unknown[0]!r}; there are: {', '.join(main) or 'none'}")
    if not main:
        raise ReportError(
            f"the pages of {crawl} are not replayed; run `firstflight replay run edition --set "
            f"pages={crawl}`, or build the report with --without-replay"
        )
    replay = read_replay(_choose(crawl, main, wanted), release, allowed_signers)
    others = [
        read_replay(_choose(other, folders, wanted), find_release(releases, other), allowed_signers)
        for other, folders in confirming.items()
    ]
    return replace(replay, confirming=tuple(others))


def _confirmed_by(folder: Path) -> LoadedRelease | None:
    """Return the release whose answer a replay is to confirm; ReportError if its first stage is damaged."""
    place = folder / stage_name(1)
    try:
        return read_facts(place)["plan"].get("confirms")
    except (ReplayError, ValueError, LookupError, TypeError, AttributeError) as exc:
        raise ReportError(f"{place} may confirm the answer, and is damaged: {REMEDY}") from exc


def _is_confirming(folder: Path) -> bool:
    """Return whether a replay is to confirm others; a damaged one is refused when it is read."""
    try:
        return _confirmed_by(folder) is not None
    except ReportError:
        return False


def _choose(crawl: str, known: Mapping[str, Path], wanted: Sequence[str]) -> Path:
    chosen = [name for name in known if name in wanted] or [*known]
    if len(chosen) > 1:
        raise ReportError(f"{crawl} has {len(known)} replays ({', '.join(known)}); choose one with --replay")
    return known[chosen[0]]


def read_replay(folder: Path, release: Release, allowed_signers: Path) -> Replay:
    """Read a replay of this release and this code's rule, once checksums and signatures hold."""
    places = stage_places(folder)
    for place in places:
        if broken := find_faults(place, allowed_signers):
            raise ReportError(f"the replay in {place} is damaged ({', '.join(broken)}); {REMEDY}")
    try:
        tables, facts = read_stages(folder)
        plan = facts[0]["plan"]
        rule_version, made_from = plan["rule_version"], plan["release"]["checksum"]
    except ReplayError as exc:
        raise ReportError(f"{exc}; {REMEDY}") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise ReportError(f"the replay in {folder} cannot be read; {REMEDY}") from exc
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
        raise ReportError(f"the replay in {folder} has no cell; {REMEDY}")
    return Replay(
        loads=tuple(tables),
        facts=tuple(
            {**stage, "gates": drop_unmade_checks(stage["gates"])} if "gates" in stage else stage
            for stage in facts
        ),
        checksum=hashlib.sha256("\n".join(map(checksum_of, places)).encode()).hexdigest(),
        name=folder.name.rpartition(".")[2],
    )


def drop_unmade_checks(checks: Sequence[CheckFacts]) -> list[CheckFacts]:
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

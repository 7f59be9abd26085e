"""Inputs of a report: a release of the year and the replay of its pages, read and checked to belong together."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from releases.catalogue import Damaged, Release, Withdrawn, listed, months_with_release
from replay.recipes.page_recipe import read_recipes
from replay.runs.replay_folder import read_cells
from reports.backcast.stored import INSTRUMENT, Standing, standing
from reports.decision.stored_problem import StagedReplay, read_staged
from reports.decision.stored_stages import StageError, stages_folders
from reports.document.earlier_ledgers import ledgers_of
from reports.recommendation.rule import RULE, Role, Rule
from schema.computed_tables import CELL
from schema.crawls import CrawlName
from schema.recorded import RECORDED
from storage.report_versions import CONTENT, newest_version, report_versions
from storage.signatures import faults
from storage.sums import MANIFEST, checksum_of

WEIGHTS_OFF = 1e-6
"""Largest distance of the sum of a population's weights from 1, which rounding explains."""

FULL = "full"
"""Names the replay of every page over every network, in place of the plan of one in stages."""


class ReportError(Exception):
    """A report cannot be built; the message names the command that helps."""


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
        """The average and the slow population that the replay was made for; raises ReportError if they lack."""
        found: list[dict[str, Any]] = self.provenance.get("populations", [])
        if sorted(one["slow"] for one in found) != [False, True]:
            raise ReportError("the replay names no populations; run `firstflight replay run` again")
        return found

    @property
    def own_cells(self) -> pa.Table:
        """The cells but those over the networks of other populations, which only the ledger takes."""
        others = [
            name for some in self.sensitivity_populations.values() for one in some for name in one["weights"]
        ]
        return self.cells.filter(~pc.field("profile").isin(pa.array(sorted(set(others)), pa.string())))

    @property
    def sensitivity_populations(self) -> dict[str, list[dict[str, Any]]]:
        """Populations at the ends of inputs, by what the ends add to a population's id; none without a sensitivity replay."""
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
                f"the weights of the population {one['id']} in the replay sum to {total:.4g}, not to 1: its means would be of no population; "
                "mend the population and run `firstflight replay run` again"
            )


def weights_of(populations: Sequence[Mapping[str, Any]]) -> dict[Role, Mapping[str, float]]:
    """Weights by profile of an average and a slow population."""
    return {"slow" if one["slow"] else "average": one["weights"] for one in populations}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportInputs:
    """Everything that a report reads."""

    year: int
    release: Release
    year_before: Release | None
    """The release of twelve months earlier that differs in nothing else; None if there is none."""
    months: tuple[str, ...]
    """Months of the release's year that have a release of the same kind."""
    replay: Replay | None
    """None for a report without a replay, or with one in stages."""
    staged: StagedReplay | None
    """The replay in stages that decides, if the report is of one."""
    instrument: Standing
    """What the stored back-cast says of the replay's kernel, player and rule."""
    last_years_iw: int | None
    """The window that last year's report recommends; None without one in force, or if it is illustrative, of recorded pages, or not allowed to say."""
    earlier_ledgers: tuple[dict[str, Any], ...]
    """What turned the answer of each earlier edition, as last year's report keeps it, with the year; empty without one."""
    last_years_checksum: str | None
    """Checksum of last year's report; None if there is none."""


def read_inputs(
    *,
    releases_dir: Path,
    replays_dir: Path,
    reports_dir: Path,
    year: int,
    crawl: str | None,
    with_replay: bool,
    allowed_signers: Path,
    backcast: Path,
    which: str | None = None,
    release_version: int | None = None,
    year_before: int | Literal["newest"] | None = "newest",
    rule: Rule = RULE,
) -> ReportInputs:
    """Find and read the inputs once their checksums and signatures hold; raises ReportError.

    `which` replay: FULL, or the plan of one in stages; by default the only one that there is. `backcast` is the folder of
    the back-cast that the instrument is judged by. `release_version` is the newest by default; `year_before` is the version of the release
    of twelve months earlier that sizes are compared with, or None for no comparison. Stages must be of `rule`.
    """
    release = _release(releases_dir, year, crawl, release_version, allowed_signers)
    last_year = newest_version(report_versions(reports_dir / str(year - 1)))
    chosen = _which(replays_dir, release, which) if with_replay else None
    staged = _staged(replays_dir, release, chosen, rule) if chosen not in (None, FULL) else None
    replay = _replay(replays_dir, release, allowed_signers) if chosen == FULL else None
    made = staged or replay
    if made:
        check_weights(made.provenance.get("populations", []))
    return ReportInputs(
        year=year,
        release=release,
        months=months_with_release(releases_dir, release.crawl),
        year_before=_year_before(releases_dir, release.crawl, year_before, allowed_signers),
        replay=replay,
        staged=staged,
        instrument=standing(backcast, of=made.provenance if made else dict.fromkeys(INSTRUMENT)),
        last_years_iw=_last_years_iw(last_year.folder, allowed_signers) if last_year else None,
        earlier_ledgers=ledgers_of(last_year.folder) if last_year else (),
        last_years_checksum=checksum_of(last_year.folder) if last_year else None,
    )


def _release(root: Path, year: int, crawl: str | None, version: int | None, allowed_signers: Path) -> Release:
    """A version (the newest, if it is None) of the year's newest release, or of the release whose crawl's name begins with `crawl`.

    Recorded pages may be of an earlier year, if they are named: somebody else chose the day. A damaged release is an error. An older release would silently give another report.
    """
    found = [
        one
        for one in listed(root)
        if not isinstance(one, Withdrawn)
        and (crawl is None or one.crawl.is_named(crawl))
        and _is_of_year(one.crawl, year, is_named=crawl is not None)
        and version in (None, one.version)
    ]
    if not found:
        which = f"of crawl {crawl} in {year}" if crawl else f"of {year}"
        raise ReportError(
            f"there is no release {which} in {root}; make one with `firstflight release build --crawl {crawl or f'{year}-MM'}`"
        )
    newest = max(one.crawl.month for one in found)
    names = sorted({str(one.crawl) for one in found if one.crawl.month == newest})
    if len(names) > 1:
        raise ReportError(f"{newest} has {len(names)} releases ({', '.join(names)}); choose one with --crawl")
    release = max((one for one in found if str(one.crawl) == names[0]), key=lambda one: one.version)
    broken = [MANIFEST] if isinstance(release, Damaged) else faults(release.path, allowed_signers)
    if broken or isinstance(release, Damaged):
        raise ReportError(
            f"the release of {names[0]} is damaged ({', '.join(broken)}); restore it from a copy, or move it away and "
            f"build it again with `firstflight release build --crawl {names[0]}`"
        )
    return release


def _year_before(
    root: Path, crawl: CrawlName, version: int | Literal["newest"] | None, allowed_signers: Path
) -> Release | None:
    """The release of twelve months earlier; None if there is none, or none is asked for."""
    wanted = crawl.year_before
    found = [
        one
        for one in listed(root)
        if one.crawl == wanted and not isinstance(one, Withdrawn) and version in ("newest", one.version)
    ]
    if not found:
        return None
    release = max(found, key=lambda one: one.version)
    broken = [MANIFEST] if isinstance(release, Damaged) else faults(release.path, allowed_signers)
    if broken or isinstance(release, Damaged):
        raise ReportError(
            f"the release of {wanted}, which sizes are compared with, is damaged ({', '.join(broken)}); restore it from a copy, "
            "or move it away to do without"
        )
    return release


def _is_of_year(crawl: CrawlName, year: int, *, is_named: bool) -> bool:
    made = int(crawl.month[:4])
    return made == year or (is_named and crawl.kind == RECORDED and made < year)


def _which(root: Path, release: Release, wanted: str | None) -> str:
    """FULL, or the plan of the replay in stages to read."""
    folder = root / str(release.manifest.crawl)
    found = [*([FULL] if folder.exists() else []), *stages_folders(folder)]
    if wanted is None and len(found) > 1:
        raise ReportError(f"{folder.name} has several replays ({', '.join(found)}): choose one with --replay")
    if wanted is not None and wanted != FULL and wanted not in found:
        raise ReportError(
            f"{folder.name} has no replay in stages {wanted}; it has: {', '.join(found) or 'none'}"
        )
    return wanted or (found[0] if found else FULL)


def _staged(root: Path, release: Release, plan: str | None, rule: Rule) -> StagedReplay:
    folder = stages_folders(root / str(release.manifest.crawl))[str(plan)]
    try:
        found = read_staged(folder, read_recipes(release), rule=rule)
    except StageError as exc:
        raise ReportError(str(exc)) from exc
    if found.provenance.get("release", {}).get("checksum") != release.checksum:
        raise ReportError(
            f"the stages in {folder} were made from another version of the release; replay again"
        )
    return found


def _replay(root: Path, release: Release, allowed_signers: Path) -> Replay:
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


def _last_years_iw(folder: Path, allowed_signers: Path) -> int | None:
    """The window that last year's report leaves in force; None if it is illustrative, of recorded pages, or not allowed to say."""
    path = folder / CONTENT
    if broken := faults(folder, allowed_signers):
        raise ReportError(
            f"last year's report {folder} is damaged ({', '.join(broken)}); restore it from a copy, or withdraw it"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["is_illustrative"] or content.get("recorded_pages"):
            return None
        if content.get("answer", {}).get("kind") == "not allowed":
            return None
        recommendation = content["recommendation"]
        return None if recommendation is None else int(recommendation["iw_in_force"])
    except (OSError, KeyError, TypeError, ValueError) as exc:
        raise ReportError(
            f"last year's report {path} cannot be read; restore it from a copy, or withdraw it"
        ) from exc

"""Inputs of a report: a release of the year and the replay of its pages,
read and checked to belong together."""

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal

from releases.catalogue import Damaged, Release, Withdrawn, listed, months_with_release
from replay.runs.initial_window import window_of
from reports.backcast.stored import INSTRUMENT, Standing, standing
from reports.decision.stored_problem import StagedReplay
from reports.inputs.errors import ReportError
from reports.inputs.replays import (
    Replay,
    check_same_instrument,
    check_weights,
    chosen_replays,
    full_replay,
    staged_replay,
)
from reports.recommendation.rule import RULE, Rule
from schema.crawls import CrawlName
from schema.recorded import RECORDED, is_recorded
from storage.report_versions import CONTENT, newest_version, report_versions
from storage.signatures import faults
from storage.sums import MANIFEST, checksum_of


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
    """The full replay: it decides, or stands beside stages that do. None if the report has none."""
    staged: StagedReplay | None
    """The replay in stages that decides, if the report is of one."""
    instrument: Standing
    """What the stored back-cast says of the replay's kernel, player and rule."""
    last_years_iw: int | None
    """The window that last year's report recommends; None without one in force, or if it is illustrative, of
    recorded pages, or not allowed to say."""
    earlier_ledgers: tuple[dict[str, Any], ...]
    """What turned the answer of each earlier edition, as last year's report keeps it, with the year;
    empty without one."""
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

    `which` replay: FULL, the plan of one in stages, or that plan and BESIDE; by default all that there are,
    of those in stages the only one. `backcast` is the folder of the back-cast that the instrument is judged
    by. `release_version` is the newest by default; `year_before` is the version of the release of twelve
    months earlier that sizes are compared with, or None for no comparison. Stages must be of `rule`.
    """
    release = _release(releases_dir, year, crawl, release_version, allowed_signers)
    last_year = newest_version(report_versions(reports_dir / str(year - 1)))
    plan, has_full = chosen_replays(replays_dir, release, which) if with_replay else (None, False)
    staged = staged_replay(replays_dir, release, plan, rule) if plan else None
    replay = full_replay(replays_dir, release, allowed_signers) if has_full else None
    made = staged or replay
    for one in (staged, replay):
        check_weights(one.provenance.get("populations", []) if one else [])
    if staged and replay:
        check_same_instrument(staged.provenance, replay.provenance)
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
    """A version (the newest, if it is None) of the year's newest release,
    or of the release whose crawl's name begins with `crawl`.

    Recorded pages may be of an earlier year, if they are named: somebody else chose the day. A damaged
    release is an error. An older release would silently give another report.
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
        how = f"firstflight release build --crawl {crawl or f'{year}-MM'}"
        if crawl is not None and is_recorded(crawl.rpartition(".")[2]):
            how = "firstflight import pages"
        raise ReportError(f"there is no release {which} in {root}; make one with `{how}`")
    newest = max(one.crawl.month for one in found)
    names = sorted({str(one.crawl) for one in found if one.crawl.month == newest})
    if len(names) > 1:
        raise ReportError(f"{newest} has {len(names)} releases ({', '.join(names)}); choose one with --crawl")
    release = max((one for one in found if str(one.crawl) == names[0]), key=lambda one: one.version)
    broken = [MANIFEST] if isinstance(release, Damaged) else faults(release.path, allowed_signers)
    if broken or isinstance(release, Damaged):
        raise ReportError(
            f"the release of {names[0]} is damaged ({', '.join(broken)}); restore it from a copy, or move it "
            f"away and build it again with `firstflight release build --crawl {names[0]}`"
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
            f"the release of {wanted}, which sizes are compared with, is damaged ({', '.join(broken)}); "
            "restore it from a copy, or move it away to do without"
        )
    return release


def _is_of_year(crawl: CrawlName, year: int, *, is_named: bool) -> bool:
    made = int(crawl.month[:4])
    return made == year or (is_named and crawl.kind == RECORDED and made < year)


def _last_years_iw(folder: Path, allowed_signers: Path) -> int | None:
    """The window that last year's report leaves in force.

    None if it is illustrative, of recorded pages, or not allowed to say.
    """
    path = folder / CONTENT
    if broken := faults(folder, allowed_signers):
        raise ReportError(
            f"last year's report {folder} is damaged ({', '.join(broken)}); restore it from a copy, "
            "or withdraw it"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["is_illustrative"] or content["recorded_pages"]:
            return None
        if content["answer"]["kind"] == "not allowed":
            return None
        recommendation = content["recommendation"]
        return None if recommendation is None else window_of(str(recommendation["iw_in_force"]))
    except (OSError, KeyError, TypeError, ValueError) as exc:
        raise ReportError(
            f"last year's report {path} cannot be read; restore it from a copy, or withdraw it"
        ) from exc


def ledgers_of(folder: Path) -> tuple[dict[str, Any], ...]:
    """The entries that the report in `folder` keeps with their years, its own the last;
    its checksums must have been checked."""
    content = json.loads((folder / CONTENT).read_text(encoding="utf-8"))
    own = (
        {**entry, "year": content["year"], "is_illustrative": content["is_illustrative"]}
        for entry in content["ledger"] or ()
    )
    return (*content["earlier_ledgers"], *own)

"""Inputs of a report: a release of the year and the replay of its pages,
read and checked to belong together."""

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from recordings.pages.same_sites import are_joined, recorded_on
from recordings.pages.sets import SETS
from releases.catalogue import Damaged, Release, Withdrawn, iter_versions, months_with_release
from reports.inputs.carried import read_loads_of
from reports.inputs.replays import Replay, ReportError, choose_replay
from schema.crawls import CrawlName
from schema.recorded import RECORDED, is_recorded
from storage.report_versions import newest_version, report_versions
from storage.signatures import find_faults
from storage.sums import MANIFEST, checksum_of
from verdict.calibration import INSTRUMENT, BackCastFinding, read_finding


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of what a report is made from, and the file of allowed signers."""

    releases: Path
    replays: Path
    reports: Path
    backcast: Path
    allowed_signers: Path


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportInputs:
    """Everything that a report reads."""

    year: int
    release: Release
    year_before: Release | None
    """Twelve months earlier, with nothing else different."""
    other_years: tuple[Release, ...]
    """Earlier releases that may share sites: of twelve months earlier, and beside a set that comes with
    the code the other such sets.
    """
    months: tuple[str, ...]
    """Months of the year with a release of the kind."""
    replay: Replay | None
    back_cast: BackCastFinding
    last_years_checksum: str | None


def read_inputs(
    places: Places,
    *,
    year: int,
    crawl: str | None,
    with_replay: bool,
    which: Sequence[str] = (),
    carried: Path | tuple[Replay, BackCastFinding] | None = None,
    release_version: int | None = None,
    year_before: int | Literal["newest"] | None = "newest",
    other_sets: Collection[str] = SETS,
) -> ReportInputs:
    """Find and read the inputs once their checksums and signatures hold; ReportError.

    `which` has the eight characters of the replays to take where there are several. Loads that are
    `carried`, by the report in a folder or read from one, stand in place of replays and back-cast.
    `release_version` is the newest by default; `year_before` is the version of the release of twelve
    months earlier that sizes are compared with, or None for no comparison; `other_sets` are those of other
    years that may be compared with.
    """
    signers = places.allowed_signers
    release = _release(places.releases, year, crawl, release_version, signers)
    last_year = newest_version(report_versions(places.reports / str(year - 1)))
    replay: Replay | None
    if isinstance(carried, Path):
        carried = read_loads_of(carried, release, signers)
    if carried is not None:
        replay, back_cast = carried
    else:
        chosen = (places.replays, places.releases, release, which, signers)
        replay = choose_replay(*chosen) if with_replay else None
        back_cast = read_finding(
            places.backcast, of=replay.provenance if replay else dict.fromkeys(INSTRUMENT)
        )
    before = _year_before(places.releases, release.crawl, year_before, signers)
    sets = _other_sets(places.releases, release, other_sets, signers)
    is_listed = before is not None and before.crawl in {other.crawl for other in sets}
    return ReportInputs(
        year=year,
        release=release,
        months=months_with_release(places.releases, release.crawl),
        year_before=before,
        other_years=(*sets, *([before] if before and not is_listed else [])),
        replay=replay,
        back_cast=back_cast,
        last_years_checksum=checksum_of(last_year.folder) if last_year else None,
    )


def _release(root: Path, year: int, crawl: str | None, version: int | None, allowed_signers: Path) -> Release:
    """Return a version of the year's newest release, or of one whose crawl begins with `crawl`.

    Recorded pages may be of an earlier year, if they are named: somebody else chose the day. A damaged
    release is an error: an older one would silently give another report.
    """
    candidates = [
        release
        for release in iter_versions(root)
        if not isinstance(release, Withdrawn)
        and (crawl is None or release.crawl.is_named(crawl))
        and _is_of_year(release.crawl, year, is_named=crawl is not None)
        and version in (None, release.version)
    ]
    if not candidates:
        which = f"of crawl {crawl} in {year}" if crawl else f"of {year}"
        how = f"firstflight release build --crawl {crawl or f'{year}-MM'}"
        if crawl is not None and is_recorded(crawl.rpartition(".")[2]):
            how = "firstflight import pages"
        raise ReportError(f"there is no release {which} in {root}; make one with `{how}`")
    newest = max(candidate.crawl.month for candidate in candidates)
    names = sorted({str(candidate.crawl) for candidate in candidates if candidate.crawl.month == newest})
    if len(names) > 1:
        raise ReportError(f"{newest} has {len(names)} releases ({', '.join(names)}); choose one with --crawl")
    release = max(
        (candidate for candidate in candidates if str(candidate.crawl) == names[0]),
        key=lambda candidate: candidate.version,
    )
    return _sound(
        release,
        allowed_signers,
        what=f"the release of {names[0]}",
        otherwise=f"and build it again with `firstflight release build --crawl {names[0]}`",
    )


def _sound(release: Release | Damaged, allowed_signers: Path, *, what: str, otherwise: str) -> Release:
    broken = [MANIFEST] if isinstance(release, Damaged) else find_faults(release.path, allowed_signers)
    if broken or isinstance(release, Damaged):
        raise ReportError(
            f"{what} is damaged ({', '.join(broken)}); restore it from a copy, or move it away {otherwise}"
        )
    return release


def _year_before(
    root: Path, crawl: CrawlName, version: int | Literal["newest"] | None, allowed_signers: Path
) -> Release | None:
    """Return the release of twelve months earlier, if there is one and it is asked for."""
    wanted = crawl.year_before
    candidates = [
        candidate
        for candidate in iter_versions(root)
        if candidate.crawl == wanted
        and not isinstance(candidate, Withdrawn)
        and version in ("newest", candidate.version)
    ]
    if not candidates:
        return None
    return _sound(
        max(candidates, key=lambda candidate: candidate.version),
        allowed_signers,
        what=f"the release of {wanted}, which sizes are compared with,",
        otherwise="to do without",
    )


def _other_sets(
    root: Path, release: Release, wanted: Collection[str], allowed_signers: Path
) -> list[Release]:
    """Return earlier releases of the wanted sets, beside a set that comes with the code: the newest whole
    versions.
    """
    if release.manifest.list_id not in SETS:
        return []
    newest = {
        other.crawl: other
        for other in iter_versions(root)
        if isinstance(other, Release)
        and other.manifest.list_id in wanted
        and are_joined(other.manifest.list_id, release.manifest.list_id)
        and other.crawl.month < release.crawl.month
        and not find_faults(other.path, allowed_signers)
    }
    return sorted(newest.values(), key=recorded_on)


def _is_of_year(crawl: CrawlName, year: int, *, is_named: bool) -> bool:
    crawl_year = int(crawl.month[:4])
    return crawl_year == year or (is_named and crawl.kind == RECORDED and crawl_year < year)

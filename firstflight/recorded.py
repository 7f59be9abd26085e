"""Releases of what others recorded, in the data folder: of nameless pages, and of HAR files, logs of DevTools
events and NetLogs, one for each month of their recording."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firstflight.settings import Settings
from recordings.exchange import RecordingError
from recordings.pages.sets import AUGUST_2025, SETS, read_set
from recordings.release import Content, File, group_by_month
from releases.build import Built, name_in
from releases.catalogue import ReleaseError, find_release, releases
from releases.imported import write_imported
from schema.authors import Author
from schema.recorded import is_recorded


def write_content(
    settings: Settings,
    content: Content,
    *,
    version: int | None,
    reason: str | None,
    recorded_by: tuple[Author, ...] = (),
) -> Built:
    return write_imported(
        content.tables,
        content.recording,
        settings.releases,
        checksum=content.checksum,
        notes=content.notes,
        version=version,
        reason=reason,
        authors=settings.authors,
        recorded_by=recorded_by,
        signer=settings.signer,
    )


def import_pages(
    settings: Settings,
    folder: Path = SETS[AUGUST_2025],
    *,
    version: int | None = None,
    reason: str | None = None,
) -> Built:
    return write_pages(settings, read_set(folder), version=version, reason=reason)


def write_pages(
    settings: Settings, content: Content, *, version: int | None = None, reason: str | None = None
) -> Built:
    recorder = content.recording["recorder"]
    return write_content(
        settings,
        content,
        version=version,
        reason=reason,
        recorded_by=(Author(name=recorder),) if recorder else (),
    )


def import_once(settings: Settings, folder: Path = SETS[AUGUST_2025]) -> Built:
    """Make the release of a set unless one of this content and method is there.

    An older method's stays, with a new version beside it. RecordingError or ReleaseError.
    """
    content = read_set(folder)
    (crawl,) = content.tables["crawl"]
    imported = [
        release
        for release in releases(settings.releases)
        if is_recorded(release.crawl.kind) and release.manifest.list_id == crawl["list_id"]
    ]
    if not imported:
        return write_pages(settings, content)
    newest = find_release(settings.releases, str(imported[-1].crawl))
    before, method = newest.manifest.method_version, crawl["method_version"]
    if (newest.manifest.list_checksum, before) == (content.checksum, method):
        return Built(newest, is_new=False)
    reason = f"the recording or the method of its import changed: {before}, now {method}"
    return write_pages(settings, content, version=newest.version + 1, reason=reason)


def read_files(
    paths: Sequence[Path],
    read: Callable[[Path], File],
    *,
    strict: bool,
    progress: Callable[[], object] = lambda: None,
    refused: Callable[[str], object] = lambda _: None,
) -> list[File]:
    """Read the files that have a page; RecordingError if none has, or, with `strict`, one has not.

    `progress` is called after each file, `refused` with the reason for one that is left out.
    """
    files = []
    for path in paths:
        try:
            files.append(read(path))
        except RecordingError as exc:
            if strict or len(paths) == 1:
                raise
            refused(str(exc))
        progress()
    if not files:
        raise RecordingError("none of the files has a page that can be used")
    return files


def import_files(
    settings: Settings,
    files: Sequence[File],
    content_of: Callable[..., Content],
    *,
    stated: Mapping[str, str],
    version: int | None = None,
    reason: str | None = None,
    month: str | None = None,
) -> list[Built]:
    """Make a release of each month's files, as `content_of` has it.

    RecordingError or ReleaseError. `stated` has id, device, vantage, source and licence; `month` is for files
    without a date.
    """
    contents = []
    for recorded_in, group in group_by_month(files).items():
        if not recorded_in and month is None:
            raise RecordingError(f"{group[0].name} has no date: give the month of its recording by --month")
        contents.append(content_of(group, stated, month=recorded_in or month or ""))
    for content in contents:
        refuse_other_data(settings.releases, content)
    return [write_content(settings, content, version=version, reason=reason) for content in contents]


def refuse_other_data(root: Path, content: Content) -> None:
    """Raise ReleaseError if another data set has the name, which this one may not supersede."""
    (crawl,) = content.tables["crawl"]
    name = name_in(crawl)
    existing = next((release for release in releases(root) if release.crawl == name), None)
    if existing is not None and existing.manifest.list_id != crawl["list_id"]:
        raise ReleaseError(
            f"{name} is a release of the data set {existing.manifest.list_id}: "
            "give another --vantage or --device"
        )

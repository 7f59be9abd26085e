"""Releases of HAR files and logs of DevTools events: one for each month of their recording."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firstflight.settings import Settings
from recordings.errors import RecordingError
from recordings.files.observe import Content, by_month, observe, source_of
from recordings.files.reading import read_file
from releases.build import Built
from releases.catalogue import ReleaseError, releases
from releases.imported import name_in, write_imported
from schema.recorded_files import FILES


def import_files(
    settings: Settings,
    paths: Sequence[Path],
    kind: str,
    *,
    stated: Mapping[str, str],
    version: int | None = None,
    reason: str | None = None,
    month: str | None = None,
    progress: Callable[[], object] = lambda: None,
) -> list[Built]:
    """Make a release of the files of each month, after all of them were read.

    Raises RecordingError or ReleaseError. `stated` has id, device, vantage, source and licence of the data
    set. `month` is that of files that have no date. `progress` is called after each file.
    """
    files = []
    for path in paths:
        files.append(read_file(path, kind))
        progress()
    contents = []
    for found, group in by_month(files).items():
        if not found and month is None:
            raise RecordingError(f"{group[0].name} has no date: give the month of its recording by --month")
        contents.append(observe(group, source_of(group, stated, month=found or month or "")))
    for content in contents:
        refuse_other_data(settings.releases, content)
    return [
        write_imported(
            content.tables,
            content.recording,
            settings.releases,
            checksum=content.checksum,
            notes=FILES,
            version=version,
            reason=reason,
            authors=settings.authors,
            signer=settings.signer,
        )
        for content in contents
    ]


def refuse_other_data(root: Path, content: Content) -> None:
    """Raise ReleaseError if the release's name is taken by another data set,
    which no version of this one may supersede."""
    (crawl,) = content.tables["crawl"]
    name = name_in(crawl)
    there = next((one for one in releases(root) if one.crawl == name), None)
    if there is not None and there.manifest.list_id != crawl["list_id"]:
        raise ReleaseError(
            f"{name} is a release of the data set {there.manifest.list_id}: "
            "give another --vantage or --device"
        )

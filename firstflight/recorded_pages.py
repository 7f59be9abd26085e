"""Recorded pages in the data folder: imported once for each content and method."""

from pathlib import Path

from firstflight.settings import Settings
from recordings.pages.recording import BUNDLED, files_of, read_recording, read_source
from recordings.pages.rows import METHOD, content_of
from recordings.release import checksum
from releases.build import Built
from releases.catalogue import find_release, releases
from releases.imported import write_imported
from schema.authors import Author
from schema.recorded import is_recorded


def import_pages(
    settings: Settings, folder: Path = BUNDLED, *, version: int | None = None, reason: str | None = None
) -> Built:
    """Make the release of a folder's pages; raises RecordingError or ReleaseError."""
    recording = read_recording(folder)
    content, recorder = content_of(recording), recording.source.recorder
    return write_imported(
        content.tables,
        content.recording,
        settings.releases,
        checksum=content.checksum,
        version=version,
        reason=reason,
        authors=settings.authors,
        recorded_by=(Author(name=recorder),) if recorder else (),
        signer=settings.signer,
    )


def import_once(settings: Settings, folder: Path = BUNDLED) -> Built:
    """Make the release of a folder's pages unless there is one of this content and method.

    A release by an older method stays, and a new version is made beside it.
    Raises RecordingError or ReleaseError.
    """
    files = files_of(folder)
    source = read_source(folder, files)
    imported = [
        release
        for release in releases(settings.releases)
        if is_recorded(release.crawl.kind) and release.manifest.list_id == source.id
    ]
    if not imported:
        return import_pages(settings, folder)
    newest = find_release(settings.releases, str(imported[-1].crawl))
    if (newest.manifest.list_checksum, newest.manifest.method_version) == (checksum(files), METHOD):
        return Built(newest, is_new=False)
    reason = (
        f"the recording or the method of its import changed: {newest.manifest.method_version}, now {METHOD}"
    )
    return import_pages(settings, folder, version=newest.version + 1, reason=reason)

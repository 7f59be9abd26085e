"""Recorded pages in the data folder: imported once for each content and method."""

from pathlib import Path

from firstflight.settings import Settings
from recordings.pages.recording import BUNDLED, bundled_files, checksum_of, read_recording, read_source
from recordings.pages.rows import METHOD, content_of
from releases.build import Built
from releases.catalogue import Release, find_release, releases
from releases.imported import write_imported
from schema.authors import Author
from schema.recorded import is_recorded


def import_pages(
    settings: Settings,
    folder: Path = BUNDLED,
    *,
    version: int | None = None,
    reason: str | None = None,
) -> Built:
    """Make the release of a folder's pages; raises RecordingError or ReleaseError."""
    recording = read_recording(folder)
    found, recorder = content_of(recording), recording.source.recorder
    return write_imported(
        found.tables,
        found.recording,
        settings.releases,
        checksum=found.checksum,
        version=version,
        reason=reason,
        authors=settings.authors,
        recorded_by=(Author(name=recorder),) if recorder else (),
        signer=settings.signer,
    )


def bundled_release(settings: Settings) -> Release:
    """The release of the bundled pages, which is imported if there is none of this content and method.

    A release by an older method stays, and a new version is made beside it.
    Raises RecordingError or ReleaseError.
    """
    checksum, source = checksum_of(bundled_files()), read_source(BUNDLED, bundled_files())
    there = [
        release
        for release in releases(settings.releases)
        if is_recorded(release.crawl.kind) and release.manifest.list_id == source.id
    ]
    if not there:
        return import_pages(settings).release
    newest = find_release(settings.releases, str(there[-1].crawl))
    if (newest.manifest.list_checksum, newest.manifest.method_version) == (checksum, METHOD):
        return newest
    reason = (
        f"the recording or the method of its import changed: {newest.manifest.method_version}, now {METHOD}"
    )
    return import_pages(settings, version=newest.version + 1, reason=reason).release

"""Files as they lie on disk: of releases, whose bytes never change, and of reports."""

import hashlib
import os
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from api.parameters import CrawlPath, LibraryDep, YearPath
from schema.sums import sha256

router = APIRouter()

MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    "": "text/plain; charset=utf-8",
}
"""By suffix, whatever the machine's own tables say; anything else is sent as bytes."""

REPORT_POLICY = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""A report is one file with its styles and figures inside; it runs no script."""

VersionPath = Annotated[int, PathParameter(ge=1, description="version of the release")]


class StoredFile(FileResponse):
    """A file with a strong validator: 304 when the reader has it, Range, and no read of it for HEAD."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        known = Request(scope).headers.get("if-none-match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        if self.headers["etag"] in tags or "*" in tags:
            kept = {name: self.headers[name] for name in ("etag", "cache-control") if name in self.headers}
            await Response(status_code=304, headers=kept)(scope, receive, send)
            return
        await super().__call__({**scope, "method": scope.get("asked_method", "GET")}, receive, send)


def stored(path: Path, *, etag: str, **headers: str) -> StoredFile:
    """The answer that sends `path`."""
    media_type = MEDIA_TYPES.get(path.suffix, "application/octet-stream")
    return StoredFile(
        path,
        media_type=media_type,
        headers={"ETag": f'"{etag}"', **{name.replace("_", "-"): value for name, value in headers.items()}},
        stat_result=os.stat(path),  # noqa: PTH116  # what FileResponse takes
    )


@router.get("/releases/{crawl}/v{version}/{name}", name="release_file", response_class=Response)
def release_file(library: LibraryDep, crawl: CrawlPath, version: VersionPath, name: str) -> Response:
    """One file of a release. It never changes: a correction is a new version."""
    release = library.release(crawl, version=version)
    path = library.release_file(release, name)
    checksum = release.manifest.files.get(name) or sha256(path)
    return stored(
        path,
        etag=checksum,
        Cache_Control="public, max-age=31536000, immutable",
        Link=f'</releases/{release.manifest.crawl}/v{release.manifest.version}>; rel="cite-as"',
    )


@router.get("/reports/{year}", name="report", response_class=Response)
def report(library: LibraryDep, year: YearPath) -> Response:
    """The report of one year."""
    library.report_file(year, "index.html")
    # Links within the report are relative to its folder.
    return RedirectResponse(f"{year}/", status_code=308)


@router.get("/reports/{year}/{name:path}", name="report_file", response_class=Response)
def report_file(library: LibraryDep, year: YearPath, name: str) -> Response:
    """One file of a report: index.html where none is named, report.json, summary.txt, figures."""
    path = library.report_file(year, name or "index.html")
    stat = path.stat()
    etag = hashlib.sha256(f"{stat.st_mtime_ns}-{stat.st_size}".encode()).hexdigest()[:32]
    return stored(path, etag=etag, Content_Security_Policy=REPORT_POLICY)

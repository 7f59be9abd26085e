"""Published files, served from disk with their checksum as ETag."""

import json
import os
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from api.http.links import link, link_header, relate_help_with_csv
from api.http.problems import Problem
from api.kept_answers import ANY, is_known, not_modified
from api.routes.answers import FileAnswer
from api.routes.parameters import CrawlPath, FilePath, ShelfDep, VersionPath
from api.routes.provenance import relate_to_release
from api.service import Kept, service_of
from api.stored.shelf import Version, Volume
from releases.descriptions.croissant import CROISSANT, with_addresses

described = APIRouter(route_class=Kept)
router = APIRouter()
ROUTERS = (described, router)

MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".cff": "application/yaml",
    ".md": "text/markdown; charset=utf-8",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".pdf": "application/pdf",
    "": "text/plain; charset=utf-8",
}

A_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the file",
        "content": {
            media_type.partition(";")[0]: {}
            for media_type in ("application/octet-stream", *MEDIA_TYPES.values())
        },
    }
}

IMMUTABLE = "public, max-age=86400, immutable"
"""Published files never change; a withdrawn one stays in caches for a day."""


def file_answers(request: Request, volume: Volume, route: str, **named: object) -> list[FileAnswer]:
    """The files, by SHA256SUMS; `route` serves each."""
    return [
        FileAnswer(
            name=name,
            url=link(request, route, **named, name=name),
            bytes=(volume.path / name).stat().st_size,
            sha256=checksum,
        )
        for name, checksum in sorted(volume.files.items())
    ]


def release_files(request: Request, version: Version) -> list[FileAnswer]:
    return file_answers(request, version, "release_exact", **version.key)


class StoredFile(FileResponse):
    """A file with a strong ETag, for conditional requests and ranges; HEAD does not read it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        etag = self.headers["etag"]
        if is_known(scope, etag, ANY):
            await not_modified(etag, self.headers["cache-control"])(scope, receive, send)
            return
        method = scope.get("asked_method", "GET")
        headers = MutableHeaders(raw=list(scope["headers"]))
        if method == "HEAD" or _is_other_unit(headers.get("range", "")):
            del headers["range"]  # RFC 9110 §14.2: ignore it

        async def send_no_plain_error(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (400, 416):
                size = self.headers["content-length"]
                raise Problem(
                    "bad-range",
                    f"the file has {size} bytes: ask for a range within, as bytes=0-99",
                    headers={"Content-Range": f"bytes */{size}"},
                )
            await send(message)

        await super().__call__(
            {**scope, "method": method, "headers": headers.raw}, receive, send_no_plain_error
        )


def _is_other_unit(range_header: str) -> bool:
    """True if a Range header uses a unit other than bytes.

    >>> _is_other_unit("lines=1-2"), _is_other_unit("bytes=x"), _is_other_unit("nonsense")
    (True, False, False)
    """
    unit, equals, _ = range_header.partition("=")
    return bool(equals) and unit.strip().lower() != "bytes"


def send_file(request: Request, volume: Volume, name: str, **headers: str) -> StoredFile:
    path, checksum = service_of(request).releases.file(volume, name)
    if path.suffix == ".csv":
        relate_help_with_csv(request)
    return StoredFile(
        path,
        media_type=MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream"),
        headers={
            "ETag": f'"{checksum}"',
            "Link": link_header(request),
            **{header.replace("_", "-"): value for header, value in headers.items()},
        },
        stat_result=os.stat(path),  # noqa: PTH116  # what FileResponse takes
    )


@described.get(f"/releases/{{crawl}}/v{{version}}/{CROISSANT}", name="release_croissant")
def release_croissant(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath
) -> JSONResponse:
    """The Croissant description of a release with the addresses of its files, so that mlcroissant reads it
    by URL; the file itself, which names the files beside it, is below files/."""
    release_version = shelf.version(crawl, version)
    relate_to_release(request, release_version)
    path, _ = service_of(request).releases.file(release_version, CROISSANT)

    def address_of(name: str) -> str:
        is_here = name in release_version.files
        return link(request, "release_file", **release_version.key, name=name) if is_here else name

    try:
        return JSONResponse(with_addresses(json.loads(path.read_bytes()), address_of))
    except (OSError, ValueError, LookupError, TypeError) as exc:
        raise Problem("damaged-release", f"{CROISSANT} cannot be read") from exc


@router.get(
    "/releases/{crawl}/v{version}/files/{name}",
    name="release_exact",
    response_class=Response,
    responses=A_FILE,
)
@router.get(
    "/releases/{crawl}/v{version}/{name}", name="release_file", response_class=Response, responses=A_FILE
)
def release_file(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath, name: FilePath
) -> Response:
    """One file of a release, as SHA256SUMS lists it. It never changes: a correction is a new version."""
    release_version = shelf.version(crawl, version)
    if not release_version.files:
        release_version.readable  # noqa: B018  # raises the Problem that says why
    relate_to_release(request, release_version)
    return send_file(request, release_version, name, Cache_Control=IMMUTABLE)

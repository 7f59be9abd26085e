"""`/v1/sites`: all sites of a release as a table, to sort, to filter and to take away."""

import dataclasses
import json
import re
from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import urlsplit

import idna
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator, create_model

from api.explorer.strata import chosen_stratum
from api.formats.encoding import LINE, encoded
from api.formats.offered import CSV, FORMATS, JSON, NDJSON, AskedFormat, Format, get_in
from api.http.links import own_link, relate, relate_help_with_csv
from api.http.problems import Problem
from api.routes.answers import AnswerModel, Provenance
from api.routes.parameters import (
    DEFAULT_WINDOWS,
    NAME_WITH_VERSION,
    PAGE_ROWS,
    CrawlQuery,
    CursorQuery,
    MssQuery,
    OneWindowQuery,
    RowLimitQuery,
    ShelfDep,
    VersionQuery,
)
from api.routes.provenance import best_first, citation, provenance, relate_to_release, release_asked_for
from api.routes.strata import Asked
from api.routes.v1 import with_json
from api.rows.cursors import cursor_of, key_of
from api.rows.filters import row_fields
from api.rows.sites import SITE_ROW
from api.service import Kept, service_of
from api.stored.months import Variant
from api.stored.shelf import Shelf, Version
from releases.slow_start import MSS_FIG1

router = APIRouter(prefix="/v1", tags=["rows"], route_class=Kept)

PART = re.compile(r"[a-z0-9_.-]*[a-z0-9_][a-z0-9_.-]*")
"""Part of a host's name, as A-labels."""


def part_of_host(text: str) -> str:
    """The host, or the part of one, in a text such as a URL, in lower case and as A-labels.

    ValueError if there is none.

    >>> part_of_host("https://User@Bücher.Example.:8080/a?b"), part_of_host(" wiki ")
    ('xn--bcher-kva.example', 'wiki')
    """
    text = text.strip()
    try:
        parts = urlsplit(text if re.match("([A-Za-z][A-Za-z0-9+.-]*:)?//", text) else f"//{text}")
        host = (parts.hostname or "").removesuffix(".")
        host = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except ValueError:
        host = ""
    if not PART.fullmatch(host):
        raise ValueError("this is no host name and no part of one; give one such as example.com")
    return host


def spellings(host: str) -> list[str]:
    """A host, and the same with `www.` in front or without.

    >>> spellings("a.test"), spellings("www.a.test")
    (['a.test', 'www.a.test'], ['www.a.test', 'a.test'])
    """
    return [host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"]


PartQuery = Annotated[
    str,
    AfterValidator(lambda text: part_of_host(text) if text.strip() else ""),
    Query(
        max_length=300,
        description="part of the names of the sites, or a URL for its host; every site if omitted",
        examples=["example"],
    ),
]


def known_sort(text: str) -> str:
    """A column, perhaps after a minus; ValueError if the table has none of that name."""
    if text.removeprefix("-") not in SITE_ROW.names:
        raise ValueError(f"no column {text!r}; there are {', '.join(SITE_ROW.names)}")
    return text


SortQuery = Annotated[
    str,
    AfterValidator(known_sort),
    Query(
        max_length=100,
        description="column to sort by, after a minus from the largest; unknown values come last",
        json_schema_extra={"pattern": f"^-?({'|'.join(SITE_ROW.names)})$"},
        examples=["share"],
    ),
]
BeforeQuery = Annotated[
    str | None,
    Query(
        max_length=200,
        description="release to compare with, as the crawl's whole name with a version; the month before "
        "of the same series if omitted",
        json_schema_extra=NAME_WITH_VERSION,
        examples=["2026-10.desktop.local.tcp.web/v1"],
    ),
]


LeastQuery = Annotated[
    int,
    Query(
        ge=0,
        le=1_000_000,
        description="least number of responses of known size that a site has: a share of few says little",
        examples=[10],
    ),
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SitesAsked:
    """The table of sites that a request asks for."""

    version: Version
    before: Version | None
    stratum: Asked
    iw: int
    mss: int
    part: str
    least: int
    """Least number of responses of known size."""
    sort: str
    cursor: str | None

    @property
    def query(self) -> dict[str, str | int]:
        """The choice as parameters of an address that later releases do not change; without the cursor."""
        chosen = {"iw": self.iw, "mss": self.mss, "sort": self.sort, **self.stratum.parameters()}
        least = {"responses_at_least": self.least} if self.least else {}
        return {**self.pins, **chosen, **least} | ({"q": self.part} if self.part else {})

    @property
    def pins(self) -> dict[str, str | int]:
        """The parameters that name both releases with their versions."""
        own: dict[str, str | int] = {"crawl": str(self.version.crawl), "version": self.version.version}
        return own | ({"before": self.before.name} if self.before else {})

    def rows(self, request: Request) -> pa.Table:
        """The rows; none where the release cannot know the stratum. Problem if a file is damaged."""
        self.version.readable  # noqa: B018  # raises the Problem that says why
        if self.stratum.unknown_in(self.version):
            return SITE_ROW.empty_table()
        tables = service_of(request).sites
        stratum, window_bytes = self.stratum.stratum, self.iw * self.mss
        return tables.of(
            self.version, self.before, stratum, window_bytes, part=self.part, least=self.least, sort=self.sort
        )

    def page(self, rows: pa.Table, limit: int) -> tuple[pa.Table, str | None]:
        """At most `limit` rows of those behind the cursor, and the cursor of the next page."""
        begin = 0
        if self.cursor is not None:
            (rank,) = key_of(self.cursor, parts=1, bound_to=self._bound_to)
            begin = pc.index(rows["rank"], rank).as_py() + 1
        shown = rows.slice(begin, limit)
        if begin + limit >= len(rows):
            return shown, None
        return shown, cursor_of((shown["rank"][-1].as_py(),), bound_to=self._bound_to)

    @property
    def _bound_to(self) -> list[object]:
        before = self.before and self.before.checksum
        return [self.version.checksum, before, {**self.query, "crawl": "", "version": ""}]


def with_sites(request: Request, shelf: Shelf) -> list[Version]:
    """The newest version of each crawl whose release has a table of sites."""
    tables = service_of(request).sites
    return [version for version in map(shelf.newest, shelf.crawls) if tables.has(version)]


def release_before(request: Request, shelf: Shelf, version: Version) -> Version | None:
    """The last earlier month of the same series whose release has a table of sites; None without one."""
    tables = service_of(request).sites
    months = Variant.of(version.crawl).months(shelf)
    earlier = [month for month in months if month.crawl.month < version.crawl.month and tables.has(month)]
    return earlier[-1] if earlier else None


async def asked_sites(
    request: Request,
    shelf: ShelfDep,
    stratum: Annotated[Asked, Depends(chosen_stratum)],
    crawl: CrawlQuery = None,
    version: VersionQuery = None,
    before: BeforeQuery = None,
    iw: OneWindowQuery = DEFAULT_WINDOWS[-1],
    mss: MssQuery = MSS_FIG1,
    q: PartQuery = "",
    responses_at_least: LeastQuery = 0,
    sort: SortQuery = "rank",
    cursor: CursorQuery = None,
) -> SitesAsked | None:
    """The table that the parameters ask for; None if they name no release, and none has a table.

    Its canonical address pins both releases.
    """
    if not crawl and version is None:
        newest = best_first(with_sites(request, shelf))
        if not newest:
            return None
        release = newest[0]
    else:
        release = release_asked_for(shelf, crawl, version)
    asked = SitesAsked(
        version=release,
        before=release_before(request, shelf, release) if before is None else shelf.named(before),
        stratum=stratum,
        iw=iw,
        mss=mss,
        part=q,
        least=responses_at_least,
        sort=sort,
        cursor=cursor,
    )
    relate(request, "canonical", own_link(request, **asked.pins))
    relate_to_release(request, release)
    return asked


AskedSites = Annotated[SitesAsked | None, Depends(asked_sites)]
SiteRow: Any = create_model(
    "SiteRow", __doc__="A site of the release.", **row_fields(SITE_ROW, SITE_ROW.names)
)


class SitesAnswer(AnswerModel):
    """A page of the table of all sites of a release."""

    provenance: Provenance
    before: Provenance | None
    """The release that shares are compared with; null if none."""
    stratum: dict[str, str | int]
    """Value of each dimension that was asked for; empty for every response of home pages."""
    stratum_unknown: str | None
    """Why the release has no such stratum; null if it has."""
    iw: int
    """Window in segments."""
    mss: int
    """Payload of a full segment, in bytes."""
    sites: int
    """Number of sites on all pages."""
    next: str | None
    """URL of the page after this one; null after the last row."""
    rows: list[SiteRow]


@get_in(router, "/sites", FORMATS, name="site_table", response_model=SitesAnswer)
def site_table(
    request: Request, asked: AskedSites, wanted: AskedFormat, limit: RowLimitQuery = None
) -> Response:
    """All sites of a release: the sizes of each, the share of its responses that fit into a window of `iw`
    segments, the windows of its servers, and the change since the release before.

    An item of item.parquet belongs to the site of its rank in site.parquet.

    `sort=share` begins with the sites of which least fits. With a stratum of responses, sites without such
    responses are left out. JSON comes in pages: follow `next`. The other formats have all rows unless
    `limit` asks for a page, and in each row which release it is of and how to cite that.
    """
    if asked is None:
        raise Problem("no-such-crawl", "no release has a table of sites yet")
    rows = asked.rows(request)
    limit = limit or (len(rows) + 1 if wanted.is_bulk else PAGE_ROWS)
    shown, cursor = asked.page(rows, limit)
    following = None
    if cursor is not None:
        following = own_link(request, **asked.pins, cursor=cursor)
        relate(request, "next", following)
    if wanted == JSON:
        answer = SitesAnswer(
            provenance=provenance(request, asked.version),
            before=provenance(request, asked.before) if asked.before else None,
            stratum=asked.stratum.parameters(),
            stratum_unknown=asked.stratum.unknown_in(asked.version),
            iw=asked.iw,
            mss=asked.mss,
            sites=len(rows),
            next=following,
            rows=[],
        )
        content = with_json(answer, rows=json.dumps(shown.to_pylist(), separators=(",", ":")))
        return Response(content, media_type=JSON.media_type)
    if wanted == CSV:
        relate_help_with_csv(request)
    shown = with_source(shown, asked.version)
    name = f"{asked.version.crawl}.v{asked.version.version}.sites.{wanted.suffix}"
    return Response(
        b"".join(encoded(wanted, _batches(shown, wanted), shown.schema)),
        media_type=wanted.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


SOURCE = pa.schema(
    [
        pa.field("release", pa.string(), metadata={"comment": "crawl and version of the release"}),
        pa.field("cite_as", pa.string(), metadata={"comment": "how to cite the release"}),
    ]
)
"""Columns of a copy that leaves the service, behind those of SITE_ROW."""


def with_source(rows: pa.Table, version: Version) -> pa.Table:
    """Rows with the release that they are of, and how to cite it."""
    for field, text in zip(SOURCE, (version.name, citation(version)), strict=True):
        rows = rows.append_column(field, pa.array(np.full(len(rows), text), pa.string()))
    return rows


def _batches(rows: pa.Table, wanted: Format) -> Iterable[pa.RecordBatch]:
    """Rows as the encoders take them: for NDJSON a line of JSON each."""
    lines = {LINE: pa.array(map(json.dumps, rows.to_pylist()), pa.string())} if wanted == NDJSON else None
    yield from (pa.table(lines) if lines else rows).to_batches()

"""Reads the rows of the library's releases: by queries of their Parquet,
and those of a site from prepared files where there are any.

Streams that read at the same time are bounded.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from api.computing import busy
from api.http.places import Places
from api.http.problems import Problem
from api.rows.filters import filters, parameters
from api.rows.query import TABLES, Question, Rendering, Rows, row_database
from api.stored.library import Library
from api.stored.prepared import SITES, Prepared
from api.stored.shelf import Version
from api.stored.site_rows import SITE_COLUMNS, rows_of, visits_of

STREAMS, STREAMS_EACH = 8, 4
"""Streams at the same time, and one client's; each takes some 17 MB."""

RETRY_AFTER_S = 10


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SiteRows:
    """The rows of a site in one release, in the order of their keys."""

    visits: list[dict[str, Any]]
    final: dict[str, Any] | None
    """The first final visit; None without one, and then there are no other rows."""
    connections: list[dict[str, Any]]
    """Connections of the final visit."""
    responses: list[dict[str, Any]]
    """Responses of the final visit on the connection on which its main document came."""


class RowReader:
    """Reads rows of releases in `library`."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Without `prepared` the rows of a site are read by queries too."""
        self._library = library
        self._prepared = prepared
        self._database = row_database()
        self.streams = Places(STREAMS, STREAMS_EACH, _refuse_stream)

    def rows(self, version: Version, question: Question, rendering: Rendering) -> Rows:
        """The rows of a question; Problem unless the table's file is the published one."""
        version.readable  # noqa: B018  # raises the Problem that says why
        path, _ = self._library.file(version, f"{question.table.name}.parquet")
        return Rows(self._database, path, question, rendering, version.crawl.kind)

    def where(
        self, version: Version, table: str, fields: Sequence[str], **equal: Sequence[int | str]
    ) -> list[dict[str, Any]]:
        """Columns of the few rows whose columns have any of the values in `equal`.

        Problem if the file cannot be read.
        """
        row_table = TABLES[table]
        known = parameters(row_table.schema())
        question = Question(table=row_table, fields=tuple(fields), filters=filters(known, equal))
        with contextlib.closing(self.rows(version, question, "arrow")) as rows:
            return [row for batch in rows for row in batch.to_pylist()]

    def site(self, version: Version, host: str) -> SiteRows:
        """The rows of a site; Problem unless the files of the release are the published ones."""
        version.readable  # noqa: B018  # raises the Problem that says why
        for table in SITE_COLUMNS:
            self._library.file(version, f"{table}.parquet")

        def where(table: str, **equal: Sequence[int | str]) -> list[dict[str, Any]]:
            return self.where(version, f"{table}s", SITE_COLUMNS[table], **equal)

        prepared = self._prepared and self._prepared.read(version, partial(_from_files, host=host))
        return prepared or _site_rows(
            where("visit", host=[host]), lambda table, visit: where(table, visit_id=[visit])
        )

    def check(self, version: Version) -> None:
        """Raise the Problem of a release that was withdrawn or damaged since it was opened."""
        self._library.shelf().version(str(version.crawl), version.version).readable  # noqa: B018


def _refuse_stream() -> Problem:
    return busy(
        f"{STREAMS} streams are being sent, or {STREAMS_EACH} to you",
        again_s=RETRY_AFTER_S,
        instead=", or download the file of the table",
    )


def _from_files(folder: Path, host: str) -> SiteRows:
    rows = partial(rows_of, folder / SITES)
    visits = [row for visit in visits_of(folder / SITES, host) for row in rows("visit", visit)]
    return _site_rows(visits, rows)


def _site_rows(visits: list[dict[str, Any]], rows: Callable[[str, int], list[dict[str, Any]]]) -> SiteRows:
    """The rows of some visits; `rows` reads those of a table that are of one visit."""
    final = next((visit for visit in visits if visit["is_final"]), None)
    if final is None:
        return SiteRows(visits=visits, final=None, connections=[], responses=[])
    every = rows("response", final["id"])
    on = {row["connection_id"] for row in every if row["id"] == final["main_response_id"]} - {None}
    return SiteRows(
        visits=visits,
        final=final,
        connections=rows("connection", final["id"]),
        responses=[row for row in every if row["connection_id"] in on],
    )

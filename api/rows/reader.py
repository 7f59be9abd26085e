"""Reads the rows of the library's releases: by queries of their Parquet,
and those of a site from prepared files where there are any.

Streams that read at the same time are bounded.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from api.http.problems import Problem
from api.rows.filters import filters, parameters
from api.rows.query import TABLES, Question, Rendering, Rows, row_database
from api.stored.library import Library
from api.stored.prepared import Prepared
from api.stored.shelf import Version
from api.stored.site_rows import SITE_COLUMNS, rows_of, visits_of

STREAMS = 8
"""Streams at the same time; each takes some 17 MB."""

RETRY_AFTER_S = 10


class RowReader:
    """Reads rows of releases in `library`."""

    def __init__(self, library: Library) -> None:
        """Nothing is read yet."""
        self._library = library
        self._database = row_database()
        self._streams = threading.BoundedSemaphore(STREAMS)

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

    def check(self, version: Version) -> None:
        """Raise the Problem of a release that was withdrawn or damaged since it was opened."""
        self._library.shelf().version(str(version.crawl), version.version).readable  # noqa: B018

    def begin_stream(self) -> None:
        """Take one of the places for streams; Problem `busy` if there is none."""
        if not self._streams.acquire(blocking=False):
            raise Problem(
                "busy",
                f"{STREAMS} streams are being sent; try again in {RETRY_AFTER_S} s, "
                "or download the file of the table",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )

    def end_stream(self) -> None:
        """Give the place back."""
        self._streams.release()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SiteRows:
    """The rows of a site in one release, in the order of their keys."""

    visits: list[dict[str, Any]]
    connections: dict[int, list[dict[str, Any]]]
    """Connections by visit, of final visits alone."""
    responses: dict[int, list[dict[str, Any]]]
    """Responses by visit, of final visits alone: those on the connection on which the main document came."""


class SiteReader:
    """Reads the rows of sites in releases of `library`."""

    def __init__(self, library: Library, rows: RowReader, prepared: Prepared | None) -> None:
        """Without `prepared` every release is read by queries."""
        self._library = library
        self._rows = rows
        self._prepared = prepared

    def of(self, version: Version, host: str) -> SiteRows:
        """The rows of a site; Problem unless the files of the release are the published ones."""
        version.readable  # noqa: B018  # raises the Problem that says why
        for table in SITE_COLUMNS:
            self._library.file(version, f"{table}.parquet")
        prepared = self._prepared and self._prepared.site_rows(version, partial(_from_files, host=host))
        return prepared or self._queried(version, host)

    def _queried(self, version: Version, host: str) -> SiteRows:
        def where(table: str, **equal: Sequence[int | str]) -> list[dict[str, Any]]:
            return self._rows.where(version, f"{table}s", SITE_COLUMNS[table], **equal)

        return _site_rows(where("visit", host=[host]), lambda table, visit: where(table, visit_id=[visit]))


def _from_files(folder: Path, host: str) -> SiteRows:
    visits = [row for visit in visits_of(folder, host) for row in rows_of(folder, "visit", visit)]
    return _site_rows(visits, partial(rows_of, folder))


def _site_rows(visits: list[dict[str, Any]], rows: Callable[[str, int], list[dict[str, Any]]]) -> SiteRows:
    """The rows of some visits; `rows` reads those of a table that are of one visit."""
    final = {visit["id"]: visit["main_response_id"] for visit in visits if visit["is_final"]}
    responses = {}
    for visit, main_response in final.items():
        own = rows("response", visit)
        document = [row["connection_id"] for row in own if row["id"] == main_response]
        responses[visit] = [row for row in own if row["connection_id"] in document and None not in document]
    return SiteRows(
        visits=visits, connections={visit: rows("connection", visit) for visit in final}, responses=responses
    )

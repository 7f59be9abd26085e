"""Reads the rows of the library's releases: by queries of their Parquet,
and those of a site from prepared files where there are any.

Streams that read at the same time are bounded.
"""

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

from api.http.problems import Problem
from api.rows.filters import filters, parameters
from api.rows.query import TABLES, Question, Rendering, Rows, RowsUnreadable, row_database
from api.stored.library import Library
from api.stored.prepared.site_rows import SITE_COLUMNS, SiteRows
from api.stored.prepared.store import TABLES_OF_SITES, Prepared
from api.stored.shelf import Version

STREAMS = 8
"""Streams at the same time; each takes some 17 MB."""

RETRY_AFTER_S = 10


def unreadable(exc: RowsUnreadable) -> Problem:
    """The Problem of a file that cannot be read."""
    return Problem("damaged-release", f"{exc} cannot be read")


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
        found = TABLES[table]
        known = parameters(found.schema())
        question = Question(table=found, fields=tuple(fields), filters=filters(known, equal))
        try:
            rows = self.rows(version, question, "arrow")
            with contextlib.closing(rows):
                return [row for batch in rows for row in batch.to_pylist()]
        except RowsUnreadable as exc:
            raise unreadable(exc) from exc

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
        for name in TABLES_OF_SITES:
            self._library.file(version, name)
        found = None if self._prepared is None else self._prepared.site_rows(version, host)
        return self._queried(version, host) if found is None else found

    def _queried(self, version: Version, host: str) -> SiteRows:
        wanted = SITE_COLUMNS
        visits = self._rows.where(version, "visits", wanted.visit, host=[host])
        connections, responses = {}, {}
        for visit in (visit for visit in visits if visit["is_final"]):
            number = visit["id"]
            connections[number] = self._rows.where(
                version, "connections", wanted.connection, visit_id=[number]
            )
            every = self._rows.where(version, "responses", wanted.response, visit_id=[number])
            on = next((one["connection_id"] for one in every if one["id"] == visit["main_response_id"]), None)
            responses[number] = [one for one in every if on is not None and one["connection_id"] == on]
        return SiteRows(visits=visits, connections=connections, responses=responses)

"""The rows of a site in a release: from prepared files where there are any, else by queries of the release's Parquet."""

from __future__ import annotations

from api.rows.reader import RowReader
from api.stored.library import Library
from api.stored.prepared.columns import SITE_COLUMNS
from api.stored.prepared.site_rows import SiteRows
from api.stored.prepared.store import TABLES_OF_SITES, Prepared
from api.stored.shelf import Version


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
        for visit in (one for one in visits if one["is_final"]):
            number = visit["id"]
            connections[number] = self._rows.where(
                version, "connections", wanted.connection, visit_id=[number]
            )
            every = self._rows.where(version, "responses", wanted.response, visit_id=[number])
            on = next((one["connection_id"] for one in every if one["id"] == visit["main_response_id"]), None)
            responses[number] = [one for one in every if on is not None and one["connection_id"] == on]
        return SiteRows(visits=visits, connections=connections, responses=responses)

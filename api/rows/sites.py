"""The sites of a release as a table: the sizes of each, the share that fits into a window,
and the change since the release before.

An item of `item.parquet` belongs to the site of its rank in `site.parquet`.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from api.computing import current
from api.rows.query import row_database
from api.stored.open_releases import raise_damage
from releases.first_flights import FlightConnection, FlightResponse, first_flight
from releases.strata.items import LEAST_STRATUM
from releases.strata.sample import Stratum

if TYPE_CHECKING:
    from api.stored.open_releases import OpenReleases
    from api.stored.shelf import Version

SUGGESTED = 6

LEAST_SIMILARITY = 0.8

FILES = ("site.parquet", "visit.parquet", "connection.parquet", "response.parquet", "item.parquet")

WITHOUT_NAME = ".invalid"
"""End of a made-up host (RFC 2606): the release numbers its sites."""


def _fields(declared: dict[str, str]) -> pa.Schema:
    kinds = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    return pa.schema(
        pa.field(name, kinds[kind], metadata={"comment": comment})
        for (name, kind), comment in ((key.split(), comment) for key, comment in declared.items())
    )


SITE_ROW = _fields(
    {
        "rank int": "rank of the site in the list; for recorded pages the number of the page",
        "host text": "host by which the list has the site; it ends with .invalid where the release does "
        "not name its sites",
        "outcome text": "outcome of the visit that represents the site; null without one",
        "document_bytes int": "wire_bytes of the main document; null if unknown",
        "first_flight_bytes int": "first flight of the main document's connection; null if unknown, "
        "and over QUIC",
        "responses int": "responses of the stratum that arrived whole; null without a studied visit",
        "unknown int": "those of them whose size is unknown, which share and bytes leave out",
        "bytes int": "sum of their known sizes",
        "share float": "share of the known sizes that fit into the window",
        "share_before float": "the same share of the site in the release before; null if it is unknown",
        "share_change float": "share less share_before",
        "window_segments int": "initial window of the main document's server, or its lower bound, "
        "in segments; null if unknown",
        "window_most_segments int": "its upper bound; null if nothing bounds it",
        "least_window_segments int": "smallest of the windows of the page's servers that are known exactly",
        "most_window_segments int": "largest of them",
        "visit_id int": "visit that represents the site; null without one",
    }
)

DOCUMENTS = """
SELECT final.id AS visit_id, final.rank, final.outcome, connection_id, wire_bytes
FROM (FROM read_parquet($visit, hive_partitioning = false) WHERE is_final) AS final
LEFT JOIN read_parquet($response, hive_partitioning = false) AS response
  ON response.visit_id = final.id AND response.id = main_response_id
"""
"""Final visits with main documents: the table `document`.

It and `own` are queries of their own, so that DuckDB keeps them in memory rather than the tables that they
are joined with.
"""

OWN = f"""
SELECT connection.visit_id, {", ".join(f"connection.{name}" for name in FlightConnection._fields)},
       initial_window_segments, initial_window_most_segments
FROM read_parquet($connection, hive_partitioning = false) AS connection
JOIN document ON document.visit_id = connection.visit_id AND document.connection_id = connection.id
"""  # noqa: S608  # names of ours

FIRST_RESPONSES = f"""
WITH first AS (
  SELECT visit_id, connection_id, min(first_byte_us) AS us
  FROM read_parquet($response, hive_partitioning = false) AS response
  JOIN document USING (visit_id, connection_id) GROUP BY ALL
)
SELECT response.visit_id, {", ".join(f"response.{name}" for name in FlightResponse._fields)}
FROM read_parquet($response, hive_partitioning = false) AS response
JOIN first USING (visit_id, connection_id) WHERE first_byte_us <= us OR request_sent_us < us
"""  # noqa: S608  # names of ours
"""First responses on these connections, and those requested before their first bytes."""

FACTS = f"""
WITH windows AS (
  SELECT visit_id, min(initial_window_segments) AS least, max(initial_window_segments) AS most
  FROM read_parquet($connection, hive_partitioning = false)
  WHERE initial_window_segments = initial_window_most_segments GROUP BY visit_id
)
SELECT site.rank, site.host, document.outcome, document.wire_bytes AS document_bytes,
       own.initial_window_segments AS window_segments,
       own.initial_window_most_segments AS window_most_segments,
       windows.least AS least_window_segments, windows.most AS most_window_segments, document.visit_id,
       greatest({LEAST_STRATUM}, 10 ** ceil(log10(coalesce(site.magnitude, site.rank))))::BIGINT
         AS rank_stratum
FROM read_parquet($site, hive_partitioning = false) AS site
LEFT JOIN document ON document.rank = site.rank
LEFT JOIN own ON own.visit_id = document.visit_id
LEFT JOIN windows ON windows.visit_id = document.visit_id
ORDER BY site.rank
"""  # noqa: S608  # numbers of ours

SHARES = """
SELECT rank, count(*) AS responses, count(*) - count(size_bytes) AS unknown, sum(size_bytes)::BIGINT AS bytes,
       count(*) FILTER (size_bytes <= $window) / nullif(count(size_bytes), 0) AS share
FROM read_parquet($item, hive_partitioning = false)
WHERE measure = 'responses' {conditions}
GROUP BY rank
"""

TABLE = """
SELECT facts.rank, facts.host, outcome, document_bytes, first_flight_bytes, responses, unknown, bytes,
       shares.share, before.share AS share_before, shares.share - before.share AS share_change,
       window_segments, window_most_segments, least_window_segments, most_window_segments, visit_id
FROM facts LEFT JOIN shares USING (rank) LEFT JOIN before ON before.host = facts.host
WHERE ($stratum IS NULL OR rank_stratum = $stratum)
  AND (NOT $has_items OR responses IS NOT NULL)
  AND ($part = '' OR contains(facts.host, $part))
  AND ($least = 0 OR responses - unknown >= $least)
ORDER BY {order}facts.rank
"""

SIMILAR = """
SELECT host FROM (SELECT DISTINCT host FROM named)
WHERE contains(host, $part) OR jaro_winkler_similarity(host, $part) >= $least
ORDER BY contains(host, $part) DESC, damerau_levenshtein(host, $part), host LIMIT $most
"""


def order_of(sort: str) -> str:
    return f'"{sort.removeprefix("-")}" {"DESC" if sort.startswith("-") else "ASC"} NULLS LAST, '


class SiteTables:
    """The tables of sites of releases; parts of them are kept in memory."""

    def __init__(self, releases: OpenReleases) -> None:
        self._releases = releases
        self._database = row_database()

    def has(self, version: Version) -> bool:
        return version.is_sound and set(FILES) <= set(version.files)

    def of(
        self,
        version: Version,
        before: Version | None,
        stratum: Stratum,
        window_bytes: int,
        *,
        part: str = "",
        least: int = 0,
        sort: str = "rank",
    ) -> pa.Table:
        """A release's rows; Problem if a file is not the published one.

        `part` is of hosts, and `least` of responses of known size. `sort` is a column, after a minus from
        the largest; nulls come last.
        """
        facts, shares = self._facts(version), self._shares(version, stratum, window_bytes)
        earlier = self._earlier(before, stratum, window_bytes)
        has_items = not stratum.is_whole and set(stratum.fixed) != {"rank_stratum"}
        values = {"stratum": stratum.rank_stratum, "has_items": has_items, "part": part, "least": least}
        with self._cursor(facts=facts, shares=shares, before=earlier) as cursor:
            sql = TABLE.format(order=order_of(sort))
            return cursor.sql(sql, params=values).to_arrow_table().cast(SITE_ROW)

    def hosts(self, version: Version) -> pa.Table:
        path, checksum = self._releases.file(version, "site.parquet")
        sql = "SELECT rank, host FROM read_parquet($site, hive_partitioning = false) ORDER BY rank"
        return self._kept(
            ("hosts", checksum), lambda cursor: cursor.sql(sql, params={"site": str(path)}).to_arrow_table()
        )

    def is_named(self, version: Version) -> bool:
        hosts = self.hosts(version)["host"]
        return not len(hosts) or not pc.all(pc.ends_with(hosts, WITHOUT_NAME)).as_py()

    def find(self, versions: list[Version], spellings: list[str]) -> str | None:
        """The first spelling that a release has as a site."""
        tables = [self.hosts(version)["host"] for version in versions]
        return next(
            (
                spelling
                for spelling in spellings
                if any(pc.index(host, spelling).as_py() >= 0 for host in tables)
            ),
            None,
        )

    def similar(self, versions: list[Version], part: str) -> list[str]:
        """Hosts that contain or resemble a text, the most similar first."""
        tables = [self.hosts(version) for version in versions]
        if not tables or not part:
            return []
        values = {"part": part, "least": LEAST_SIMILARITY, "most": SUGGESTED}
        with self._cursor(named=pa.concat_tables(tables)) as cursor:
            return [host for (host,) in cursor.execute(SIMILAR, values).fetchall()]

    def _facts(self, version: Version) -> pa.Table:
        paths = {name.removesuffix(".parquet"): self._releases.file(version, name) for name in FILES[:4]}
        named = {name: str(path) for name, (path, _) in paths.items()}
        key = ("facts", *(checksum for _, checksum in paths.values()))

        def computed(cursor: duckdb.DuckDBPyConnection) -> pa.Table:
            def table(sql: str, *files: str) -> pa.Table:
                return cursor.sql(sql, params={name: named[name] for name in files}).to_arrow_table()

            cursor.register("document", table(DOCUMENTS, "visit", "response"))
            own = table(OWN, "connection")
            cursor.register("own", own)
            flights = _first_flights(own, table(FIRST_RESPONSES, "response"))
            facts = table(FACTS, "site", "connection")
            sizes = pa.array([flights.get(visit) for visit in facts["visit_id"].to_pylist()], pa.int64())
            return facts.append_column("first_flight_bytes", sizes)

        return self._kept(key, computed)

    def _shares(self, version: Version, stratum: Stratum, window_bytes: int) -> pa.Table:
        path, checksum = self._releases.file(version, "item.parquet")
        fixed = {"page_kind": stratum.page_kind, **{name: getattr(stratum, name) for name in stratum.fixed}}
        sql = SHARES.format(conditions=" ".join(f"AND {name} = ${name}" for name in fixed))
        values = {"item": str(path), "window": window_bytes, **fixed}
        key = ("shares", checksum, stratum, window_bytes)
        return self._kept(key, lambda cursor: cursor.sql(sql, params=values).to_arrow_table())

    def _earlier(self, before: Version | None, stratum: Stratum, window_bytes: int) -> pa.Table:
        if before is None or not self.has(before) or not self.is_named(before):
            return pa.table({"host": pa.array([], pa.string()), "share": pa.array([], pa.float64())})
        hosts, shares = self.hosts(before), self._shares(before, stratum, window_bytes)
        with self._cursor(hosts=hosts, shares=shares) as cursor:
            return cursor.sql("SELECT host, share FROM hosts JOIN shares USING (rank)").to_arrow_table()

    def _kept(
        self, key: tuple[object, ...], compute: Callable[[duckdb.DuckDBPyConnection], pa.Table]
    ) -> pa.Table:
        def computed() -> pa.Table:
            with self._cursor() as cursor:
                return compute(cursor)

        return self._releases.opened.kept(key, computed, size=lambda table: table.nbytes)

    @contextlib.contextmanager
    def _cursor(self, **tables: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
        with contextlib.closing(self._database.cursor()) as cursor:
            for name, table in tables.items():
                cursor.register(name, table)
            with raise_damage("a table of the release"), current().interruptible(cursor.interrupt):
                yield cursor


def _first_flights(own: pa.Table, first_responses: pa.Table) -> dict[int, int | None]:
    responses: dict[int, list[FlightResponse]] = defaultdict(list)
    for visit, *values in _rows(first_responses, FlightResponse._fields):
        responses[visit].append(FlightResponse(*values))
    flights: dict[int, int | None] = {}
    for visit, *values in _rows(own, FlightConnection._fields):
        connection = FlightConnection(*values)
        # QUIC's window is not Linux TCP's.
        flight = None if connection.protocol == "h3" else first_flight(connection, responses[visit])
        flights[visit] = None if flight is None else flight.size_bytes
    return flights


def _rows(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in ("visit_id", *columns)), strict=True)

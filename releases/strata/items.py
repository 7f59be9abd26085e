"""The tables `item` of a release, every item of every measure with its site and its strata,
and `distribution`, the exact CDFs of the items of home pages."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from releases import parquet
from releases.measures import STUDIED, open_database, open_measures
from releases.strata.party import registrable_domain
from schema.computed_tables import DISTRIBUTION, ITEM

LEAST_STRATUM = 1_000
"""Upper rank of the most popular stratum, as in CrUX."""

SORTED_BY = ["measure", "size_bytes", "rank"]
ORDER = "measure, size_bytes NULLS LAST, rank, page_kind, protocol, resource_type, party, rank_stratum"

STUDIED_AND_INNER = f"{STUDIED} OR (page_kind = 'inner' AND load = 1 AND outcome = 'ok')"
"""Visits whose items the table holds: those of the distributions, and one load of each inner page."""

HOSTS = """
SELECT host FROM response UNION SELECT host FROM connection UNION SELECT remote_address FROM connection
UNION SELECT coalesce(final_host, host) FROM visit
"""

ROWS = f"""
SELECT item.measure, item.size_bytes, visit.rank::INTEGER AS rank, coalesce(visit.page_kind, 'home') AS page_kind,
       CASE WHEN $ranked THEN greatest({LEAST_STRATUM}, 10 ** ceil(log10(coalesce(site.magnitude, visit.rank))))::INTEGER END AS rank_stratum,
       coalesce(response.protocol, connection.protocol) AS protocol, response.resource_type,
       CASE WHEN item.measure <> 'pages' THEN if(own.domain = theirs.domain, 'first', if(theirs.domain IS NULL, NULL, 'third')) END AS party
FROM item JOIN visit ON visit.id = item.visit_id
LEFT JOIN read_parquet($site, hive_partitioning = false) AS site ON site.rank = visit.rank
LEFT JOIN response ON response.visit_id = item.visit_id AND response.id = item.response_id
LEFT JOIN connection ON connection.visit_id = item.visit_id AND connection.id = item.connection_id
LEFT JOIN domain AS own ON own.host = coalesce(visit.final_host, visit.host)
LEFT JOIN domain AS theirs ON theirs.host = coalesce(item.host, response.host, connection.host)
ORDER BY {ORDER}
"""  # noqa: E501, S608


def write_items(folder: Path, *, is_ranked: bool) -> int:
    """Compute the table from the observation tables in a folder and write item.parquet there; number of rows.

    `is_ranked` is false for pages whose ranks mean nothing.
    """
    with _computed(folder, is_ranked=is_ranked) as pieces:
        return parquet.write(folder / "item.parquet", pieces, ITEM, sorted_by=SORTED_BY)


def find_difference(folder: Path, *, is_ranked: bool, without: tuple[str, ...] = ()) -> int | None:
    """Return the first row of item.parquet that is not what is computed anew; None if all are.

    Columns `without` are not compared.
    """
    kept = [name for name in ITEM.names if name not in without]
    with pq.ParquetFile(folder / "item.parquet") as file, _computed(folder, is_ranked=is_ranked) as pieces:
        if file.schema_arrow.names != ITEM.names:
            return 0
        published = (pa.Table.from_batches([batch]) for batch in file.iter_batches())
        groups = itertools.zip_longest(
            parquet.regroup(pieces, ITEM), parquet.regroup(published, file.schema_arrow), fillvalue=None
        )
        for number, (ours, theirs) in enumerate(groups):
            if ours is None or theirs is None:
                return number * parquet.GROUP_ROWS
            if not ours.select(kept).equals(theirs.select(kept), check_metadata=False):
                return number * parquet.GROUP_ROWS
    return None


@contextlib.contextmanager
def _computed(folder: Path, *, is_ranked: bool) -> Iterator[Iterator[pa.Table]]:
    """Provide the rows of the table, in pieces."""
    with open_measures(folder, studied=STUDIED_AND_INNER) as database:
        _add_domains(database)
        rows = database.sql(ROWS, params={"ranked": is_ranked, "site": str(folder / "site.parquet")})
        yield (
            pa.Table.from_batches([batch]).cast(ITEM) for batch in rows.to_arrow_reader(parquet.GROUP_ROWS)
        )


def _add_domains(database: duckdb.DuckDBPyConnection) -> None:
    """Add the table `domain` (host, domain) of every host of the release."""
    hosts = [host for (host,) in database.execute(HOSTS).fetchall() if host is not None]
    domains = pa.table(
        {
            "host": pa.array(hosts, pa.string()),
            "domain": pa.array(map(registrable_domain, hosts), pa.string()),
        }
    )
    database.register("domains", domains)
    database.execute("CREATE TABLE domain AS FROM domains")
    database.unregister("domains")


STEPS = """
WITH step AS (SELECT measure, size_bytes, count(*) AS items FROM read_parquet($items, hive_partitioning = false) WHERE page_kind = 'home' GROUP BY measure, size_bytes)
SELECT measure, size_bytes, items AS count,
       CASE WHEN size_bytes IS NOT NULL THEN sum(items) OVER sizes END::BIGINT AS cumulative,
       CASE WHEN size_bytes IS NOT NULL THEN (sum(items) OVER sizes)::DOUBLE / sum(items) OVER known END AS cdf
FROM step
WINDOW sizes AS (PARTITION BY measure, size_bytes IS NULL ORDER BY size_bytes),
       known AS (PARTITION BY measure, size_bytes IS NULL)
ORDER BY measure, size_bytes NULLS LAST
"""  # noqa: E501


def compute_distribution(folder: Path) -> pa.Table:
    """Compute the table `distribution` of a release's home pages from its items."""
    with open_database() as database:
        parameters = {"items": str(folder / "item.parquet")}
        steps: pa.Table = database.sql(STEPS, params=parameters).to_arrow_table()
    return steps.cast(DISTRIBUTION)

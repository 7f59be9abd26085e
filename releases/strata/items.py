"""The tables `item` of a release, every item of every measure with its site and its strata,
and `distribution`, the exact CDFs of the items of home pages."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from releases import parquet
from releases.measures import STUDIED, open_database, open_measures
from releases.strata.party import registrable_domain
from schema.computed_tables import DISTRIBUTION, ITEM

LEAST_STRATUM = 1_000
"""Upper rank of the most popular stratum, as in CrUX."""

SORTED_BY = ["measure", "size_bytes", "rank"]
ORDER = "measure, size_bytes NULLS LAST, rank, page_kind, protocol, resource_type, party, rank_stratum"

STUDIED_AND_INNER = f"{STUDIED} OR (page_kind = 'inner' AND load = 1 AND outcome = 'ok')"
"""Visits of the distributions, and one load of each inner page."""

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
    """Write item.parquet from the observation tables; return rows. `is_ranked` is false where ranks mean
    nothing.
    """
    with _computed(folder, is_ranked=is_ranked) as pieces:
        return parquet.write(folder / "item.parquet", pieces, ITEM, sorted_by=SORTED_BY)


def find_difference(folder: Path, *, is_ranked: bool, without: tuple[str, ...] = ()) -> int | None:
    """Return the first row of item.parquet that is not what is computed anew, but for columns `without`."""
    with _computed(folder, is_ranked=is_ranked) as pieces:
        return parquet.find_difference(folder / "item.parquet", pieces, ITEM, without=without)


@contextlib.contextmanager
def _computed(folder: Path, *, is_ranked: bool) -> Iterator[Iterator[pa.Table]]:
    with open_measures(folder, studied=STUDIED_AND_INNER) as database:
        _add_domains(database)
        rows = database.sql(ROWS, params={"ranked": is_ranked, "site": str(folder / "site.parquet")})
        yield (
            pa.Table.from_batches([batch]).cast(ITEM) for batch in rows.to_arrow_reader(parquet.GROUP_ROWS)
        )


def _add_domains(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("CREATE TABLE domain (host VARCHAR, domain VARCHAR)")
    database.execute(f"CREATE TABLE host AS SELECT host FROM ({HOSTS}) WHERE host IS NOT NULL")  # noqa: S608
    hosts = database.cursor().sql("FROM host").to_arrow_reader(parquet.GROUP_ROWS)
    for batch in hosts:
        domains = pa.array(map(registrable_domain, batch["host"].to_pylist()), pa.string())
        database.register("named", pa.table({"host": batch["host"], "domain": domains}))
        database.execute("INSERT INTO domain FROM named")
        database.unregister("named")
    database.execute("DROP TABLE host")


STEPS = """
SELECT measure, size_bytes, count(*) AS count FROM read_parquet($items, hive_partitioning = false)
WHERE page_kind = 'home' GROUP BY measure, size_bytes ORDER BY measure, size_bytes NULLS LAST
"""

KNOWN = """
SELECT measure, count(size_bytes) FROM read_parquet($items, hive_partitioning = false)
WHERE page_kind = 'home' GROUP BY measure
"""


def compute_distribution(folder: Path) -> Iterator[pa.Table]:
    """Yield the rows of `distribution` of home pages, from the items."""
    parameters = {"items": str(folder / "item.parquet")}
    with open_database() as database:
        known = dict(database.execute(KNOWN, parameters).fetchall())
        counted = dict.fromkeys(known, 0)
        for batch in database.sql(STEPS, params=parameters).to_arrow_reader(parquet.GROUP_ROWS):
            for measure in pc.unique(batch["measure"]).to_pylist():
                steps = batch.filter(pc.equal(batch["measure"], measure))
                cumulative = counted[measure] + steps["count"].to_numpy().cumsum()
                counted[measure] = int(cumulative[-1])
                yield _steps(steps, cumulative, known=known[measure])


def _steps(counts: pa.RecordBatch, cumulative: NDArray[np.int64], *, known: int) -> pa.Table:
    """Return rows from the counts of a measure's sizes, unknown ones last."""
    is_known = counts["size_bytes"].is_valid()
    shares = cumulative / max(known, 1)  # of no size, where none is known
    columns = {
        "cumulative": pc.if_else(is_known, pa.array(cumulative), None),
        "cdf": pc.if_else(is_known, pa.array(shares), None),
    }
    table = pa.Table.from_batches([counts])
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table.cast(DISTRIBUTION)

"""sample.csv: a thousand page loads of a release, to look at before the whole is fetched."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

SAMPLE = "sample.csv"

MOST_PAGES = 1000

QUERY = f"""SELECT {{columns}} FROM read_parquet($path, hive_partitioning = false)
WHERE is_final ORDER BY md5(concat(crawl_id, ' ', id)), id LIMIT {MOST_PAGES}"""  # noqa: S608  # our own columns
"""Loads that are final, in an order without regard to their rank: the same at each build, and as random as MD5."""


def write_sample(visits: Path, place: Path) -> pa.Schema:
    """Write the sample of the Parquet file `visits` to `place`; its columns are those of the file, except lists."""
    schema = pa.schema([field for field in pq.read_schema(visits) if not pa.types.is_list(field.type)])
    columns = ", ".join(f'"{name}"' for name in schema.names)
    with duckdb.connect(":memory:") as database:
        found: pa.Table = database.sql(
            QUERY.format(columns=columns), params={"path": str(visits)}
        ).to_arrow_table()
    pyarrow.csv.write_csv(found.cast(schema), place)
    return schema

"""The partitions of the observation tables: one of each table for each crawl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlalchemy import text

from schema.tables import OBSERVATIONS

if TYPE_CHECKING:
    from sqlalchemy import Connection

PARTITION = re.compile(rf"^({'|'.join(table.__tablename__ for table in OBSERVATIONS)})_[0-9]+$")


def partition_name(table: str, crawl_id: int) -> str:
    """The partition of `table` that holds one crawl, e.g. `response_3`."""
    return f"{table}_{crawl_id}"


def is_partition(table: str) -> bool:
    """Whether a table's name is that of a partition, attached or detached: Alembic must leave those alone."""
    return PARTITION.match(table) is not None


def create_partitions(connection: Connection, crawl_id: int) -> None:
    """The partitions of a new crawl.

    Made apart and attached: that takes no lock on the parents which those who read or write another crawl
    would wait for, as `PARTITION OF` does. It locks `outcome` against changes until the transaction ends,
    so it is best done last.
    """
    for table in OBSERVATIONS:
        name = table.__tablename__
        partition = partition_name(name, crawl_id)
        connection.execute(text(f"CREATE TABLE {partition} (LIKE {name} INCLUDING ALL EXCLUDING COMMENTS)"))
        connection.execute(
            text(f"ALTER TABLE {name} ATTACH PARTITION {partition} FOR VALUES IN ({int(crawl_id)})")
        )


def seal_partitions(connection: Connection, crawl_id: int) -> None:
    """Make PostgreSQL itself refuse to write a sealed crawl; costs nothing before."""
    for table in OBSERVATIONS:
        name = partition_name(table.__tablename__, crawl_id)
        connection.execute(
            text(
                f"CREATE TRIGGER sealed BEFORE INSERT OR UPDATE OR DELETE ON {name} "
                "FOR EACH ROW EXECUTE FUNCTION refuse_sealed()"
            )
        )
        connection.execute(
            text(
                f"CREATE TRIGGER sealed_whole BEFORE TRUNCATE ON {name} "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_sealed()"
            )
        )

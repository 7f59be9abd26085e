"""Partitions of the observation tables: one per table and crawl, created when the crawl is planned.

They exist before the crawl's first row, and none are created in advance for months that may never be crawled.
"""

import re

from sqlalchemy import Connection, text

from schema.tables import OBSERVATIONS

PARTITION = re.compile(rf"^({'|'.join(table.__tablename__ for table in OBSERVATIONS)})_[0-9]+$")

DETACHABLE = ("connection", "response")
"""The large tables, whose partitions may be detached once the crawl is released.

Visits stay, to be counted.
"""

LOCK_TIMEOUT = "10s"
"""Time limit of waiting for a lock: all readers of the table, in any partition, wait with it."""


def partition_name(table: str, crawl_id: int) -> str:
    """Return the name of the partition of `table` for a crawl, e.g. `response_3`."""
    return f"{table}_{crawl_id}"


def is_partition(table: str) -> bool:
    return PARTITION.match(table) is not None


def create_partitions(connection: Connection, crawl_id: int) -> None:
    """Create the partitions of a new crawl, and attach them, which blocks no other crawl as `PARTITION OF`
    does.

    It locks `outcome` against changes until the transaction ends, so it is best done last.
    """
    for table in OBSERVATIONS:
        name = table.__tablename__
        partition = partition_name(name, crawl_id)
        connection.execute(text(f"CREATE TABLE {partition} (LIKE {name} INCLUDING ALL EXCLUDING COMMENTS)"))
        connection.execute(
            text(f"ALTER TABLE {name} ATTACH PARTITION {partition} FOR VALUES IN ({int(crawl_id)})")
        )


def seal_partitions(connection: Connection, crawl_id: int) -> None:
    """Make PostgreSQL refuse writes to a sealed crawl, by triggers."""
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


def attached_partitions(connection: Connection, crawl_id: int) -> dict[str, str]:
    rows = connection.execute(
        text(
            "SELECT parent.relname, child.relname FROM pg_inherits JOIN pg_class AS parent ON parent.oid = "
            "inhparent JOIN pg_class AS child ON child.oid = inhrelid WHERE child.relname = ANY(:names) AND "
            "child.relnamespace = to_regnamespace(current_schema())::oid"
        ),
        {"names": [partition_name(table.__tablename__, crawl_id) for table in OBSERVATIONS]},
    )
    return {parent: child for parent, child in rows}  # noqa: C416  # rows, not pairs, to mypy


def existing_partitions(connection: Connection, crawl_id: int) -> dict[str, str]:
    """Return the partitions of a crawl by table, attached or detached; visits first."""
    names = {table.__tablename__: partition_name(table.__tablename__, crawl_id) for table in OBSERVATIONS}
    return {
        table: name
        for table, name in names.items()
        if connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": name})
    }


def detach_partitions(connection: Connection, crawl_id: int) -> list[str]:
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    partitions = attached_partitions(connection, crawl_id)
    detachable = [(table, partitions[table]) for table in DETACHABLE if table in partitions]
    for table, partition in detachable:
        connection.execute(text(f"ALTER TABLE {table} DETACH PARTITION {partition}"))
    return [partition for _, partition in detachable]

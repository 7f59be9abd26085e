"""The partitions of the observation tables: one of each table for each crawl, made when it is planned.

So they are there before its first row, and none is made ahead for months that may never be crawled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlalchemy import text

from schema.tables import OBSERVATIONS

if TYPE_CHECKING:
    from sqlalchemy import Connection

PARTITION = re.compile(rf"^({'|'.join(table.__tablename__ for table in OBSERVATIONS)})_[0-9]+$")

DETACHABLE = ("connection", "response")
"""Tables of which a released crawl's partitions may be detached: the large ones. Visits stay, to be counted."""

LOCK_TIMEOUT = "10s"
"""For those who read: while a partition is waited for, all others of its table are."""


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


def attached(connection: Connection, crawl_id: int) -> dict[str, str]:
    """The partitions of a crawl that are part of their tables, by table."""
    found = connection.execute(
        text(
            "SELECT parent.relname, child.relname FROM pg_inherits "
            "JOIN pg_class AS parent ON parent.oid = inhparent JOIN pg_class AS child ON child.oid = inhrelid "
            "WHERE child.relname = ANY(:names) AND child.relnamespace = to_regnamespace(current_schema())::oid"
        ),
        {"names": [partition_name(table.__tablename__, crawl_id) for table in OBSERVATIONS]},
    )
    return {parent: child for parent, child in found}  # noqa: C416  # rows, not pairs, to mypy


def attached_or_not(connection: Connection, crawl_id: int) -> dict[str, str]:
    """The partitions of a crawl by table, those that were detached and not dropped among them; visits first."""
    names = {table.__tablename__: partition_name(table.__tablename__, crawl_id) for table in OBSERVATIONS}
    return {
        table: name
        for table, name in names.items()
        if connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": name})
    }


def detach_partitions(connection: Connection, crawl_id: int) -> list[str]:
    """Take a crawl's large partitions out of their tables; they stay as tables of their own, and are named."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    there = attached(connection, crawl_id)
    found = [(table, there[table]) for table in DETACHABLE if table in there]
    for table, partition in found:
        connection.execute(text(f"ALTER TABLE {table} DETACH PARTITION {partition}"))
    return [partition for _, partition in found]

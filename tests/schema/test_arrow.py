import pyarrow as pa
import pytest
from sqlalchemy import Table

from schema.arrow import arrow_schema
from schema.released_tables import RETIRED
from schema.tables import RELEASED, Base

TABLES = [Base.metadata.tables[model.__tablename__] for model in RELEASED]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_has_its_type_nullability_and_definition(table: Table) -> None:
    schema = arrow_schema(table)
    retired = RETIRED.get(table.name, {})
    columns = [column for column in table.columns if column.name not in retired]
    assert (schema.names, len(columns)) == (
        [column.name for column in columns],
        len(table.columns) - len(retired),
    )
    assert schema.metadata == {b"table": table.name.encode()}
    for field, column in zip(schema, columns, strict=True):
        assert field.nullable == column.nullable
        assert field.metadata == {b"comment": (column.comment or "").encode()}
        assert column.comment


def test_types_are_as_wide_as_declared_and_times_are_utc() -> None:
    visit = arrow_schema(Base.metadata.tables["visit"])
    assert {
        name: visit.field(name).type for name in ("crawl_id", "id", "rank", "coverage", "is_final", "host")
    } == {
        "crawl_id": pa.int16(),
        "id": pa.int64(),
        "rank": pa.int32(),
        "coverage": pa.float64(),
        "is_final": pa.bool_(),
        "host": pa.string(),
    }
    assert visit.field("started_at").type == pa.timestamp("us", tz="UTC")
    connection = arrow_schema(Base.metadata.tables["connection"])
    assert connection.field("first_record_bytes").type == pa.list_(pa.int32())

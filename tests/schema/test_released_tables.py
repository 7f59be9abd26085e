from schema.arrow import declared_tables
from schema.released_tables import FILE, released_tables, to_text


def test_the_file_of_released_tables_follows_from_the_declaration() -> None:
    assert FILE.read_text() == to_text(declared_tables()), "run: python -m schema.arrow"


def test_readers_get_the_tables_that_are_declared() -> None:
    assert released_tables() == declared_tables()
    for name, table in declared_tables().items():
        assert released_tables()[name].schema.equals(table.schema, check_metadata=True)

import pytest

from schema.dictionary import dictionary
from schema.tables import Base

TABLES = dictionary()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_and_every_column_has_a_definition(name: str) -> None:
    assert TABLES[name]["description"].endswith(".")
    for column in TABLES[name]["columns"]:
        assert column["comment"], column["name"]


@pytest.mark.parametrize("name", Base.metadata.tables)
def test_every_column_in_the_database_has_a_comment(name: str) -> None:
    assert [column.name for column in Base.metadata.tables[name].columns if not column.comment] == []


def test_the_dictionary_is_the_declaration() -> None:
    observed = ["crawl", "site", "visit", "connection", "response"]
    assert list(TABLES) == [*observed, "distribution", "item", "cell", "replayed_response"]
    wire = next(column for column in TABLES["response"]["columns"] if column["name"] == "wire_bytes")
    assert wire == {
        "name": "wire_bytes",
        "type": "int64",
        "nullable": True,
        "comment": "header, framing and encoded body, as sent inside TLS; null if unknown",
    }

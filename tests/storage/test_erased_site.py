import re
from collections.abc import Callable

import duckdb
import pytest
from sqlalchemy import Engine, text

from storage.erased_site import ErasedSite

KEY = "ab" * 32

HOSTS = {
    "t.co": (True, True),
    "T.CO.": (True, True),
    "a.b.t.co": (True, True),
    "t.com": (False, False),
    "at.co": (False, False),
    "t.co.cdn.test": (False, True),
    "x-t.co": (False, False),
}
"""(host is the site's own, host contains the site's labels) by host."""

TEXTS = {
    "/https://t.co/x": True,
    "/WWW.T.CO.js": True,
    "/a_t.co": True,
    "/t.com/x": False,
    "/chat.co/": False,
    "t.co": True,
    None: None,
}


@pytest.fixture
def ask(database: Engine) -> Callable[[str, str | None], tuple[object, object]]:
    """Run the same SQL, with the parameter $value, in PostgreSQL and in DuckDB."""

    def ask(expression: str, value: str | None) -> tuple[object, object]:
        with database.connect() as connection:
            query = f"SELECT {expression} FROM (SELECT CAST(:value AS text) AS value) AS one"
            first = connection.scalar(text(query), {"value": value})
        with duckdb.connect(":memory:") as other:
            query = (
                f"SELECT {expression.replace('regexp_like', 'regexp_matches')} FROM (SELECT "
                "$value::VARCHAR AS value)"
            )
            row = other.execute(query, {"value": value}).fetchone()
        assert row is not None
        return first, row[0]

    return ask


def test_postgresql_and_duckdb_find_the_site_and_its_subdomains_and_no_longer_name(
    ask: Callable[[str, str | None], tuple[object, object]],
) -> None:
    site = ErasedSite(host="t.co", key=KEY)
    for host, (own, inside) in HOSTS.items():
        assert ask(site.is_own("value"), host) == (own, own), host
        assert ask(site.is_in("value"), host) == (inside, inside), host
    for said, named in TEXTS.items():
        assert ask(site.is_named("value", matches="regexp_like"), said) == (named, named), said
    first, second = ask(site.replaced("value"), "CDN.t.co")
    assert first == second
    assert re.fullmatch(r"erased-[0-9a-f]{16}\.invalid", str(first))
    assert ask(site.replaced("value"), "cdn.t.co") == (first, first)
    assert ask(site.replaced("value"), "cdn2.t.co") != (first, first)


@pytest.mark.parametrize("host", ["a.test' OR 'a", "", "a.test:b", "B.test", "b\u00fccher.test"])
def test_a_string_that_is_no_host_never_reaches_the_sql(host: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        ErasedSite(host=host, key=KEY)


def test_an_internationalised_name_is_found_in_every_spelling(
    ask: Callable[[str, str | None], tuple[object, object]],
) -> None:
    site = ErasedSite(host="xn--bcher-kva.test", key=KEY)
    for said in ("/xn--bcher-kva.test", "/B\u00fccher.test/", "/b%C3%BCcher.test"):
        assert ask(site.is_named("value", matches="regexp_like"), said) == (True, True), said

"""The recipes of docs/recipes.md, taken from the page, give the share that the service gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import write_release_with_items
from tests.docs.recipes.conftest import (
    MANY,
    MOBILE,
    NOVEMBER,
    OCTOBER,
    ONE,
    PAGE,
    REGION,
    STORE,
    Served,
    recipes,
    run,
)

pytestmark = pytest.mark.process

README = PAGE.parents[1] / "README.md"
STATEMENT = re.compile(r"^    (SELECT .*?;)$", re.DOTALL | re.MULTILINE)
SECRET = re.compile(r"`(CREATE SECRET \(.*\))`")


def test_every_recipe_in_python_and_sql_is_run() -> None:
    tools = {
        *(ONE + tool for tool in ("pandas", "Polars", "pyarrow", "DuckDB")),
        *(MANY + tool for tool in ("pyarrow", "Polars", "DuckDB", "Spark")),
    }
    assert set(recipes()) == tools
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```python") + text.count("```sql") == len(tools)


@pytest.mark.parametrize("tool", ["pandas", "Polars", "pyarrow"])
def test_a_recipe_of_one_release_gives_the_share_of_the_service(tool: str, service: Served) -> None:
    _, code = recipes()[ONE + tool]
    share = run(service.placed(code))["share"]
    assert 0 < share < 1
    assert share == pytest.approx(service.share(NOVEMBER), rel=1e-12)


def test_duckdb_reads_one_release_by_its_address(service: Served, duckdb_rows: Any) -> None:
    _, code = recipes()[f"{ONE}DuckDB"]
    assert duckdb_rows(service.placed(code)) == [[pytest.approx(service.share(NOVEMBER), rel=1e-12)]]


def test_the_statement_in_the_readme_reads_a_release_by_its_address(
    service: Served, duckdb_rows: Any
) -> None:
    (statement,) = STATEMENT.findall(README.read_text(encoding="utf-8"))
    shares = dict(duckdb_rows(service.placed(statement)))
    assert shares["responses"] == pytest.approx(service.share(NOVEMBER), rel=1e-12)


def expected(service: Served) -> dict[str, float]:
    """The shares of the service by month, of the variant that the recipes read."""
    shares = {crawl.month: service.share(crawl) for crawl in (OCTOBER, NOVEMBER)}
    assert shares["2026-10"] != shares["2026-11"] != service.share(MOBILE)
    return shares


@pytest.mark.parametrize("tool", ["pyarrow", "Polars"])
def test_a_recipe_of_many_months_reads_them_from_s3(tool: str, service: Served, store: str) -> None:
    _, code = recipes()[MANY + tool]
    assert run(code)["shares"] == pytest.approx(expected(service), rel=1e-12)


def test_duckdb_reads_many_months_from_s3(service: Served, store: str, duckdb_rows: Any) -> None:
    _, code = recipes()[f"{MANY}DuckDB"]
    (secret,) = SECRET.findall(PAGE.read_text(encoding="utf-8"))
    elsewhere = f"{secret[:-1]}, ENDPOINT '{store}', URL_STYLE 'path', USE_SSL false)"
    assert dict(duckdb_rows(code, elsewhere)) == pytest.approx(expected(service), rel=1e-12)


def test_the_recipe_of_pyarrow_leaves_out_a_copy_that_is_not_complete(tmp_path: Path) -> None:
    for crawl in (OCTOBER, NOVEMBER):
        write_release_with_items(tmp_path, crawl)
    (OCTOBER.path(tmp_path, version=1) / "manifest.json").unlink()
    _, code = recipes()[f"{MANY}pyarrow"]
    assert run(code.replace(f"{STORE}{REGION}", tmp_path.as_uri()))["shares"].keys() == {"2026-11"}

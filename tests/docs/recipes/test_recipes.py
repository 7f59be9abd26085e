"""The recipes of docs/recipes.md, taken from the page, give the share that the service gives."""

import csv
import io
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.build import write_computed
from schema.crawls import CrawlName
from tests.api.conftest import write_release_with_items
from tests.docs.recipes.conftest import (
    DISTRIBUTIONS,
    MANY,
    MOBILE,
    NOVEMBER,
    OCTOBER,
    ONE,
    PAGE,
    REGION,
    SITE,
    STORE,
    Served,
    recipes,
    run,
)
from tests.factories.made_up_crawl import MadeUp, write_tables
from tests.factories.made_up_release import make_release

pytestmark = pytest.mark.process

GUIDE = PAGE.parent / "guide.md"
STATEMENT = re.compile(r"^    (SELECT .*?;)$", re.DOTALL | re.MULTILINE)
RAW = "DuckDB, raw rows by any filter"
WHOLE = "The whole release, by curl"
IN_PYTHON = ("pandas", "Polars", "pyarrow", "mlcroissant")
WORST = "Which sites are worst: "
COMMAND = re.compile(r"^curl -s 'https://sizes.example(/v1/sites[^']*)'$", re.MULTILINE)
SECRET = re.compile(r"`(CREATE SECRET \(.*\))`")


def test_every_recipe_in_python_and_sql_is_run() -> None:
    tools = {
        *(ONE + tool for tool in (*IN_PYTHON, "DuckDB", "Spark")),
        *(MANY + tool for tool in ("pyarrow", "Polars", "DuckDB", RAW, "Spark", DISTRIBUTIONS)),
        f"{WORST}DuckDB",
    }
    assert set(recipes()) == tools
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```python") + text.count("```sql") == len(tools)


def test_the_page_of_a_release_has_every_recipe_of_one_release_with_its_own_address(service: Served) -> None:
    address = f"{service.address}releases/{MOBILE}/v1/"
    snippets = service.snippets(MOBILE)
    assert set(snippets) == {WHOLE, *IN_PYTHON, "DuckDB", "Spark", "R"}
    assert [tool for tool, code in snippets.items() if address not in code] == []
    assert SITE not in "".join(snippets.values())


@pytest.mark.parametrize("tool", IN_PYTHON)
def test_a_recipe_of_one_release_gives_the_share_of_the_service(
    tool: str, service: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what mlcroissant imports warns
        monkeypatch.setenv("CROISSANT_CACHE", str(tmp_path))
        share = run(service.snippets(MOBILE)[tool])["share"]
    assert 0 < share < 1
    assert share == pytest.approx(service.share(MOBILE), rel=1e-12)


def test_duckdb_reads_one_release_by_its_address(service: Served, duckdb_rows: Any) -> None:
    (rows,) = duckdb_rows(service.snippets(MOBILE)["DuckDB"])
    assert rows == [pytest.approx(service.share(MOBILE), rel=1e-12)]


def test_one_command_takes_a_whole_release_and_checks_it(service: Served, tmp_path: Path) -> None:
    def take() -> subprocess.CompletedProcess[str]:
        command = ["bash", "-ec", service.snippets(MOBILE)[WHOLE]]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    done = take()
    assert done.returncode == 0, done.stderr
    release = MOBILE.path(service.releases, version=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in release.iterdir()
    }
    content = (release / "item.parquet").read_bytes()
    (release / "item.parquet").write_bytes(content[:-1] + b"?")  # the service refuses it
    try:
        assert take().returncode != 0
    finally:
        (release / "item.parquet").write_bytes(content)


def test_the_statement_in_the_guide_reads_a_release_by_its_address(service: Served, duckdb_rows: Any) -> None:
    (statement,) = STATEMENT.findall(GUIDE.read_text(encoding="utf-8"))
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


def write_raw_rows(releases: Path, crawl: CrawlName, *, smaller: int) -> None:
    """A release of raw rows with their distributions: sizes about windows, unknown, incomplete,
    and of no home page."""
    tables = MadeUp()
    for outcome, is_final in (("ok", True), ("timeout", True), ("ok", False), ("ok", True)):
        tables.add_visit(outcome=outcome, is_final=is_final)
        tables.add_connection()
        for size in (0, 1, 1430, 1431, 14_301, 91_520, 91_521, *[14_300] * smaller):
            tables.add_response(size)
        if outcome == "timeout" or not is_final:
            tables.add_response(1)
        tables.add_response(None, unknown="unseen")
        tables.add_response(7, is_complete=False)
    folder = crawl.path(releases, version=1)
    write_tables(folder, tables)
    rows = {name: len(table) for name, table in tables.rows().items()} | write_computed(folder, crawl.kind)
    make_release(folder, crawl, rows=rows)


def test_the_recipe_over_raw_rows_gives_the_shares_of_the_service_at_every_window(tmp_path: Path) -> None:
    for smaller, crawl in enumerate((OCTOBER, NOVEMBER)):
        write_raw_rows(tmp_path / "releases", crawl, smaller=smaller)
    _, code = recipes()[MANY + RAW]
    rows = duckdb.execute(code.replace(STORE, str(tmp_path / "releases"))).fetchall()
    assert [row[:2] for row in rows] == [
        (month.month, iw) for month in (OCTOBER, NOVEMBER) for iw in range(1, 65)
    ]
    shares = {(month, iw): (share, known) for month, iw, _, known, share in rows}
    with TestClient(create_app(tmp_path / "releases", tmp_path / "reports")) as client:
        for crawl in (OCTOBER, NOVEMBER):
            for iw in (1, 2, 9, 10, 11, 63, 64):
                query = f"crawl={crawl}&version=1&iw={iw}&mss=1430"
                expected = client.get(f"/v1/first-flight?{query}").json()
                share, known = shares[crawl.month, iw]
                assert share == pytest.approx(expected["share"], rel=1e-12)
                assert known == expected["known"]
    assert shares["2026-10", 10] != shares["2026-11", 10]


def test_the_worst_sites_are_the_same_by_one_command_and_by_one_statement(tmp_path: Path) -> None:
    for smaller, crawl in enumerate((OCTOBER, NOVEMBER)):
        write_raw_rows(tmp_path / "releases", crawl, smaller=smaller)
    release = NOVEMBER.path(tmp_path / "releases", version=1)
    _, code = recipes()[f"{WORST}DuckDB"]
    worst = duckdb.execute(
        code.replace(f"https://sizes.example/releases/{NOVEMBER}/v1", str(release))
    ).fetchall()
    (command,) = COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    with TestClient(create_app(tmp_path / "releases", tmp_path / "reports")) as client:
        rows = list(csv.DictReader(io.StringIO(client.get(command).text)))
    known = [
        (row["host"], int(row["responses"]) - int(row["unknown"]), pytest.approx(float(row["share"])))
        for row in rows
        if row["share"]
    ]
    assert worst == known
    assert len(worst) > 1

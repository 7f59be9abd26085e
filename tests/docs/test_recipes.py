"""The recipes of docs/recipes.md, taken from the page, give the share that the service gives."""

from __future__ import annotations

import dataclasses
import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from schema.computed_tables import ITEM
from schema.crawls import CrawlName
from tests.api.conftest import item_table, write_release_with_items
from tests.firstflight.commands.served import served

pytestmark = pytest.mark.process

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
SITE = "https://sizes.example/"
STORE = "s3://bucket/releases"
REGION = "?region=eu-central-1"
NOT_RUN = "Not run by a test."
CODE = re.compile(r"^```(python|sql)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

NOVEMBER = CrawlName(month="2026-11")
OCTOBER = CrawlName(month="2026-10")
MOBILE = CrawlName(month="2026-11", device="mobile")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Served:
    """A service, and the folder of its releases."""

    address: str
    releases: Path

    def share(self, crawl: CrawlName) -> float:
        """What the service says."""
        query = f"crawl={crawl}&version=1&iw=10&mss=1430"
        with urllib.request.urlopen(f"{self.address}v1/first-flight?{query}") as answer:
            share: float = json.load(answer)["share"]
        return share

    def placed(self, code: str) -> str:
        """Code with the addresses of this service and of its folder in place of the page's."""
        code = code.replace(SITE, self.address).replace(f"{STORE}{REGION}", self.releases.as_uri())
        return code.replace(STORE, str(self.releases))


def items(*, smaller: int) -> pa.Table:
    """The items of `item_table`, more that fit, some of unknown size, and those of inner pages, which count nowhere."""
    response = {"measure": "responses", "rank": 1, "page_kind": "home", "protocol": "h2"}
    more = [
        *[{**response, "size_bytes": 14_300}] * smaller,
        *[{**response, "size_bytes": None}] * 17,
        *[{**response, "size_bytes": 1, "page_kind": "inner"}] * 1000,
    ]
    whole = pa.concat_tables([item_table(), pa.Table.from_pylist(more, schema=ITEM)])
    return whole.sort_by([("measure", "ascending"), ("size_bytes", "ascending"), ("rank", "ascending")])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    for smaller, crawl in enumerate((OCTOBER, NOVEMBER, MOBILE), start=1):
        write_release_with_items(folder / "releases", crawl, items=items(smaller=100 * smaller))
    environment = {"FIRSTFLIGHT_DATA_DIR": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")}
    with served(environment) as address:
        yield Served(address=address, releases=folder / "releases")


def recipes() -> dict[str, tuple[str, str]]:
    """Language and code of each recipe, by its headings; those that the page says are not run are left out."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        chapter, *sections = re.split(r"^### ", part, flags=re.MULTILINE)
        for section in sections:
            if NOT_RUN not in section:
                ((language, code),) = CODE.findall(section)
                found[f"{chapter.splitlines()[0]}: {section.splitlines()[0]}"] = (language, code)
    return found


ONE = "One release, by URL: "
MANY = "Many months, from S3 or a folder: "


def run(code: str) -> dict[str, Any]:
    """The names that code in Python leaves."""
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    return names


def rows(statement: str, service: Served) -> list[tuple[Any, ...]]:
    """The rows of a statement; files of the service are read where they are, as DuckDB would need the Internet for an address."""
    statement = re.sub(
        rf"{re.escape(service.address)}releases/([^/]+)/v1/",
        lambda found: f"{CrawlName.from_text(found[1]).path(service.releases, version=1)}/",
        service.placed(statement),
    )
    with duckdb.connect() as database:
        return database.sql(statement).fetchall()


def test_every_recipe_is_run_but_those_that_the_page_says_are_not() -> None:
    assert set(recipes()) == {
        *(ONE + tool for tool in ("pandas", "Polars", "pyarrow", "DuckDB")),
        *(MANY + tool for tool in ("pyarrow", "Polars", "DuckDB")),
    }
    assert PAGE.read_text(encoding="utf-8").count(NOT_RUN) == 2  # R and Spark


@pytest.mark.parametrize("tool", ["pandas", "Polars", "pyarrow", "DuckDB"])
def test_a_recipe_of_one_release_gives_the_share_of_the_service(tool: str, service: Served) -> None:
    language, code = recipes()[ONE + tool]
    share = run(service.placed(code))["share"] if language == "python" else rows(code, service)[0][0]
    assert 0 < share < 1
    assert share == pytest.approx(service.share(NOVEMBER), rel=1e-12)


@pytest.mark.parametrize("tool", ["pyarrow", "Polars", "DuckDB"])
def test_a_recipe_of_many_months_gives_the_shares_of_the_service(tool: str, service: Served) -> None:
    language, code = recipes()[MANY + tool]
    shares = run(service.placed(code))["shares"] if language == "python" else dict(rows(code, service))
    expected = {crawl.month: service.share(crawl) for crawl in (OCTOBER, NOVEMBER)}
    assert expected["2026-10"] != expected["2026-11"] != service.share(MOBILE)
    assert shares == pytest.approx(expected, rel=1e-12)


def test_the_recipe_of_pyarrow_leaves_out_a_copy_that_is_not_complete(
    service: Served, tmp_path: Path
) -> None:
    for crawl in (OCTOBER, NOVEMBER):
        write_release_with_items(tmp_path, crawl)
    (OCTOBER.path(tmp_path, version=1) / "manifest.json").unlink()
    store = dataclasses.replace(service, releases=tmp_path)
    _, code = recipes()[f"{MANY}pyarrow"]
    assert run(store.placed(code))["shares"].keys() == {"2026-11"}

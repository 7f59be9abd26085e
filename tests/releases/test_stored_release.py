"""A release of schema version 1, as the code of that version wrote it,
is read by this code and by all later code."""

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.catalogue import Release, read_release
from releases.erasing import has_site, without_site
from releases.verify import verify
from replay.recipes.page_recipe import read_recipes
from reports.document.compose import crawl_facts
from reports.sections.sizes.counts import size_section
from schema.released_tables import released_tables
from storage.erased_site import ErasedSite

STORED = Path(__file__).parent / "stored" / "schema-1"

WINDOW_BYTES = 10 * 1430
"""Ten segments, by the MSS of the service's default."""

TABLES = ("visit", "connection", "response")


@dataclasses.dataclass(frozen=True)
class Served:
    """The stored release, and a client of the service that has it alone."""

    release: Release
    client: TestClient

    @property
    def name(self) -> str:
        return str(self.release.crawl)

    def get(self, path: str, **asked: Any) -> dict[str, Any]:
        answer = self.client.get(path, params={"crawl": self.name, **asked})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def counts(self, query: str, table: str = "response") -> tuple[Any, ...]:
        """The first row of a query of one of the release's own files, `file`."""
        with duckdb.connect() as database:
            database.read_parquet(str(self.release.file(table)), hive_partitioning=False).create_view("file")
            row = database.execute(query).fetchone()
        assert row is not None
        return row


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("data") / "releases"
    crawl = read_release(STORED).crawl
    release = read_release(Path(shutil.copytree(STORED, crawl.path(root, version=1))))
    app = create_app(root, root.parent / "reports", looked_at_every_s=3600)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Served(release, client)


def test_it_is_of_schema_version_1_and_every_check_holds(served: Served) -> None:
    assert served.release.manifest.schema_version == 1
    assert [
        f"{check.name}: {check.evidence}" for check in verify(served.release, None) if not check.holds
    ] == []


def test_its_coverage_at_ten_segments_is_that_of_its_own_rows(served: Served) -> None:
    fits, known = served.counts(
        f"SELECT count(*) FILTER (wire_bytes <= {WINDOW_BYTES}), "
        "count(wire_bytes) FROM file WHERE is_complete"
    )
    answer = served.get("/v1/first-flight", iw=10)
    assert (answer["known"], answer["share"]) == (known, fits / known)
    assert 0 < answer["share"] < 1
    assert "fewer than 20 sites" in answer["interval_unknown"]


def test_its_strata_are_those_of_its_own_rows(served: Served) -> None:
    for protocol in ("http/1.1", "h2"):
        (known,) = served.counts(
            f"SELECT count(wire_bytes) FROM file WHERE is_complete AND protocol = '{protocol}'"
        )
        answer = served.get("/v1/distributions", measure="responses", protocol=protocol)
        assert [distribution["known"] for distribution in answer["distributions"]] == [known]


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_answered_with_what_it_holds(served: Served, table: str) -> None:
    names = [name for name in released_tables()[table].schema.names if name != "crawl_id"]
    rows = served.get(f"/v1/{table}s", fields=",".join(names), limit=1000)["rows"]
    assert len(rows) == served.release.manifest.rows[table]
    known = served.counts(f"SELECT {', '.join(f'count({name})' for name in names)} FROM file", table)
    assert [sum(row[name] is not None for row in rows) for name in names] == list(known)


@pytest.mark.parametrize("suffix", ["csv", "ndjson", "arrow", "parquet"])
def test_its_rows_are_streamed_in_every_format(served: Served, suffix: str) -> None:
    answer = served.client.get(f"/v1/responses.{suffix}", params={"crawl": served.name})
    assert answer.status_code == 200
    assert len(answer.content) > 1000


def test_its_pages_are_shown(served: Served) -> None:
    home = f"/releases/{served.name}/v1"
    page = served.client.get(home)
    assert page.status_code == 200
    assert "schema 1" in page.text
    assert "incomplete responses" in page.text.lower()
    for table in released_tables():
        assert f"{home}/{table}.parquet" in page.text
    (visit, *_) = served.get("/v1/visits", outcome="ok")["rows"]
    assert served.get(f"/v1/pages/{visit['id']}")["responses"]
    for path in (
        "/",
        f"/explore?crawl={served.name}",
        f"/sites/{visit['host']}",
        f"{home}/pages/{visit['id']}",
    ):
        assert served.client.get(path).status_code == 200, path


def test_a_report_counts_it(served: Served) -> None:
    assert crawl_facts(served.release)["outcomes"]["ok"] > 0
    assert size_section(served.release).content["incomplete_responses"]["count"] == 0


def test_its_pages_can_be_replayed(served: Served) -> None:
    recipes = read_recipes(served.release)
    assert len(recipes) == crawl_facts(served.release)["outcomes"]["ok"]


def test_a_site_can_be_withdrawn_from_it(served: Served, tmp_path: Path) -> None:
    (visit, *_) = served.get("/v1/visits", outcome="ok")["rows"]
    site = ErasedSite(host=visit["host"], key="ab" * 16)
    assert has_site(served.release, site)
    place = served.release.crawl.path(tmp_path, version=2)
    after = without_site(served.release, site, place, version=2)
    assert after.manifest.schema_version == 1
    assert not has_site(after, site)
    assert [check.name for check in verify(after, None) if not check.holds] == []

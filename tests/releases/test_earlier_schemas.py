"""Today's code reads a release of every earlier schema version, each as the code of that version wrote it."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.catalogue import Release, read_release
from releases.verify import verify
from releases.withdrawing import has_site, without_site
from replay.recipes.page_recipe import read_recipes
from reports.document.report_content import crawl_section
from reports.sections.sizes.counts import size_section
from schema.tables import RELEASED, SCHEMA_VERSION
from storage.withdrawal import Withdrawal

STORED = Path(__file__).parent / "stored"
NEVER_GIVEN = {5}
EARLIER = [number for number in range(1, SCHEMA_VERSION) if number not in NEVER_GIVEN]

WINDOW_BYTES = 10 * 1430
"""Ten segments, by the MSS of the service's default."""

SINCE = {
    "visit": {"page_kind": 2, "load": 2, "crawler_host": 2, "largest_contentful_paint_us": 6},
    "connection": {"packet_bytes": 6, "initial_window_segments": 6, "first_record_bytes": 6},
    "response": {
        "no_store": 3, "lifetime_s": 3, "request_body_bytes": 4, "is_complete": 6, "server_delay_us": 6, "urgency": 6,
    },
}  # fmt: skip
"""Columns by table, with the first schema version that has them, from the changelog of the data."""

COMPLETENESS, ITEMS = 6, 7
"""First schema versions that know whether a response arrived whole, and that have strata."""


@dataclasses.dataclass(frozen=True)
class Earlier:
    """A release of an earlier schema version, and a client of the service that has it alone."""

    release: Release
    schema: int
    client: TestClient

    @property
    def name(self) -> str:
        return str(self.release.crawl)

    def get(self, path: str, **asked: Any) -> dict[str, Any]:
        answer = self.client.get(path, params={"crawl": self.name, **asked})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def one(self, query: str) -> tuple[Any, ...]:
        """The first row of a query of the release's own file of responses, `file`."""
        with duckdb.connect() as database:
            database.read_parquet(str(self.release.file("response")), hive_partitioning=False).create_view(
                "file"
            )
            row = database.execute(query).fetchone()
        assert row is not None
        return row


@pytest.fixture(scope="module", params=EARLIER, ids=[f"schema-{number}" for number in EARLIER])
def earlier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Earlier]:
    root = tmp_path_factory.mktemp("data") / "releases"
    stored = STORED / f"schema-{request.param}"
    assert stored.is_dir(), (
        f"no release of schema version {request.param} is kept: see {STORED / 'README.md'}"
    )
    crawl = read_release(stored).crawl
    release = read_release(Path(shutil.copytree(stored, crawl.path(root, version=1))))
    app = create_app(root, root.parent / "reports", looked_at_every_s=3600)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Earlier(release, request.param, client)


def test_it_is_of_its_schema_version_and_every_check_holds(earlier: Earlier) -> None:
    assert earlier.release.manifest.schema_version == earlier.schema < SCHEMA_VERSION
    assert [f"{one.name}: {one.said}" for one in verify(earlier.release, None) if not one.holds] == []


def test_its_coverage_at_ten_segments_is_that_of_its_own_rows(earlier: Earlier) -> None:
    whole = "coalesce(is_complete, true)" if earlier.schema >= COMPLETENESS else "true"
    fits, known = earlier.one(
        f"SELECT count(*) FILTER (wire_bytes <= {WINDOW_BYTES}), count(wire_bytes) FROM file WHERE {whole}"  # our own SQL
    )
    found = earlier.get("/v1/first-flight", iw=10)
    assert (found["known"], found["share"]) == (known, fits / known)
    assert 0 < found["share"] < 1
    assert (found["lower"], found["upper"]) == (None, None)
    assert "no table `item`" in found["interval_unknown"]


def test_its_distributions_are_answered_and_what_it_does_not_know_is_null(earlier: Earlier) -> None:
    found = earlier.get("/v1/distributions")
    by_measure = {one["measure"]: one for one in found["distributions"]}
    assert by_measure["responses"]["points"][-1]["cdf"] == 1
    if earlier.schema < SINCE["connection"]["initial_window_segments"]:
        assert {fit["share"] for fit in by_measure["initial_windows"]["fits"]} == {None}
    told = earlier.schema >= COMPLETENESS
    assert (found["incomplete_responses"] is not None, found["incomplete_share"] is not None) == (told, told)
    stratum = earlier.get("/v1/distributions", protocol="h2")
    assert stratum["distributions"] == []
    assert "no strata" in stratum["stratum_unknown"]


@pytest.mark.parametrize("table", SINCE)
def test_columns_that_it_does_not_have_are_null_and_never_zero(earlier: Earlier, table: str) -> None:
    held = set(pq.read_schema(earlier.release.file(table)).names)
    assert {name for name in SINCE[table] if name in held} == {
        name for name, since in SINCE[table].items() if since <= earlier.schema
    }
    rows = earlier.get(f"/v1/{table}s", fields=",".join(["id", *SINCE[table]]), limit=1000)["rows"]
    assert len(rows) == earlier.release.manifest.rows[table]
    for name in SINCE[table].keys() - held:
        assert {row[name] for row in rows} == {None}


@pytest.mark.parametrize("suffix", ["csv", "ndjson", "arrow", "parquet"])
def test_its_rows_are_streamed_in_every_format(earlier: Earlier, suffix: str) -> None:
    answer = earlier.client.get(f"/v1/responses.{suffix}", params={"crawl": earlier.name})
    assert answer.status_code == 200
    assert len(answer.content) > 1000


def test_its_pages_are_shown(earlier: Earlier) -> None:
    home = f"/releases/{earlier.name}/v1"
    page = earlier.client.get(home)
    assert page.status_code == 200
    assert f"schema {earlier.schema}" in page.text
    assert ("Incomplete responses" in page.text) == (earlier.schema >= COMPLETENESS)
    for model in RELEASED:
        assert f"{home}/{model.__tablename__}.parquet" in page.text
    (visit, *_) = earlier.get("/v1/visits", outcome="ok")["rows"]
    shown = earlier.get(f"/v1/pages/{visit['id']}")
    assert shown["responses"]
    for path in (
        "/",
        f"/explore?crawl={earlier.name}",
        f"/sites/{visit['host']}",
        f"{home}/pages/{visit['id']}",
    ):
        assert earlier.client.get(path).status_code == 200, path


def test_a_report_counts_it(earlier: Earlier) -> None:
    assert crawl_section(earlier.release)["outcomes"]["ok"] > 0
    sizes = size_section(earlier.release).content
    assert (sizes["incomplete_responses"]["count"] is not None) == (earlier.schema >= COMPLETENESS)


def test_its_pages_can_be_replayed(earlier: Earlier) -> None:
    recipes = read_recipes(earlier.release)
    assert len(recipes) == crawl_section(earlier.release)["outcomes"]["ok"]


@pytest.mark.parametrize("earlier", [2, 6], indirect=True)
def test_a_site_can_be_withdrawn_from_it(earlier: Earlier, tmp_path: Path) -> None:
    (visit, *_) = earlier.get("/v1/visits", outcome="ok")["rows"]
    site = Withdrawal(host=visit["host"], key="ab" * 16)
    assert has_site(earlier.release, site)
    place = earlier.release.crawl.path(tmp_path, version=2)
    after = without_site(earlier.release, site, place, version=2)
    assert after.manifest.schema_version == earlier.schema
    assert not has_site(after, site)
    assert [one.name for one in verify(after, None) if not one.holds] == []

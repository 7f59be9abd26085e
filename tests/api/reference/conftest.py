"""A service whose library has something for every endpoint of the API."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from api.lab.queue import Queue
from releases.errata import record
from schema.crawls import CrawlName
from storage.progress import write_progress
from storage.report_versions import Publication
from tests.api.conftest import running, write_release_with_items
from tests.api.rows.conftest import SITES, made_up
from tests.factories.made_up_crawl import write_tables
from tests.factories.made_up_replay import at_once
from tests.factories.published_report import CITABLE, write_version

CROISSANT = Path(__file__).parents[2] / "releases" / "stored" / "schema-1" / "croissant.json"

CONFORMANCE = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
"""What every answer has to be: no server error, and as documented."""

BASE_URL = "http://testserver"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Two months, of which the newer has an erratum and a report, a running crawl,
    and a lab that replays nothing."""
    root = tmp_path_factory.mktemp("data")
    rows = CrawlName(month="2026-11")
    write_tables(root / "tables", made_up())
    others = {path.name: path for path in [*(root / "tables").iterdir(), CROISSANT]}
    for crawl in (rows, CrawlName(month="2026-10")):
        write_release_with_items(root / "releases", crawl, others=others, rows={"visit": SITES})
    record(root / "releases", [f"{rows}/v1"], wrong="too large", advice="wait", date="2026-12-04")
    write_version(root / "reports" / "2026", Publication(date="2027-01-15"), **CITABLE)
    write_progress(root / "progress", running(datetime.datetime.now(datetime.UTC)))
    app = create_app(
        root / "releases",
        root / "reports",
        progress=root / "progress",
        lab=Queue(at_once),
        looked_at_every_s=0,
    )
    with TestClient(app, base_url=BASE_URL, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client

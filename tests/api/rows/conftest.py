"""A release of a made-up crawl with all its tables, and the service over it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from releases.build import write_computed
from schema.crawls import CrawlName
from tests.api.conftest import serving
from tests.factories.made_up_crawl import MadeUp, write_tables
from tests.factories.made_up_release import make_release

NAME = CrawlName(month="2026-11", vantage="here", kind="localweb")
CRAWL = str(NAME)
SITES = 12
RESPONSES = 5


def made_up() -> MadeUp:
    """Twelve sites with two connections and five responses each; the fifth is of unknown size."""
    crawl = MadeUp()
    for site in range(SITES):
        crawl.add_visit()
        crawl.add_connection(tls_handshake_bytes=3000, record_bytes=100, window=10)
        crawl.add_response(1000 + site)
        crawl.add_response(14_600 + site, first_ms=151, last_ms=200)
        crawl.add_connection(
            host="cdn.test", tls_handshake_bytes=3000, window=32, window_unknown="never_filled"
        )
        crawl.add_response(500, sent_ms=300, first_ms=350)
        crawl.add_response(None, unknown="from_cache")
        crawl.add_response(None, first_ms=None)
    return crawl


def write_crawl(
    releases: Path, crawl: CrawlName, tables: MadeUp, *, version: int = 1, **options: int
) -> Path:
    folder = crawl.path(releases, version=version)
    write_tables(folder, tables)
    (folder / "dictionary.json").write_text("{}\n")
    rows = {name: len(part) for name, part in tables.rows().items()} | write_computed(folder, crawl.kind)
    make_release(folder, crawl, version=version, rows=rows)
    return folder


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    root = tmp_path_factory.mktemp("data") / "releases"
    write_crawl(root, NAME, made_up())
    with serving(root) as client:
        yield client


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    write_crawl(tmp_path / "releases", NAME, made_up())
    return tmp_path / "releases"

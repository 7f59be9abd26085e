"""A release whose first site has one page load of known times, and a folder of two months."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.factories.made_up_crawl import MadeUp

EARLIER = dataclasses.replace(NAME, month="2026-10")


def one_load() -> MadeUp:
    """One page load: 20 kB, of which a part arrives after the first round trip; a reused connection;
    HTTP/3; and a cache."""
    crawl = MadeUp()
    crawl.add_visit()
    crawl.visit[-1] |= {"load_us": 900_000, "largest_contentful_paint_us": 450_000}
    crawl.add_connection(tls_handshake_bytes=3000, window=10)
    crawl.add_response(20_000, first_ms=150, last_ms=230)
    crawl.add_response(5000, sent_ms=160, first_ms=210, last_ms=220)
    crawl.add_connection(host="cdn.test", tls_handshake_bytes=0, protocol="h3")
    crawl.add_response(100, first_ms=150, last_ms=170)
    crawl.add_response(None, unknown="from_cache")
    crawl.add_response(None, first_ms=None)
    return crawl


@pytest.fixture(scope="session")
def two_months(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of two months, which both have visits to site1.test, and which no test changes."""
    releases = tmp_path_factory.mktemp("two-months")
    write_crawl(releases, NAME, made_up())
    write_crawl(releases, EARLIER, one_load())
    return releases


@pytest.fixture
def months(two_months: Path, tmp_path: Path) -> Path:
    return shutil.copytree(two_months, tmp_path / "releases")

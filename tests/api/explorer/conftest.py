"""A service with a month of many sites, and a month of one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api import drawing
from api.app import create_app
from schema.crawls import CrawlName
from tests.api.conftest import write_release, write_release_with_items

MANY, ONE = "2026-12.desktop.local.tcp.web", "2026-11.desktop.local.tcp.web"
"""A month with sites enough for intervals, and one without."""


@pytest.fixture(scope="package", autouse=True)
def _is_loaded() -> None:
    """What draws is loaded, which takes longer on a busy machine than an answer may."""
    drawing.library(None)


@pytest.fixture(scope="module")
def client_of_items(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("library")
    write_release_with_items(folder, CrawlName(month="2026-12"))
    write_release(folder, CrawlName(month="2026-11"), version=1)
    with TestClient(create_app(folder, folder / "reports")) as client:
        yield client

"""Commands that tests kill, and data folders that they kill them over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.engine import connect
from tests.conftest import new_database, upgraded
from tests.kills.commands import Commands, commands
from tests.kills.world import World, copy_world, fill


@pytest.fixture(scope="session")
def firstflight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    with commands(tmp_path_factory.mktemp("commands")) as started:
        yield started


@pytest.fixture(scope="session")
def filled(embedded_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_database(embedded_server, upgraded(embedded_server)) as url:
        data = tmp_path_factory.mktemp("filled") / "data"
        engine = connect(url)
        fill(engine, data)
        engine.dispose()
        yield World(data, url)


@pytest.fixture
def world(filled: World, embedded_server: str, tmp_path: Path) -> Iterator[World]:
    """A data folder with a release and its replay, and the database of the crawl."""
    with copy_world(filled, embedded_server, tmp_path / "world") as copied:
        yield copied

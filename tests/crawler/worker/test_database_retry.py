from __future__ import annotations

import asyncio
import functools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from crawler.browser import processes
from crawler.worker.database_retry import DatabaseRetry
from storage import embedded
from storage.engine import DatabaseFull, DatabaseUnreachable, connect


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder / "postgres"
    embedded.stop(folder / "postgres")
    shutil.rmtree(folder)


def test_a_database_that_no_service_restarts_is_revived(data: Path) -> None:
    engine = connect(embedded.start(data))

    def one() -> object:
        with engine.connect() as connection:
            return connection.scalar(text("SELECT 1"))

    async def ask() -> object:
        retrying = DatabaseRetry(
            retry_for_s=60,
            stop=asyncio.Event(),
            say=said.append,
            revive=functools.partial(embedded.start, data),
        )
        assert await retrying(one) == 1
        killed = embedded.postmaster(data)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        while processes.runs(killed):
            await asyncio.sleep(0.01)
        engine.dispose()  # a connection that is open may outlive the postmaster by a moment
        return await retrying(one)

    said: list[str] = []
    answer = asyncio.run(ask())
    engine.dispose()
    assert answer == 1
    assert said[1:] == ["the database is back"]


@pytest.mark.parametrize(("error", "times"), [(DatabaseUnreachable("away"), 3), (DatabaseFull("full"), 1)])
def test_only_an_unreachable_database_is_retried_and_only_for_the_time_limit(
    error: Exception, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.database_retry.FIRST_PAUSE_S", 0.2)
    asked = []

    def fails() -> None:
        asked.append(1)
        raise error

    async def ask() -> None:
        await DatabaseRetry(retry_for_s=0.5, stop=asyncio.Event(), say=lambda _: None)(fails)

    with pytest.raises(type(error)):
        asyncio.run(ask())
    assert len(asked) == times

import asyncio
import functools
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from crawler.browser import processes
from crawler.worker.database_retry import DatabaseRetry
from storage import embedded
from storage.engine import DatabaseFull, DatabaseUnreachable, connect
from tests.factories.limited import time_passes


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ff-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder / "postgres"
    embedded.stop(folder / "postgres")
    shutil.rmtree(folder)


def test_a_database_that_no_service_restarts_is_revived(data: Path) -> None:
    engine = connect(embedded.start(data))

    def select_one() -> object:
        with engine.connect() as connection:
            return connection.scalar(text("SELECT 1"))

    async def ask() -> object:
        retrying = DatabaseRetry(
            retry_for_s=60,
            stop=asyncio.Event(),
            say=lines.append,
            revive=functools.partial(embedded.start, data),
        )
        assert await retrying(select_one) == 1
        killed = embedded.postmaster(data)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        while processes.is_running(killed):
            await asyncio.sleep(0.01)
        engine.dispose()  # a connection that is open may outlive the postmaster by a moment
        return await retrying(select_one)

    lines: list[str] = []
    answer = asyncio.run(ask())
    engine.dispose()
    assert answer == 1
    assert lines[1:] == ["the database is back"]


@pytest.mark.parametrize(("error", "times"), [(DatabaseUnreachable("away"), 3), (DatabaseFull("full"), 1)])
def test_only_an_unreachable_database_is_retried_and_only_for_the_time_limit(
    error: Exception, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.database_retry.FIRST_PAUSE_S", 0.01)
    asked = []

    async def ask() -> None:
        loop = asyncio.get_running_loop()

        def fails() -> None:
            asked.append(1)
            if len(asked) == 3:
                loop.call_soon_threadsafe(time_passes, 31)
            raise error

        await DatabaseRetry(retry_for_s=30, stop=asyncio.Event(), say=lambda _: None)(fails)

    with pytest.raises(type(error)):
        asyncio.run(ask())
    assert len(asked) == times


def test_calls_that_were_under_way_when_a_database_went_or_came_back_do_not_say_so_again() -> None:
    went, came, answered_late, failed_late = (threading.Event() for _ in range(4))
    lines: list[str] = []
    tries: list[int] = []

    def begun_before_it_went() -> None:
        answered_late.wait(20)

    def fails_once_after_it_is_back() -> None:
        tries.append(1)
        if len(tries) == 1:
            failed_late.wait(20)
            raise DatabaseUnreachable("away")

    def fails_until_it_is_back() -> None:
        if not came.is_set():
            went.set()
            raise DatabaseUnreachable("away")

    async def ask() -> None:
        retrying = DatabaseRetry(retry_for_s=60, stop=asyncio.Event(), say=lines.append)
        early, late = (
            asyncio.ensure_future(retrying(call))
            for call in (begun_before_it_went, fails_once_after_it_is_back)
        )
        await asyncio.sleep(0)
        outage = asyncio.ensure_future(retrying(fails_until_it_is_back))
        await asyncio.to_thread(went.wait, 20)
        answered_late.set()
        await early
        assert lines[1:] == []
        came.set()
        await outage
        failed_late.set()
        await late

    asyncio.run(ask())
    assert tries == [1, 1]
    assert lines == ["away; waiting for it for up to 60 seconds", "the database is back"]

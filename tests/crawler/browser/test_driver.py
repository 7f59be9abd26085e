"""Playwright's driver and browsers are replaced when killed, and die with the crawler."""

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError

from crawler.browser import processes
from crawler.browser.browser import Browser
from crawler.browser.driver import BROWSERS_EACH, Drivers, list_drivers
from crawler.errors import LaunchFailed
from crawler.visit.attempt import BrowserDied
from crawler.visit.visit import visit_page
from tests.zoo.raw import RawWeb, html

pytestmark = pytest.mark.browser

WITHIN_S = 60.0
"""Time limit for the browsers of a killed crawler to end, far beyond what it takes on a busy machine,
in seconds."""


@contextlib.asynccontextmanager
async def launched(drivers: Drivers, chromium: Path, flags: list[str]) -> AsyncIterator[Browser]:
    async with (
        drivers.lend() as playwright,
        Browser.launch(chromium, flags=flags, playwright=playwright) as browser,
    ):
        yield browser


def test_a_driver_that_dies_costs_its_browsers_and_is_replaced(chromium: Path) -> None:
    lines: list[str] = []

    async def crawl() -> list[object]:
        async with RawWeb({"a.test/": html("hello")}) as web, Drivers(lines.append) as drivers:
            async with launched(drivers, chromium, web.browser_flags) as browser:
                first = drivers.pid
                assert first is not None
                assert (await visit_page(browser, "a.test", budget_s=20)).visit["outcome"] == "ok"
                os.kill(first, signal.SIGKILL)
                with pytest.raises(BrowserDied) as died:
                    await visit_page(browser, "a.test", budget_s=20)
                assert died.value.observation.visit["outcome"] == "crash"
            async with launched(drivers, chromium, web.browser_flags) as browser:
                again = (await visit_page(browser, "a.test", budget_s=20)).visit["outcome"]
                return [again, drivers.pid == first]

    assert asyncio.run(crawl()) == ["ok", False]
    assert lines == ["Playwright's driver died: another is started, and its browsers with it"]


def test_what_is_written_to_a_driver_that_just_died_leaves_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def crawl() -> None:
        async with Drivers() as drivers, drivers.lend() as playwright:
            assert drivers.pid is not None
            os.kill(drivers.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # its end may have been taken note of already
                os.waitid(os.P_PID, drivers.pid, os.WEXITED | os.WNOWAIT)
            # The event loop has not yet seen that the pipe is closed.
            with pytest.raises(PlaywrightError):
                await playwright.request.new_context()

    asyncio.run(crawl())
    gc.collect()
    assert caplog.messages == []


def test_a_driver_that_dies_as_it_starts_fails_one_launch_and_leaves_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def kill_at_first_sight() -> None:
        while not (drivers := list_drivers()):
            await asyncio.sleep(0.001)
        os.kill(drivers[0], signal.SIGKILL)

    async def crawl() -> None:
        async with Drivers() as drivers:
            killer = asyncio.create_task(kill_at_first_sight())
            with pytest.raises(LaunchFailed, match="ended as it started"):
                await drivers.lend().__aenter__()
            await killer
            async with drivers.lend():
                assert drivers.pid is not None

    asyncio.run(crawl())
    gc.collect()
    assert caplog.messages == []


def test_a_driver_that_has_started_its_share_is_replaced_and_ends_with_its_last_browser() -> None:
    async def lend() -> None:
        async with Drivers() as drivers, contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(drivers.lend())
            first = drivers.pid
            assert first is not None
            for _ in range(BROWSERS_EACH - 1):
                async with drivers.lend():
                    assert drivers.pid == first
            async with drivers.lend():
                assert drivers.pid != first
                assert processes.is_running(first)
            await stack.aclose()
            assert not processes.is_running(first)
            assert drivers.pid is not None
            assert processes.is_running(drivers.pid)

    asyncio.run(lend())


def test_the_memory_of_a_browser_is_that_of_all_its_processes(chromium: Path) -> None:
    """64 MB held by a page's script are in the renderer, a grandchild of the browser process."""
    page = html("<script>kept = new Uint8Array(64 << 20).fill(7)</script>")

    async def measure() -> list[int]:
        async with (
            RawWeb({"a.test/": page}) as web,
            Drivers() as drivers,
            launched(drivers, chromium, web.browser_flags) as browser,
        ):
            context = await browser.context()
            empty = await context.new_page()
            before = browser.memory_bytes()
            await empty.goto("http://a.test/")
            during = browser.memory_bytes()
            await context.close()
            async with asyncio.timeout(60):
                while browser.memory_bytes() > during - (48 << 20):
                    await asyncio.sleep(0.1)
            return [before, during]

    before, during = asyncio.run(measure())
    assert 20 << 20 < before < 400 << 20
    assert 60 << 20 < during - before < 200 << 20


CRAWLER = """
import asyncio, sys
from pathlib import Path
from crawler.browser.browser import Browser
from crawler.browser.driver import Drivers

async def main():
    async with Drivers() as drivers, drivers.lend() as playwright:
        async with Browser.launch(Path(sys.argv[1]), playwright=playwright) as browser:
            context = await browser.context()
            page = await context.new_page()
            # Much into the log: whoever writes it must not hang when its reader is gone.
            await page.goto("data:text/html,<script>setInterval(()=>fetch('http://a.invalid/').catch(()=>0), 1)</script>")
            print("visiting", flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""  # noqa: E501


def test_the_browsers_of_a_killed_crawler_die_with_it(chromium: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    crawler = subprocess.Popen(
        [sys.executable, "-c", CRAWLER, str(chromium)], stdout=subprocess.PIPE, env=environment
    )
    assert crawler.stdout is not None
    with crawler.stdout:
        assert crawler.stdout.readline() == b"visiting\n"
    time.sleep(1)
    family = processes.list_descendants(crawler.pid)
    assert len(family) >= 4  # driver, browser, network service, renderer, ...
    crawler.kill()
    crawler.wait()
    deadline = time.monotonic() + WITHIN_S
    while any(processes.is_running(pid) for pid in family) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [processes.read_arguments(pid) for pid in family if processes.is_running(pid)] == []

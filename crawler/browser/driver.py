"""Playwright's driver: a Node process that several browsers share, replaced when it dies or takes too much
memory."""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from crawler.browser import processes
from crawler.errors import LaunchFailed

BROWSERS_EACH = 10

MEMORY_BYTES = 512 * 1024 * 1024
"""Memory above which a driver starts no more browsers; a new driver has 60 MB."""

ARGUMENT = b"run-driver"

GONE = "Connection closed while reading from the driver"
"""Text of the bare Exception by which Playwright tells that its driver died."""

ENDED = "Playwright's driver ended as it started: is there memory left?"
"""The error of a driver that dies before its first browser."""


@dataclasses.dataclass(slots=True)
class _Driver:
    playwright: Playwright
    pid: int
    lent: int = 0
    users: int = 0

    @property
    def is_fit(self) -> bool:
        return (
            self.lent < BROWSERS_EACH
            and processes.is_running(self.pid)
            and processes.own_memory_bytes(self.pid) < MEMORY_BYTES
        )


class Drivers:
    """Lends a driver to the browsers that start while it may start more; it ends with the last of them."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self._say = say
        self._current: _Driver | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        asyncio.get_running_loop().set_exception_handler(_report_unawaited)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._current is not None:
            await self._current.playwright.stop()

    @contextlib.asynccontextmanager
    async def lend(self) -> AsyncIterator[Playwright]:
        """Lend a driver to a browser; LaunchFailed if none starts."""
        driver = await self._choose_driver()
        driver.users += 1
        driver.lent += 1
        try:
            yield driver.playwright
        finally:
            driver.users -= 1
            if driver is not self._current and not driver.users:
                await driver.playwright.stop()

    @property
    def pid(self) -> int | None:
        return self._current.pid if self._current else None

    async def _choose_driver(self) -> _Driver:
        async with self._starting:
            old = self._current
            if old is not None and old.is_fit:
                return old
            self._current = None
            if old is not None:
                if not processes.is_running(old.pid):
                    self._say("Playwright's driver died: another is started, and its browsers with it")
                if not old.users:
                    await old.playwright.stop()
            self._current = await _start()
            return self._current


async def _start() -> _Driver:
    before = set(list_drivers())
    # Playwright raises no class of its own where its driver dies.
    (playwright,) = await asyncio.gather(async_playwright().start(), return_exceptions=True)
    if isinstance(playwright, BaseException):
        if isinstance(playwright, (PlaywrightError, OSError)):
            message = (str(playwright).strip() or "no answer").splitlines()[0]
            raise LaunchFailed(
                f"Playwright's driver does not start ({message}): install playwright anew"
            ) from playwright
        if str(playwright) == GONE:
            raise LaunchFailed(ENDED) from playwright
        raise playwright
    ours = [pid for pid in list_drivers() if pid not in before]
    if not ours:
        raise LaunchFailed(ENDED)
    return _Driver(playwright, ours[0])


def list_drivers() -> list[int]:
    us = os.getpid()
    children = [pid for pid, parent in processes.list_parents().items() if parent == us]
    return [pid for pid in children if ARGUMENT in processes.read_arguments(pid)]


def _report_unawaited(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report unawaited errors, except two that a dead driver leaves besides the error of every call.

    One is Playwright's own, the other that of the pipe, if something was written to it since (before Python
    3.13).
    """
    error = context.get("exception")
    if str(error) != GONE and not isinstance(error, BrokenPipeError):
        loop.default_exception_handler(context)

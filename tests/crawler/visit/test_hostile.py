"""No page holds a browser longer than its budget, hurts the page after it, or loses what had arrived."""

import asyncio
import contextlib
import dataclasses
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import crawler.browser.browser
from crawler.browser.browser import Browser
from crawler.browser.processes import own_memory_bytes
from crawler.visit.attempt import BrowserDied, Observation
from crawler.visit.recorder import CLEANUP_S
from crawler.visit.visit import visit_page
from tests.crawler.visit.hostile_cases import CASES, CHOSEN
from tests.zoo.hostile.pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[3]

BUDGET_S = 4.0
PLAIN_LOADS = 3
"""The budget is at least the time of so many loads of a plain page on this machine."""

SETTLE_S = 1.0
LONG_BUDGET_S = 20.0
LONG_SETTLE_S = 10.0
ROOM_S = 5.0
"""Allowance for a loaded machine, in seconds: the tests check that visits are bounded, not their speed."""

BROWSERS = 2
DATA_LIMIT_BYTES = 1 << 30
OWN_GROWTH_BYTES = 300 << 20

NEXT = ("ok", "quiet", 200, 3, 309, 1.0)
"""Outcome, stop reason, status, responses, bytes and coverage of plain.test after any hostile page."""


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """A hostile visit, and the visit after it."""

    visit: Observation
    budget_s: float
    wall_s: float
    next: Observation
    own_bytes: int
    """Memory of the crawler's own process afterwards."""


@pytest.fixture(scope="module")
def flags() -> Iterator[list[str]]:
    """Flags of the browser for a server in another process,
    so that its work and memory are not the crawler's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.zoo.hostile.web"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["browser_flags"]
        server.stdin.close()
        server.wait(120)


@pytest.fixture(scope="module")
def own_bytes_before() -> int:
    return own_memory_bytes(os.getpid())


@pytest.fixture(scope="module")
def seen(
    request: pytest.FixtureRequest, chromium: Path, flags: list[str], own_bytes_before: int
) -> Mapping[str, Seen]:
    """Visit the hosts of the selected tests with several browsers side by side."""
    chosen = {item.callspec.params.get("host") for item in request.session.items if hasattr(item, "callspec")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawler.browser.browser, "DATA_LIMIT_BYTES", DATA_LIMIT_BYTES)
        return asyncio.run(crawl(chromium, flags, [host for host in CASES if host in chosen]))


async def crawl(chromium: Path, flags: list[str], hosts: list[str]) -> Mapping[str, Seen]:
    by_host: dict[str, Seen] = {}
    waiting = iter(hosts)

    async def browse() -> None:
        async with contextlib.AsyncExitStack() as stack:
            seat = Seat(chromium, flags, stack)
            _, plain_s = await seat.visit("plain", LONG_BUDGET_S, LONG_SETTLE_S)
            for host in waiting:
                budget_s, settle_s = max(BUDGET_S, PLAIN_LOADS * plain_s), SETTLE_S
                if not CASES[host].races:
                    budget_s, settle_s = LONG_BUDGET_S, LONG_SETTLE_S
                first, wall_s = await seat.visit(host, budget_s, settle_s)
                after, plain_s = await seat.visit("plain", LONG_BUDGET_S, LONG_SETTLE_S)
                by_host[host] = Seen(first, budget_s, wall_s, after, own_memory_bytes(os.getpid()))

    await asyncio.gather(*(browse() for _ in range(BROWSERS)))
    return by_host


class Seat:
    """Visits hosts with one browser, replaced when it dies."""

    def __init__(self, chromium: Path, flags: list[str], stack: contextlib.AsyncExitStack) -> None:
        self._launch = functools.partial(Browser.launch, chromium, flags=flags)
        self._stack = stack
        self._browser: Browser | None = None

    async def visit(self, host: str, budget_s: float, settle_s: float) -> tuple[Observation, float]:
        if self._browser is None:
            self._browser = await self._stack.enter_async_context(self._launch())
        began = time.monotonic()
        try:
            observation = await visit_page(
                self._browser, f"{host}.test", budget_s=budget_s, settle_s=settle_s
            )
        except BrowserDied as died:
            observation = died.observation
            self._browser = None
        wall_s = time.monotonic() - began
        if self._browser is None:
            await self._stack.aclose()
        return observation, wall_s


def ending(observation: Observation) -> tuple[Any, ...]:
    return tuple(observation.visit[name] for name in ("outcome", "stop_reason", "status"))


@pytest.mark.parametrize("host", CHOSEN)
def test_a_hostile_page_ends_as_stated_and_keeps_what_had_arrived(
    host: str, seen: Mapping[str, Seen]
) -> None:
    case, load = CASES[host], seen[host].visit
    assert ending(load) in case.endings, load.visit
    assert (load.visit["error"] or "").startswith(case.error or ""), load.visit
    assert load.visit["received_bytes"] >= case.least_bytes
    assert load.visit["log_lines_lost"] == 0
    if load.visit["status"] is not None:
        main = load.responses[load.visit["main_response_id"] - 1]
        assert (main["host"], main["status"]) == (f"{host}.test", load.visit["status"])


@pytest.mark.parametrize("host", CHOSEN)
def test_a_hostile_page_holds_its_browser_no_longer_than_its_budget(
    host: str, seen: Mapping[str, Seen]
) -> None:
    assert seen[host].wall_s <= seen[host].budget_s + CLEANUP_S + ROOM_S


@pytest.mark.parametrize("host", CHOSEN)
def test_the_page_after_a_hostile_one_is_measured_right(host: str, seen: Mapping[str, Seen]) -> None:
    after = seen[host].next
    counted = (len(after.responses), after.visit["received_bytes"], after.visit["coverage"])
    assert (*ending(after), *counted) == NEXT, after.visit


@pytest.mark.parametrize("host", CHOSEN)
def test_a_hostile_page_fills_no_memory_of_ours(
    host: str, seen: Mapping[str, Seen], own_bytes_before: int
) -> None:
    assert seen[host].own_bytes - own_bytes_before <= OWN_GROWTH_BYTES


def test_every_hostile_page_has_its_case() -> None:
    assert set(PAGES) | {"filtered.secure"} == set(CASES) | {"plain"}

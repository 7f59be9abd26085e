"""No page holds a browser longer than its budget, hurts the page after it, or loses what had arrived."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import crawler.browser.browser
from crawler.browser.browser import Browser
from crawler.browser.processes import own_memory_bytes
from crawler.visit.observation import BrowserDied
from crawler.visit.recorder import CLEANUP_S
from crawler.visit.visit import visit
from tests.zoo.hostile.pages import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.visit.observation import Observation

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[3]

BUDGET_S = 4.0
PLAIN_LOADS = 3
"""The budget is at least the time of so many loads of a plain page on this machine as it is."""

SETTLE_S = 1.0
LONG_BUDGET_S = 20.0
LONG_SETTLE_S = 10.0
ROOM_S = 5.0
"""For a machine that has other things to do: what is held to is a property, not a speed."""

BROWSERS = 2
DATA_LIMIT_BYTES = 1 << 30
OWN_GROWTH_BYTES = 300 << 20

NEXT = ("ok", "quiet", 200, 3, 309, 1.0)
"""Outcome, stop reason, status, responses, bytes and coverage of plain.test, after whatever."""

OK = ("ok", "quiet", 200)
BUSY = ("ok", "busy", 200)
TIMEOUT = ("timeout", "budget", 200)
UNANSWERED = ("timeout", "budget", None)
BAD = ("bad_response", "failed", None)
CRASH = ("crash", "failed", 200)
OVERRUN = ("crash", "budget", 200)
BUSY_OVERRUN = ("crash", "busy", 200)
"""It left the browser no time to write the end of its log."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """How a page may end: outcome, stop reason, status. Several where it races with the clock."""

    endings: tuple[tuple[Any, ...], ...]
    error: str | None = None
    """What the error begins with, if that is certain."""
    least_bytes: int = 1
    """That had arrived, and is kept."""

    @property
    def races(self) -> bool:
        """Whether it is the clock that ends it; what ends by itself is given time, and a slow machine changes nothing."""
        return any(reason in ("budget", "busy") for _, reason, _ in self.endings)


def ends(*endings: tuple[Any, ...], error: str | None = None, least_bytes: int = 1) -> Case:
    return Case(endings, error, least_bytes)


CASES: dict[str, Case] = {
    # Redirects and navigations
    "redirects": ends(
        ("redirect_loop", "failed", None), error="net::ERR_TOO_MANY_REDIRECTS", least_bytes=1000
    ),
    "slow-redirects": ends(UNANSWERED, least_bytes=60),
    "slow-redirects.secure": ends(UNANSWERED, least_bytes=1500),
    "script-redirects": ends(TIMEOUT, BUSY, least_bytes=300),
    "meta-redirects": ends(BUSY, TIMEOUT, least_bytes=300),
    "locations": ends(TIMEOUT),
    "fragments": ends(OK, BUSY),
    "push-states": ends(OK, BUSY, TIMEOUT),
    "schemes": ends(OK, BUSY, TIMEOUT),
    "chrome-crash": ends(OK),
    "no-content": ends(("aborted", "failed", 204), error="net::ERR_ABORTED"),
    "never-loads": ends(TIMEOUT),
    "sync-request": ends(TIMEOUT),
    "document-write": ends(OK),
    # Bodies and headers
    "endless": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=100_000),
    "endless-script": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=100_000),
    "endless-fetch": ends(BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, CRASH, least_bytes=100_000),
    "endless-interim": ends(UNANSWERED, BAD, ("crash", "budget", None), least_bytes=10_000),
    "gzip-bomb": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=10_000),
    "zstd-bomb.secure": ends(OK, BUSY, TIMEOUT, OVERRUN, CRASH, least_bytes=10_000),
    "brotli-bomb.secure": ends(OK, BUSY, TIMEOUT, OVERRUN, CRASH, least_bytes=1000),
    "no-gzip": ends(("bad_response", "quiet", 200), error="net::ERR_CONTENT_DECODING_FAILED"),
    "slow-header": ends(UNANSWERED, TIMEOUT),  # its status line alone takes 15 s
    "slow-body": ends(TIMEOUT, least_bytes=40),
    "slow-script": ends(TIMEOUT),
    "large-header": ends(OK, least_bytes=248_000),
    "header-too-large": ends(BAD, error="net::ERR_RESPONSE_HEADERS_TOO_BIG", least_bytes=262_144),
    "endless-header": ends(BAD, error="net::ERR_RESPONSE_HEADERS_TOO_BIG", least_bytes=262_144),
    "garbled": ends(OK),
    "garbled-redirect": ends(OK),
    "nuls": ends(OK),
    "no-http": ends(TIMEOUT),
    "wrong-length": ends(TIMEOUT, BAD),
    "two-lengths": ends(
        ("bad_response", "failed", 200), error="net::ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH"
    ),
    # Scripts that keep the processor
    "busy": ends(TIMEOUT),
    "busy-later": ends(OK),
    "busy-worker": ends(OK, BUSY),
    "busy-frame": ends(TIMEOUT),
    "busy-frame-elsewhere": ends(TIMEOUT),
    "promises": ends(TIMEOUT),
    "console": ends(OK, BUSY, TIMEOUT, ("crash", "quiet", 200), BUSY_OVERRUN, OVERRUN),
    "exceptions": ends(OK, BUSY, TIMEOUT, ("crash", "quiet", 200), BUSY_OVERRUN, OVERRUN),
    "print": ends(OK),
    "debugger": ends(OK),
    "regular-expression": ends(TIMEOUT),
    # Memory
    "memory-hog": ends(OK, TIMEOUT, CRASH),
    "heap-hog": ends(TIMEOUT, CRASH),
    "nodes": ends(OK, BUSY, TIMEOUT),
    "deep": ends(OK, BUSY, TIMEOUT, CRASH, least_bytes=300_000),
    "data-url": ends(OK, BUSY, TIMEOUT),
    "long-addresses": ends(OK, BUSY, TIMEOUT, OVERRUN),
    # Frames and windows
    "nested": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "bottomless": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "frames": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "flickering": ends(OK, BUSY, TIMEOUT, OVERRUN),
    "popups": ends(OK, BUSY, TIMEOUT),
    "popups-in-popups": ends(OK, BUSY, TIMEOUT),
    "popup-of-itself": ends(OK),
    "closing": ends(OK, ("aborted", "failed", 200)),
    "closing-later": ends(OK, ("aborted", "failed", 200)),
    "alerts": ends(TIMEOUT),
    "dialogs": ends(OK),
    "before-unload": ends(OK, BUSY, TIMEOUT, ("aborted", "quiet", 200)),  # its document may give itself up
    # Requests
    "requests": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "hosts": ends(OK, BUSY, TIMEOUT, least_bytes=250),  # how many answer is up to the clock
    "websocket": ends(OK, BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, least_bytes=100_000),
    "event-source": ends(BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, least_bytes=10_000),
    "download": ends(("aborted", "failed", 200), error="Download is starting", least_bytes=100),
    "downloads": ends(OK, BUSY, TIMEOUT),
    "attachments": ends(OK, BUSY, TIMEOUT, least_bytes=10_000),
    "download-later": ends(OK, TIMEOUT, least_bytes=1000),
    "login": ends(("http_error", "quiet", 401)),
    "cookies": ends(OK),
    "permissions.secure": ends(OK),
    "service-worker.secure": ends(OK, least_bytes=1000),
    "wants-certificate.secure": ends(OK, least_bytes=1000),
    "needs-certificate.secure": ends(OK),
    "filtered.secure": ends(("tls", "failed", None), error="net::ERR_CERT_AUTHORITY_INVALID"),
}


OFTEN = (
    *(
        "redirects",
        "slow-redirects",
        "script-redirects",
        "meta-redirects",
        "locations",
        "fragments",
        "push-states",
        "before-unload",
        "endless",
        "gzip-bomb",
        "brotli-bomb.secure",
    ),
    *(
        "slow-body",
        "large-header",
        "header-too-large",
        "endless-header",
        "garbled",
        "garbled-redirect",
        "nuls",
    ),
    *(
        "busy",
        "busy-worker",
        "busy-frame",
        "alerts",
        "dialogs",
        "popups",
        "popups-in-popups",
    ),
    *(
        "download",
        "downloads",
        "closing",
        "closing-later",
        "memory-hog",
        "nodes",
        "nested",
        "bottomless",
        "frames",
    ),
    *("permissions.secure", "never-loads", "login", "filtered.secure"),
)
"""Visited in every run of the tests; all of them with FIRSTFLIGHT_TEST_ALL_PAGES=1, which takes minutes more."""

CHOSEN = [host for host in CASES if host in OFTEN or os.environ.get("FIRSTFLIGHT_TEST_ALL_PAGES")]


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """A hostile visit, and the one after it."""

    visit: Observation
    budget_s: float
    wall_s: float
    next: Observation
    own_bytes: int
    """Memory of the crawler's own process afterwards."""


@pytest.fixture(scope="module")
def flags() -> Iterator[list[str]]:
    """Of the browser; the server is another process, so that its work and its memory are not the crawler's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.zoo.hostile.web"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["browser_flags"]
        server.stdin.close()
        server.wait(30)


@pytest.fixture(scope="module")
def own_bytes_before() -> int:
    return own_memory_bytes(os.getpid())


@pytest.fixture(scope="module")
def seen(
    request: pytest.FixtureRequest, chromium: Path, flags: list[str], own_bytes_before: int
) -> Mapping[str, Seen]:
    """All hosts that the chosen tests are of, by several browsers side by side."""
    chosen = {item.callspec.params.get("host") for item in request.session.items if hasattr(item, "callspec")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawler.browser.browser, "DATA_LIMIT_BYTES", DATA_LIMIT_BYTES)
        return asyncio.run(crawl(chromium, flags, [host for host in CASES if host in chosen]))


async def crawl(chromium: Path, flags: list[str], hosts: list[str]) -> Mapping[str, Seen]:
    found: dict[str, Seen] = {}
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
                found[host] = Seen(first, budget_s, wall_s, after, own_memory_bytes(os.getpid()))

    await asyncio.gather(*(browse() for _ in range(BROWSERS)))
    return found


class Seat:
    """One browser after the other."""

    def __init__(self, chromium: Path, flags: list[str], stack: contextlib.AsyncExitStack) -> None:
        self._launch = functools.partial(Browser.launch, chromium, flags=flags)
        self._stack = stack
        self._browser: Browser | None = None

    async def visit(self, host: str, budget_s: float, settle_s: float) -> tuple[Observation, float]:
        """What it saw, and how long it took."""
        if self._browser is None:
            self._browser = await self._stack.enter_async_context(self._launch())
        began = time.monotonic()
        try:
            observation = await visit(self._browser, f"{host}.test", budget_s=budget_s, settle_s=settle_s)
        except BrowserDied as died:
            observation = died.observation
            self._browser = None
        wall_s = time.monotonic() - began
        if self._browser is None:
            await self._stack.aclose()
        return observation, wall_s


def ending(one: Observation) -> tuple[Any, ...]:
    return tuple(one.visit[name] for name in ("outcome", "stop_reason", "status"))


@pytest.mark.parametrize("host", CHOSEN)
def test_a_hostile_page_ends_as_stated_and_keeps_what_had_arrived(
    host: str, seen: Mapping[str, Seen]
) -> None:
    case, found = CASES[host], seen[host].visit
    assert ending(found) in case.endings, found.visit
    assert (found.visit["error"] or "").startswith(case.error or ""), found.visit
    assert found.visit["received_bytes"] >= case.least_bytes
    assert found.visit["log_lines_lost"] == 0
    if found.visit["status"] is not None:
        main = found.responses[found.visit["main_response_id"] - 1]
        assert (main["host"], main["status"]) == (f"{host}.test", found.visit["status"])


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

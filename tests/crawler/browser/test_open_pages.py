"""The next page is opened while the page before it is waited for, and neither knows of the other."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from crawler.browser.browser import Browser
from crawler.visit.attempt import Observation
from crawler.visit.visit import visit_page
from tests.zoo.raw import RawWeb, html

pytestmark = pytest.mark.browser

HOST = "a.test"
WATCHES = """<script>
let isDrawn = false;
const hold = async () => { while (!isDrawn) await fetch('/hold'); };  // until then the page is not quiet
hold();
const tell = (what) => fetch('/noticed-' + what);
const draw = () => {
  const before = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (performance.now() - before >= 1000) return draw();  // a hidden page stays there
    tell('frames');
    isDrawn = true;
  }));
};
for (const what of ['blur', 'focus', 'resize', 'pagehide', 'freeze']) window.addEventListener(what, () => tell(what));
document.addEventListener('visibilitychange', () => tell('visibility'));
window.addEventListener('load', () => setTimeout(() => {
  if (!document.hasFocus() || document.visibilityState !== 'visible') tell('hidden');
  draw();
}, 300));
</script>"""  # noqa: E501
"""A page that asks for something when it learns that it is not alone,
and for /noticed-frames as long as it is drawn."""


def two_visits(
    chromium: Path, *, between: Callable[[Browser], Awaitable[None]] | None = None
) -> tuple[list[Observation], list[int]]:
    """Two visits in one browser, and the number of profiles that had been made after each."""
    visits: list[int] = []

    async def go() -> list[Observation]:
        held = dataclasses.replace(html("held"), pause_s=0.2)
        web = RawWeb({f"{HOST}/": html(WATCHES), f"{HOST}/hold": held})
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            opened = 0
            new_context = browser.pages._context

            async def counted():  # type: ignore[no-untyped-def]
                nonlocal opened
                opened += 1
                return await new_context()

            browser.pages._context = counted
            seen = []
            for _ in range(2):
                seen.append(await visit_page(browser, HOST, budget_s=60))
                visits.append(opened)
                if between is not None:
                    await between(browser)
            return seen

    return asyncio.run(go()), visits


def test_a_page_does_not_notice_that_the_next_is_opened(chromium: Path) -> None:
    seen, opened = two_visits(chromium)
    assert [observation.visit["outcome"] for observation in seen] == ["ok", "ok"]
    assert [
        {row["path"] for row in observation.responses} - {"/", "/favicon.ico", "/hold"}
        for observation in seen
    ] == [
        {"/noticed-frames"},
        {"/noticed-frames"},
    ]
    assert opened == [3, 5]  # by https, by http, and the next; then that one, by http, and the next


def test_a_prepared_page_whose_renderer_died_is_replaced(chromium: Path) -> None:
    async def kill(browser: Browser) -> None:
        assert browser.pages._next is not None
        prepared = await browser.pages._next
        await browser.end_pages()
        async with asyncio.timeout(60):
            await prepared.crashed

    seen, opened = two_visits(chromium, between=kill)
    assert [observation.visit["outcome"] for observation in seen] == ["ok", "ok"]
    assert opened == [3, 6]  # one more than if the prepared page had been taken


def test_a_prepared_page_whose_events_do_not_arrive_is_replaced(chromium: Path) -> None:
    async def forget(browser: Browser) -> None:
        browser.pipe_tee._sessions.clear()  # as if a page before it had had SESSIONS_KEPT sessions

    seen, opened = two_visits(chromium, between=forget)
    assert [observation.visit["outcome"] for observation in seen] == ["ok", "ok"]
    assert opened == [3, 6]

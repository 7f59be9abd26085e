"""Visits a site: loads its home page, repeats the load and loads inner pages, each in a fresh context, and
turns all that crossed the network into rows."""

import asyncio
import dataclasses
import hashlib
import re
import secrets
from collections.abc import Collection
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from crawler.browser.browser import Browser
from crawler.visit.attempt import BrowserDied, Observation
from crawler.visit.recorder import Recorder

SETTLE_S = 10.0
"""Seconds after the load event in which a page may become quiet."""

HTTPS_SHARE = 0.5
"""Share of the budget after which a host that has sent no byte by https is tried by http."""

NO_PAGES = re.compile(
    r"pdf|zip|gz|tar|7z|rar|exe|dmg|deb|rpm|apk|iso|docx?|xlsx?|pptx?|csv|json|xml|rss|atom|ics|css|js|txt"
    r"|jpe?g|png|gif|svg|webp|avif|ico|mp3|mp4|webm|mov|avi|ogg|wav"
)


async def visit_page(
    browser: Browser,
    host: str,
    *,
    budget_s: float,
    settle_s: float = SETTLE_S,
    salt: bytes | None = None,
    path: str = "/",
    links: bool = False,
) -> Observation:
    """Visit `path` (and query) of `host`, by https and then by http, in at most `budget_s` seconds and
    CLEANUP_S.

    There is an observation whatever the page does; BrowserDied carries it if the browser is of no further
    use. http is tried where https brought no response (refused, reset, no TLS, silent for half the budget).
    Rows, times and outcome are those of https, unless http says more.

    By default, nobody keeps the `salt` of the queries' hashes, which then tell apart those of this visit
    alone.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    deadline = began + budget_s
    by_https = Recorder(browser, "https", answer_by=began + budget_s * HTTPS_SHARE, deadline=deadline)
    attempt = await by_https.record(host + path, settle_s=settle_s, links=links)
    if attempt.wants_http and attempt.broken:
        attempt.end_without_browser()
    elif attempt.wants_http and loop.time() >= deadline:
        attempt.end_without_time()
    elif attempt.wants_http:
        by_http = Recorder(browser, "http", answer_by=deadline, deadline=deadline)
        second = await by_http.record(host + path, settle_s=settle_s, links=links)
        if second.outweighs(attempt):
            attempt = second
        else:
            attempt.broken = second.broken
    observation = await asyncio.to_thread(  # other browsers' pages go on meanwhile
        attempt.make_observation, salt=salt or secrets.token_bytes(16), error_name=browser.log.error_name
    )
    if attempt.broken:
        raise BrowserDied(attempt.broken, observation)
    return observation


class VisitPage(Protocol):
    """Loads one page, as `visit_page` does."""

    async def __call__(
        self, browser: Browser, host: str, *, budget_s: float, path: str = "/", links: bool = False
    ) -> Observation:
        """Return an observation whatever the page does; BrowserDied carries it if the browser must be
        replaced.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class LaterLoad:
    """A load of a site's page after the first load of its home page."""

    host: str
    path: str = "/"
    page_kind: str = "home"
    number: int = 1

    def label(self, seen: Observation) -> Observation:
        return dataclasses.replace(seen, page_kind=self.page_kind, load=self.number)


async def visit_site(
    visit: VisitPage, browser: Browser, host: str, *, budget_s: float, loads: int, inner: int
) -> Observation:
    """Make `loads` loads of the home page and one of each of `inner` other pages.

    Return the first, with the others as its `more`. Others follow only if the first was ok and met no bot
    wall. Each has a fresh profile and a budget of its own, and is never retried. BrowserDied carries the
    loads made.
    """
    first = await visit(browser, host, budget_s=budget_s, links=inner > 0)
    more: list[Observation] = []
    for load in _list_later_loads(host, first, loads, inner):
        try:
            observation = await visit(browser, load.host, budget_s=budget_s, path=load.path)
        except BrowserDied as exc:
            more.append(load.label(exc.observation))
            raise BrowserDied(str(exc), dataclasses.replace(first, more=more)) from exc
        more.append(load.label(observation))
    return dataclasses.replace(first, more=more)


def _list_later_loads(host: str, first: Observation, loads: int, inner: int) -> list[LaterLoad]:
    if first.visit["outcome"] != "ok" or first.visit["wall"] is not None:
        return []
    again = [LaterLoad(host, number=number) for number in range(2, loads + 1)]
    if not inner:
        return again
    pages = choose_inner_pages(first.links, _home_url(first), count=inner)
    return again + [
        LaterLoad(url.netloc, path=url.path + (f"?{url.query}" if url.query else ""), page_kind="inner")
        for url in pages
    ]


def _home_url(home: Observation) -> str:
    main = home.responses[home.visit["main_response_id"] - 1]
    return f"{main['scheme']}://{main['host']}{main['path']}"


def choose_inner_pages(links: Collection[str], home: str, *, count: int) -> list[SplitResult]:
    """Choose up to `count` pages of the same site among the links of its home page.

    A page is of the same site if it has the same host, `www.` aside: other hosts may be another owner's,
    which only a list of public suffixes can tell. The choice is random but the same in every crawl: the URLs
    with the lowest SHA-256.
    """
    site = urlsplit(home)
    inner = {url._replace(fragment="").geturl(): url for url in map(urlsplit, links) if _is_inner(url, site)}
    chosen = sorted(inner, key=lambda url: hashlib.sha256(url.encode()).digest())
    return [inner[url] for url in chosen[:count]]


def _is_inner(url: SplitResult, home: SplitResult) -> bool:
    return (
        url.scheme in ("http", "https")
        and ":" not in url.netloc
        and "@" not in url.netloc
        and url.netloc.removeprefix("www.") == home.netloc.removeprefix("www.")
        and url.path not in ("", "/", home.path)
        and NO_PAGES.fullmatch(url.path.rpartition("/")[2].rpartition(".")[2].lower()) is None
    )

"""Makes all page loads of one claim: the home page, repeat loads of it, and inner pages of its site."""

import dataclasses
from typing import Protocol

from crawler.browser.browser import Browser
from crawler.visit.links import choose_inner_pages
from crawler.visit.observation import BrowserDied, Observation


class Visit(Protocol):
    """Loads one page, as crawler.visit.visit.visit_page does."""

    async def __call__(
        self, browser: Browser, host: str, *, budget_s: float, path: str = "/", links: bool = False
    ) -> Observation:
        """Load a page, and collect its links if `links`."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """A page load after the first."""

    host: str
    path: str = "/"
    page_kind: str = "home"
    number: int = 1

    def label(self, seen: Observation) -> Observation:
        """Label an observation as that of this load."""
        return dataclasses.replace(seen, page_kind=self.page_kind, load=self.number)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Visits a site as often as its crawl asks for."""

    visit: Visit
    loads: int = 1
    """Loads of the home page."""
    inner: int = 0
    """Inner pages, one load each."""

    async def __call__(self, browser: Browser, host: str, *, budget_s: float) -> Observation:
        """Visit a site; return the first load of its home page, with the other loads as its `more`.

        Other loads follow only if the first was ok and met no bot wall. Each has a fresh profile and a budget
        of its own, and is never retried. BrowserDied carries the loads that were made.
        """
        first = await self.visit(browser, host, budget_s=budget_s, links=self.inner > 0)
        more: list[Observation] = []
        for load in self._after(host, first):
            try:
                observation = await self.visit(browser, load.host, budget_s=budget_s, path=load.path)
            except BrowserDied as exc:
                more.append(load.label(exc.observation))
                raise BrowserDied(str(exc), dataclasses.replace(first, more=more)) from exc
            more.append(load.label(observation))
        return dataclasses.replace(first, more=more)

    def _after(self, host: str, first: Observation) -> list[Load]:
        """List the loads that follow the first load of the home page."""
        if first.visit["outcome"] != "ok" or first.visit["wall"] is not None:
            return []
        again = [Load(host, number=number) for number in range(2, self.loads + 1)]
        if not self.inner:
            return again
        pages = choose_inner_pages(first.links, _home_url(first), count=self.inner)
        return again + [
            Load(url.netloc, path=url.path + (f"?{url.query}" if url.query else ""), page_kind="inner")
            for url in pages
        ]


def _home_url(home: Observation) -> str:
    """Return the final URL of the home page, without its query."""
    main = home.responses[home.visit["main_response_id"] - 1]
    return f"{main['scheme']}://{main['host']}{main['path']}"

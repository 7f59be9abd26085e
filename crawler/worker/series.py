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
        """Return an observation whatever the page does, with its links if `links`.

        BrowserDied carries it if the browser must be replaced.
        """
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


async def visit_site(
    visit: Visit, browser: Browser, host: str, *, budget_s: float, loads: int, inner: int
) -> Observation:
    """Make `loads` loads of the home page and one of each of `inner` other pages.

    Return the first, with the others as its `more`. Others follow only if the first was ok and met no bot
    wall. Each has a fresh profile and a budget of its own, and is never retried. BrowserDied carries the
    loads that were made.
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


def _list_later_loads(host: str, first: Observation, loads: int, inner: int) -> list[Load]:
    """List the loads that follow the first load of the home page."""
    if first.visit["outcome"] != "ok" or first.visit["wall"] is not None:
        return []
    again = [Load(host, number=number) for number in range(2, loads + 1)]
    if not inner:
        return again
    pages = choose_inner_pages(first.links, _home_url(first), count=inner)
    return again + [
        Load(url.netloc, path=url.path + (f"?{url.query}" if url.query else ""), page_kind="inner")
        for url in pages
    ]


def _home_url(home: Observation) -> str:
    """Return the final URL of the home page, without its query."""
    main = home.responses[home.visit["main_response_id"] - 1]
    return f"{main['scheme']}://{main['host']}{main['path']}"

"""Repeat loads and inner pages: which are made, in which order, and what they are stored as."""

import asyncio
import dataclasses
import functools
from pathlib import Path
from typing import Any, cast

import pytest

from crawler.browser.browser import Browser
from crawler.visit.attempt import BrowserDied, Observation
from crawler.visit.visit import choose_inner_pages, visit_page, visit_site
from tests.crawler.visiting import AMPLE_S
from tests.factories.made_up_visits import observation
from tests.zoo.raw import RawWeb, html

HOSTILE = """
<script>document.querySelectorAll = () => [{href: 'http://evil.test/a'}]; window.Array.from = () => []</script>
<img name=querySelectorAll><form name=links></form>
<a href="http://www.a.test/one?x=1#here">1</a><a href="/one?x=1">again</a><a href="two">2</a>
<a href="http://b.test/">other site</a><a href="/paper.PDF">file</a><a href="/#top">home</a>
<a href="http://a.test:81/port">port</a><a href="http://x@a.test/user">user</a><a href="javascript:0">js</a>
<a href="http://sub.a.test/below">below</a><svg><a href="/svg"><text>s</text></a></svg>
"""  # noqa: E501


@pytest.mark.browser
def test_the_first_load_is_followed_by_repeats_and_by_inner_pages_of_the_same_site(chromium: Path) -> None:
    web = RawWeb({"a.test/": html(HOSTILE), "a.test/two": html("two"), "www.a.test/one": html("one")})

    async def crawl() -> Observation:
        async with web, Browser.launch(chromium, flags=web.browser_flags) as browser:
            return await visit_site(visit_page, browser, "a.test", budget_s=AMPLE_S, loads=3, inner=5)

    seen = asyncio.run(crawl())
    assert (seen.page_kind, seen.load, seen.visit["outcome"]) == ("home", 1, "ok")
    assert [
        (observation.page_kind, observation.load, observation.responses[0]["path"])
        for observation in seen.more[:2]
    ] == [
        ("home", 2, "/"),
        ("home", 3, "/"),
    ]
    inner = {
        (
            observation.page_kind,
            observation.load,
            observation.responses[0]["host"],
            observation.responses[0]["path"],
        )
        for observation in seen.more[2:]
    }
    assert inner == {
        ("inner", 1, "www.a.test", "/one"),
        ("inner", 1, "a.test", "/one"),
        ("inner", 1, "a.test", "/two"),
    }
    asked = [target for host, target, _ in web.asked if target != "/favicon.ico"]
    assert sorted(asked) == ["/", "/", "/", "/one?x=1", "/one?x=1", "/two"]
    assert len({observation.connections[0]["local_port"] for observation in (seen, *seen.more)}) == 6


def test_the_same_inner_page_is_chosen_whatever_the_order_of_the_links() -> None:
    links = [f"https://a.test/{n}" for n in range(20)]
    (chosen,) = choose_inner_pages(links, "https://a.test/", count=1)
    assert choose_inner_pages(links[::-1], "https://www.a.test/", count=1) == [chosen]
    assert chosen.geturl() in links
    assert len(choose_inner_pages(links, "https://a.test/", count=30)) == 20


def test_a_page_without_links_has_no_inner_page() -> None:
    assert choose_inner_pages([], "https://a.test/", count=3) == []
    assert (
        choose_inner_pages(["https://a.test/", "https://a.test/here"], "https://a.test/here", count=3) == []
    )


async def _play(seen: list[Observation | BrowserDied], *_: Any, **__: Any) -> Observation:
    observation = seen.pop(0)
    if isinstance(observation, BrowserDied):
        raise observation
    return observation


def play(*seen: Observation | BrowserDied, loads: int = 2, inner: int = 0) -> Observation:
    visit = functools.partial(_play, list(seen))
    site = visit_site(visit, cast("Browser", None), "a.test", budget_s=1, loads=loads, inner=inner)
    return asyncio.run(site)


def with_links(*links: str) -> Observation:
    return dataclasses.replace(observation(main_response_id=1), links=links)


@pytest.mark.parametrize(("outcome", "wall"), [("http_error", None), ("timeout", None), ("ok", "aws-waf")])
def test_a_site_behind_a_wall_is_loaded_once(outcome: str, wall: str | None) -> None:
    assert play(observation(outcome, wall=wall)).more == []


def test_a_repeat_load_that_fails_is_kept_and_not_retried() -> None:
    seen = play(observation(), observation("dns"), observation(), loads=3)
    assert [(observation.visit["outcome"], observation.load) for observation in seen.more] == [
        ("dns", 2),
        ("ok", 3),
    ]


def test_a_browser_that_dies_on_a_repeat_costs_no_load_that_was_made() -> None:
    home = with_links("https://a.test/in")
    with pytest.raises(BrowserDied) as died:
        play(home, observation(), BrowserDied("gone", observation("crash")), inner=1)
    seen = died.value.observation
    assert seen.visit["outcome"] == "ok"
    assert [
        (observation.visit["outcome"], observation.page_kind, observation.load) for observation in seen.more
    ] == [
        ("ok", "home", 2),
        ("crash", "inner", 1),
    ]

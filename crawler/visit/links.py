"""Collects the links of a page, and chooses inner pages of its site among them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    from playwright.async_api import Page

LINKS = """(() => {
  const found = []
  for (const link of Array.from(Document.prototype.querySelectorAll.call(document, 'a[href]')).slice(0, 2000)) {
    if (typeof link.href === 'string' && link.href.length <= 2048) found.push(link.href)
  }
  return found
})()"""  # noqa: E501
"""Script that returns the browser's canonical URLs of links;
a page may have replaced `document.querySelectorAll`."""

NO_PAGES = re.compile(
    r"pdf|zip|gz|tar|7z|rar|exe|dmg|deb|rpm|apk|iso|docx?|xlsx?|pptx?|csv|json|xml|rss|atom|ics|css|js|txt"
    r"|jpe?g|png|gif|svg|webp|avif|ico|mp3|mp4|webm|mov|avi|ogg|wav"
)
"""File extensions of paths that are no pages."""


async def collect_links(page: Page) -> list[str]:
    """Return the links of the page's main document in order,
    read in a world that its scripts cannot reach."""
    session = await page.context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    result = await session.send(
        "Runtime.evaluate",
        {"expression": LINKS, "contextId": world["executionContextId"], "returnByValue": True},
    )
    value = result["result"].get("value")
    return [str(url) for url in value] if isinstance(value, list) else []


def choose_inner_pages(links: Collection[str], home: str, *, count: int) -> list[SplitResult]:
    """Choose up to `count` pages of the same site among the links of its home page, whose URL is `home`.

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

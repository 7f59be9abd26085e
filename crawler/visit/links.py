"""The links of a page, and which of them is its site's inner page."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection

    from playwright.async_api import Page

LINKS = """(() => {
  const found = []
  for (const link of Array.from(Document.prototype.querySelectorAll.call(document, 'a[href]')).slice(0, 2000)) {
    if (typeof link.href === 'string' && link.href.length <= 2048) found.push(link.href)
  }
  return found
})()"""
"""The browser's own canonical URLs. A page may put anything in place of `document.querySelectorAll`."""

NO_PAGES = frozenset(
    {
        *(
            "pdf",
            "zip",
            "gz",
            "tar",
            "7z",
            "rar",
            "exe",
            "dmg",
            "deb",
            "rpm",
            "apk",
            "iso",
            "doc",
            "docx",
            "xls",
        ),
        *(
            "xlsx",
            "ppt",
            "pptx",
            "csv",
            "json",
            "xml",
            "rss",
            "atom",
            "ics",
            "css",
            "js",
            "txt",
            "jpg",
            "jpeg",
        ),
        *("png", "gif", "svg", "webp", "avif", "ico", "mp3", "mp4", "webm", "mov", "avi", "ogg", "wav"),
    }
)
"""Ends of paths that lead to files."""


async def links_of(page: Page) -> list[str]:
    """URLs of the links in the page's main document, in its order; read in a world that its scripts cannot reach."""
    session = await page.context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    said = await session.send(
        "Runtime.evaluate",
        {"expression": LINKS, "contextId": world["executionContextId"], "returnByValue": True},
    )
    value = said["result"].get("value")
    return [str(url) for url in value] if isinstance(value, list) else []


def inner_pages(links: Collection[str], home: str, *, count: int) -> list[SplitResult]:
    """`count` pages of the same site that its home page, with the URL `home`, links to, or as many as there are.

    Of the same site is what has the same host, `www.` aside: hosts below or beside it may be somebody else's,
    and to tell them takes a list of public suffixes. Which pages is chance, but the same chance in every
    crawl: those whose URL has the lowest SHA-256.
    """
    site = urlsplit(home)
    found = {url._replace(fragment="").geturl(): url for url in map(urlsplit, links) if _is_inner(url, site)}
    chosen = sorted(found, key=lambda url: hashlib.sha256(url.encode()).digest())
    return [found[url] for url in chosen[:count]]


def _is_inner(url: SplitResult, home: SplitResult) -> bool:
    return (
        url.scheme in ("http", "https")
        and ":" not in url.netloc
        and "@" not in url.netloc
        and url.netloc.removeprefix("www.") == home.netloc.removeprefix("www.")
        and url.path not in ("", "/", home.path)
        and url.path.rpartition("/")[2].rpartition(".")[2].lower() not in NO_PAGES
    )

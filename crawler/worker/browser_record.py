"""Records the browser of a crawl, and refuses another build: a crawl is made with one browser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from crawler.browser.identity import Identity
from crawler.errors import CrawlerError
from schema.tables import Crawl

if TYPE_CHECKING:
    from sqlalchemy import Engine

SURROUNDINGS = ("--host-resolver-rules=", "--ignore-certificate-errors-spki-list=", "--net-log-capture-mode=")
"""Flags that may differ between runs of a crawl: the local web's address, and of crawls begun with version 0.2 what the log contains."""


class BrowserDiffers(CrawlerError):
    """This machine's browser is not the browser that the crawl began with."""


def record_browser(engine: Engine, crawl: Crawl, identity: Identity) -> None:
    """Write the browser on the crawl, once; BrowserDiffers if the crawl began with another."""
    ours = {
        "browser": identity.product,
        "browser_built_on": identity.built_on,
        "browser_flags": "\n".join(identity.flags),
        "user_agent": identity.user_agent,
        "client_hints": identity.client_hints,
    }
    with engine.begin() as connection:
        connection.execute(update(Crawl).where(Crawl.id == crawl.id, Crawl.browser.is_(None)).values(ours))
        there = connection.execute(
            select(Crawl.browser, Crawl.user_agent, Crawl.client_hints, Crawl.browser_flags).where(
                Crawl.id == crawl.id
            )
        ).one()
    for what, theirs, mine in (
        ("browser", there.browser, identity.product),
        ("User-Agent", there.user_agent, identity.user_agent),
        ("client hints", there.client_hints, identity.client_hints),
        ("flags", _measuring(there.browser_flags.split("\n")), _measuring(identity.flags)),
    ):
        if theirs != mine:
            raise BrowserDiffers(
                f"this crawl began with {what} {theirs!r}, and this machine's is {mine!r}: "
                "install that build, or plan another crawl"
            )


def _measuring(flags: Iterable[str]) -> str:
    """Join the flags that change what is measured."""
    return " ".join(sorted(flag for flag in flags if not flag.startswith(SURROUNDINGS)))

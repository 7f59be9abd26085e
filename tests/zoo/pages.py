"""All pages of the zoo, and the handlers of their hosts."""

from localweb.serving.handler import Handler
from tests.circles import ALL
from tests.zoo import (
    abandoned,
    asking,
    bodies,
    caching,
    endings,
    logins,
    odd,
    others,
    painting,
    repeats,
    secured,
    sharing,
)
from tests.zoo.case import Page, by_path

PAGES: tuple[Page, ...] = (
    *bodies.PAGES,
    *repeats.PAGES,
    *logins.PAGES,
    *caching.PAGES,
    *endings.PAGES,
    *abandoned.PAGES,
    *odd.PAGES,
    *others.PAGES,
    *asking.PAGES,
    *painting.PAGES,
    *secured.PAGES,
    *sharing.PAGES,
)

SAMPLED = (
    *("bodies.test", "repeats.test", "caching.test", "endings.test", "odd.test", "calm.test"),
    *("hurried.test", "waiting.test", "blocks.test"),
)
"""Hosts of the pages that every run of the tests visits by HTTP/1.1 over TLS; by others it visits all."""


def visited_pages(protocol: str) -> list[Page]:
    is_sampled = protocol == "h1tls"
    return [
        page
        for page in PAGES
        if page.played(protocol) and (ALL or not (page.is_long or (is_sampled and page.host not in SAMPLED)))
    ]


def handlers(protocol: str) -> dict[str, Handler]:
    together: dict[str, dict[str, Handler]] = {}
    for page in PAGES:
        for host, answers in page.answers(protocol).items():
            together.setdefault(host, {}).update(answers)
    return {host: by_path(answers) for host, answers in together.items()}


H1 = handlers("h1")
H1TLS = handlers("h1tls")
H2 = handlers("h2")
H3 = handlers("h3")

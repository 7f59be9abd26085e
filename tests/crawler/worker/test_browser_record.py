from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from crawler.browser.identity import Identity
from crawler.worker.browser_record import BrowserDiffers, record_browser
from storage.crawls import crawls
from tests.factories.made_up_visits import BEGAN, planned

if TYPE_CHECKING:
    from sqlalchemy import Engine

IDENTITY = Identity(
    product="Chromium 156.0",
    built_on=BEGAN,
    user_agent="UA",
    flags=("--disable-quic", "--host-resolver-rules=a"),
    client_hints="Sec-CH-UA-Mobile: ?0",
)


def test_a_browser_is_recorded_once_and_another_build_is_refused(database: Engine) -> None:
    crawl = planned(database)
    record_browser(database, crawl, IDENTITY)
    elsewhere = dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=b", "--disable-quic"))
    record_browser(database, crawl, elsewhere)
    for other in (
        dataclasses.replace(IDENTITY, product="Chromium 157.0"),
        dataclasses.replace(IDENTITY, user_agent="another"),
        dataclasses.replace(IDENTITY, client_hints="another"),
        dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=a",)),
    ):
        with pytest.raises(BrowserDiffers, match="this crawl began with"):
            record_browser(database, crawl, other)
    with database.connect() as connection:
        (stored,) = crawls(connection)
    assert (stored.browser, stored.browser_built_on, stored.user_agent) == ("Chromium 156.0", BEGAN, "UA")
    assert stored.client_hints == "Sec-CH-UA-Mobile: ?0"
    assert stored.browser_flags == "--disable-quic\n--host-resolver-rules=a"

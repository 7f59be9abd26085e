"""An event that the crawler waits for and that the browser's log does not have is named,
wherever somebody looks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.browser import log_events, logstream
from crawler.browser.browser import Browser
from crawler.browser.driver import Drivers
from crawler.browser.log_events import list_missing_events
from crawler.browser.logstream import WANTED
from crawler.errors import LaunchFailed
from crawler.netlog.lines import LineReader
from crawler.worker.claim_loop import DEFAULTS
from crawler.worker.run import CrawlRun
from crawler.worker.surroundings import CrawledWeb, Surroundings
from firstflight import checks
from firstflight.settings import from_environment
from schema.tables import Crawl

GONE = "QUIC_SESSION_CRYPTO_HANDSHAKE_DONE"

SAID = f"the browser's log has no {GONE}: what is read from there stays null"


@pytest.fixture
def wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (log_events, logstream):
        monkeypatch.setattr(module, "WANTED", WANTED | {GONE})


def test_events_are_missing_once_the_browser_has_named_its_own() -> None:
    reader = LineReader(frozenset({"SOCKET_ALIVE", GONE}))
    assert reader.missing is None
    constants = (
        b'{"constants":{"logEventTypes":{"SOCKET_ALIVE":7},"logEventPhase":{"PHASE_END":2},"netError":{}},'
    )
    assert list(reader.events([constants])) == []
    assert reader.missing == {GONE}


@pytest.mark.browser
def test_this_browsers_log_has_every_event_that_is_read(chromium: Path) -> None:
    assert list_missing_events(chromium) == []


@pytest.mark.browser
@pytest.mark.usefixtures("wanting")
def test_doctor_names_an_event_that_is_gone() -> None:
    finding = checks.check_browser_log(from_environment())
    assert (finding.state, finding.found) == ("warning", SAID)


@pytest.mark.browser
@pytest.mark.usefixtures("wanting")
def test_a_crawl_names_an_event_that_is_gone_once_when_it_starts(chromium: Path) -> None:
    lines: list[str] = []
    around = Surroundings(chromium=chromium, web=CrawledWeb((), []), guard=None, capture=None)
    run = CrawlRun(surroundings=around, browsers=1, minutes=1, limits=DEFAULTS, revive=None)

    async def launch() -> None:
        async with Drivers(lines.append) as drivers:
            launching = run.make_launcher(
                Crawl(device="desktop", arm="tcp", user_agent_planned=None, contact_url=None),
                drivers,
                lines.append,
            )
            for _ in range(2):
                async with launching() as browser:
                    assert isinstance(browser, Browser)

    asyncio.run(launch())
    assert lines == [SAID]


def test_a_program_that_writes_no_log_is_no_browser() -> None:
    with pytest.raises(LaunchFailed, match="writes no log"):
        list_missing_events(Path("/usr/bin/true"))

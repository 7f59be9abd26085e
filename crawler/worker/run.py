"""One process's run of a crawl: Chromium, Playwright's drivers, the network's control and the claim loop."""

import asyncio
import contextlib
import dataclasses
import functools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from sqlalchemy import Engine

from crawler.browser.browser import Browser
from crawler.browser.devices import DEVICES
from crawler.browser.driver import Drivers
from crawler.browser.log_events import describe_missing
from crawler.browser.user_agent import Appearance
from crawler.control.network import CrawlNetwork
from crawler.control.resolvers import RESOLVERS_REMEDY
from crawler.visit.attempt import Observation
from crawler.visit.visit import visit_page
from crawler.worker.claim_loop import ClaimLoop, Limits, Tally
from crawler.worker.claims import Claim, StoredVisit
from crawler.worker.surroundings import Surroundings
from schema.tables import Crawl


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CrawlRun:
    """The parts and options of a run."""

    surroundings: Surroundings
    browsers: int
    minutes: float
    limits: Limits
    revive: Callable[[], object] | None

    async def run(
        self,
        engine: Engine,
        crawl: Crawl,
        *,
        stop: asyncio.Event,
        on_stored: Callable[[Claim, Observation, StoredVisit], None],
        say: Callable[[str], None],
    ) -> Tally:
        around = self.surroundings
        canaries = around.web.canaries
        network = CrawlNetwork(canaries, around.guard, around.web.resolvers) if canaries else None
        if network is not None and (lack := await network.describe_lack()):
            say(
                f"{lack}. A name that does not resolve costs one visit more, and the gate counts it: "
                f"{RESOLVERS_REMEDY}"
            )
        async with Drivers(say) as drivers:
            return await ClaimLoop(
                engine=engine,
                crawl=crawl,
                launch=self.make_launcher(crawl, drivers, say),
                visit=visit_page,
                browsers=self.browsers,
                minutes=self.minutes,
                stop=stop,
                on_stored=on_stored,
                say=say,
                limits=self.limits,
                revive=self.revive,
                network=network,
            ).run()

    def make_launcher(
        self, crawl: Crawl, drivers: Drivers, say: Callable[[str], None]
    ) -> Callable[[], AbstractAsyncContextManager[Browser]]:
        """Return what launches a browser; the first tells of missing events."""
        return functools.partial(self._browser, crawl, drivers, functools.cache(say))

    @contextlib.asynccontextmanager
    async def _browser(
        self, crawl: Crawl, drivers: Drivers, say: Callable[[str], None]
    ) -> AsyncIterator[Browser]:
        around = self.surroundings
        appearance = Appearance(
            device=DEVICES[crawl.device], user_agent=crawl.user_agent_planned, contact_url=crawl.contact_url
        )
        async with (
            drivers.lend() as playwright,
            Browser.launch(
                around.chromium,
                flags=around.web.flags,
                quic=crawl.arm == "quic",
                appearance=appearance,
                playwright=playwright,
                guard=around.guard,
                capture=around.capture,
            ) as browser,
        ):
            if missing := await browser.log.missing_events():
                say(describe_missing(missing))
            yield browser

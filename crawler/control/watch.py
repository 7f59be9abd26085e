"""Watches our own network during a crawl, so that no fault of ours becomes a site's outcome.

Times are those of the event loop's clock.
"""

import asyncio
import contextlib
import dataclasses
import math
from collections.abc import AsyncIterator, Callable

from crawler.control.network import CrawlNetwork, NetworkFault
from crawler.errors import DNSError
from crawler.visit.attempt import Observation
from crawler.visit.row_values import Row
from schema.vocabulary import ANSWERED, DISPUTED, NETWORK_DOWN, UNCONFIRMED


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pacing:
    """Intervals of probes, in seconds; they are our choice."""

    every_s: float = 2.0
    """Least interval of the probes of one process with all its browsers."""
    slow_s: float = 5.0
    """Interval of probes during a visit, since a fault may end before the visit does."""
    down_s: float = 5.0


PACING = Pacing()

DISPUTES = 3
"""Visits to a site that one process gives back because another resolver knows its name; then the outcome
`dns` is kept, marked."""

NOT_RESOLVED = "net::ERR_NAME_NOT_RESOLVED"

OF_THE_PAGE = ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY_")
"""Prefixes of request failures that the page or the browser caused, and not the network."""


class Watch:
    """Knows the state of the network; shared by the browsers of a process.

    A doubtful visit is written as it ended only if a probe after its end found the network up, and no probe
    during it found the network down. So the rows of a crawler that is killed need no correction.
    """

    def __init__(
        self,
        network: CrawlNetwork | None,
        *,
        stop: asyncio.Event,
        say: Callable[[str], None],
        pacing: Pacing = PACING,
    ) -> None:
        """Watch a network; without one, it counts as up."""
        self._network = network
        self._stop = stop
        self._say = say
        self._pacing = pacing
        self._probing = asyncio.Lock()
        self._probed_at = -math.inf
        self._good_at = -math.inf
        self._down_since: float | None = None
        self._good_from = -math.inf
        """End of the last outage; doubtful visits from before are given back."""
        self._guarded_from = -math.inf
        """End of the guard's last fault; all visits from before are given back."""
        self._disputes: dict[str, int] = {}

    async def is_down(self) -> bool:
        """Return whether no site may be claimed; probes while the network is down, and before the first
        claim.
        """
        if self._down_since is not None or self._good_at == -math.inf:
            await self._probe(-math.inf if self._down_since is None else _now())
        return self._down_since is not None

    @contextlib.asynccontextmanager
    async def watch_visit(self) -> AsyncIterator[None]:
        asking = asyncio.ensure_future(self._probe_while_slow())
        try:
            yield
        finally:
            asking.cancel()
            await asyncio.wait({asking})
            if not asking.cancelled():
                asking.result()  # raises if the guard cannot be mended

    async def judge(self, observation: Observation, *, host: str, began: float) -> Observation | None:
        """Return a visit that has just ended, as `network_down` if it says nothing of its site; None if the
        crawl stops first.
        """
        if self._network is None:
            return observation
        ended = _now()
        broken = await self._network.check_guard()
        if broken is not None:
            self._begin_outage(broken)
        elif began >= self._guarded_from and is_whole(observation):
            self._network.note_resolved(host)
            return observation
        else:
            while self._good_at < ended and self._is_good_since(began):
                if self._stop.is_set():
                    return None
                await self._probe(ended)
            if self._is_good_since(began):
                return await self._ask_second_resolvers(observation, host)
        return mark_network_down(observation)

    async def _ask_second_resolvers(self, observation: Observation, host: str) -> Observation:
        """Give a visit back if another resolver knows a name that did not resolve; after DISPUTES, or if none
        tells, mark it.
        """
        assert self._network is not None
        names = list_unresolved(observation, host)
        fault = await self._network.check_resolver(names) if names else None
        if fault is None:
            return observation
        if not fault.is_certain:
            return mark_unresolved(observation, UNCONFIRMED)
        self._disputes[host] = self._disputes.get(host, 0) + 1
        self._say(fault.reason)
        return (
            mark_network_down(observation)
            if self._disputes[host] <= DISPUTES
            else mark_unresolved(observation, DISPUTED)
        )

    def _is_good_since(self, began: float) -> bool:
        return self._down_since is None and began >= self._good_from

    async def _probe_while_slow(self) -> None:
        while self._network is not None:
            since = _now()
            await asyncio.sleep(self._pacing.slow_s)
            if self._down_since is None and self._good_at < since:
                await self._probe(since)

    async def _probe(self, since: float) -> None:
        """Probe the network, unless another browser did after `since`."""
        if self._network is None:
            return
        async with self._probing:
            if self._probed_at > since:
                return
            pause_s = self._pacing.every_s if self._down_since is None else self._pacing.down_s
            await self._pause(self._probed_at + pause_s - _now())
            if self._stop.is_set():
                return
            probed_at = _now()
            fault = await self._network.probe()
            self._probed_at = probed_at  # only now: a cancelled probe tells nothing
            if fault is not None:
                self._begin_outage(fault)
            else:
                self._good_at = probed_at
                self._end_outage()

    def _begin_outage(self, fault: NetworkFault) -> None:
        if fault.guard:
            self._guarded_from = math.inf
        if self._down_since is None:
            self._down_since = _now()
            self._say(f"the network is down: {fault.reason}. No site is visited until it is back")

    def _end_outage(self) -> None:
        if self._down_since is None:
            return
        self._good_from = _now()
        self._guarded_from = min(self._guarded_from, self._good_from)
        self._say(f"the network is back after {self._good_from - self._down_since:.0f} s")
        self._down_since = None

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), seconds)


def is_whole(observation: Observation) -> bool:
    """Return whether a visit itself proves that the network was up: all its loads answered by https,
    quiet, no request lost.

    A captive portal answers by http alone.
    """
    return all(
        load.visit["outcome"] in ANSWERED
        and load.visit["scheme"] == "https"
        and load.visit["stop_reason"] == "quiet"
        and not any(map(_is_lost, load.responses))
        for load in (observation, *observation.more)
    )


def _is_lost(response: Row) -> bool:
    """Return whether the network may have kept a response from arriving, which a quiet page may still wait
    for.
    """
    failure: str | None = response["failure"]
    if failure is None:
        return response["is_complete"] is False or response["wire_bytes_unknown"] == "no_response"
    return not failure.startswith(OF_THE_PAGE)


def list_unresolved(observation: Observation, host: str) -> list[str]:
    names: set[str] = set()
    for load in (observation, *observation.more):
        if load.visit["outcome"] == DNSError.outcome:
            documents = (row for row in load.responses if row["resource_type"] == "document")
            names |= {row["host"] for row in documents if row["failure"] == NOT_RESOLVED} or {host}
    return sorted(names)


def mark_unresolved(observation: Observation, mark: str) -> Observation:
    visit = observation.visit
    if visit["outcome"] == DNSError.outcome:
        visit = {**visit, "error": f"{visit['error'] or NOT_RESOLVED}{mark}"}
    return dataclasses.replace(
        observation, visit=visit, more=[mark_unresolved(load, mark) for load in observation.more]
    )


def mark_network_down(observation: Observation) -> Observation:
    return dataclasses.replace(
        observation,
        visit={**observation.visit, "outcome": NETWORK_DOWN},
        more=[mark_network_down(load) for load in observation.more],
    )


def _now() -> float:
    return asyncio.get_running_loop().time()

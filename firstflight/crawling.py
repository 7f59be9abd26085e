"""Running a crawl from the command line: real browsers, progress, and signals that stop it cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import signal
from typing import TYPE_CHECKING

import click

from crawler.browser.devices import DEVICES
from crawler.browser.user_agent import Appearance
from crawler.control.canaries import chosen
from crawler.control.network import OwnNetwork
from crawler.egress.guard import guarded
from crawler.egress.networks import parse
from crawler.errors import EgressUnavailable
from crawler.worker import claims
from crawler.worker.run import STOPPED, Limits, Loop, Tally
from crawler.worker.series import Series
from firstflight.crawl_log import journal
from firstflight.progress import told
from storage.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Engine

    from crawler.capture.capture import Capture
    from crawler.control.canaries import Canary
    from crawler.egress.guard import Guard
    from schema.tables import Crawl

LOCAL_WEB = "localweb"
"""The kind of crawl that the bundled web is for."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """How a run was asked for."""

    chromium: Path
    flags: tuple[str, ...]
    browsers: int
    minutes: float
    limits: Limits
    revive: Callable[[], object] | None
    """Starts the database again, where it is the embedded one."""
    guard: Guard | None
    """What browsers are kept in."""
    canaries: list[Canary]
    """What is asked whether the network is up; nothing is, without any."""
    capture: Capture | None
    """Of their network; None to read all from their logs."""
    log: str
    """TEXT or JSON (firstflight/crawl_log.py)."""
    progress: Path
    """Folder in which the service finds how far it is."""


@contextlib.contextmanager
def egress(
    crawl: Crawl, chromium: Path, *, unfiltered: bool, blocked_networks: str = ""
) -> Iterator[Guard | None]:
    """The address guard for this crawl's browsers; None for the local web, which lives on loopback, or if unwanted.

    BrowserMissing, and EgressUnavailable for `blocked_networks` that are none, come before anything is changed on the machine.
    """
    from crawler.browser.browser import check_there

    check_there(chromium)
    blocked = parse(blocked_networks)
    if unfiltered or crawl.kind == LOCAL_WEB:
        yield None
        return
    with contextlib.ExitStack() as stack:
        try:
            guard = stack.enter_context(guarded(blocked))
        except EgressUnavailable as exc:
            raise EgressUnavailable(
                f"{exc}. Or crawl with --unfiltered-egress, which is recorded: then pages reach your network"
            ) from exc
        yield guard


@contextlib.contextmanager
def capture(crawl: Crawl, guard: Guard | None, *, off: bool) -> Iterator[Capture | None]:
    """Of the network that the browsers are in: of the guard's, or of loopback for the local web.

    None if it is `off`, where it is not allowed, with QUIC, and in the machine's own network, whose traffic is not only theirs:
    then the browsers' log has the bytes, at a higher price.
    """
    from crawler.capture.capture import capturing, on_loopback

    with contextlib.ExitStack() as stack:
        if off or crawl.arm == "quic":
            yield None
        elif crawl.kind == LOCAL_WEB:
            yield stack.enter_context(on_loopback())
        else:
            yield stack.enter_context(capturing(guard.capture if guard else None))


class StateError(Exception):
    """The local web's state cannot be used for this crawl."""


@dataclasses.dataclass(frozen=True, slots=True)
class Web:
    """What is crawled, as the browser and the crawler find it."""

    flags: tuple[str, ...]
    """Of the browser."""
    canaries: list[Canary]


def web(crawl: Crawl, state: Path | None, *, canaries: str | None) -> Web:
    """The local web of `state`, or the Internet; a crawl's kind and what it crawls must agree."""
    if state is None:
        if crawl.kind == LOCAL_WEB:
            raise StateError(
                "this crawl is of the local web: start `firstflight localweb serve --state FILE` "
                "and name its FILE by --local-web"
            )
        return Web((), chosen(canaries))
    if crawl.kind != LOCAL_WEB:
        raise StateError(f"--local-web is for crawls of kind {LOCAL_WEB}; this one is of kind {crawl.kind}")
    try:
        facts = json.loads(state.read_text(encoding="utf-8"))
        flags = [str(flag) for flag in facts["browser_flags"]]
        asked = [str(url) for url in facts.get("canaries", [])]
    except OSError as exc:
        raise StateError(
            f"the local web's state {state} cannot be read ({exc.strerror}): "
            "start it with `firstflight localweb serve --state FILE`"
        ) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise StateError(f"{state} is no state of the local web: it lacks browser_flags") from exc
    return Web(tuple(flags), chosen(",".join(asked)) if asked else [])


def crawl(engine: Engine, crawl: Crawl, wanted: Wanted) -> tuple[Tally, int]:
    """Run the claim loop with Chromium; what it did, and the exit code: 0, or 128 and the signal's number."""
    with scratch_folder():
        return asyncio.run(_crawl(engine, crawl, wanted))


async def _crawl(engine: Engine, crawl: Crawl, wanted: Wanted) -> tuple[Tally, int]:
    from crawler.browser.browser import Browser
    from crawler.browser.driver import Drivers
    from crawler.visit.visit import visit

    appearance = Appearance(
        device=DEVICES[crawl.device], user_agent=crawl.user_agent_planned, contact_url=crawl.contact_url
    )
    stop = asyncio.Event()
    received = catch_signals(stop)
    left = await asyncio.to_thread(claims.open_sites, engine, crawl)
    with journal(wanted.log, crawl, done=crawl.top - left) as journalled:
        series = Series(visit=visit, loads=crawl.loads, inner=crawl.inner_pages)

        async with told(engine, crawl, wanted.progress), Drivers(journalled.say) as drivers:

            @contextlib.asynccontextmanager
            async def launch() -> AsyncIterator[Browser]:
                async with (
                    drivers.lend() as playwright,
                    Browser.launch(
                        wanted.chromium,
                        flags=wanted.flags,
                        quic=crawl.arm == "quic",
                        appearance=appearance,
                        playwright=playwright,
                        guard=wanted.guard,
                        capture=wanted.capture,
                    ) as browser,
                ):
                    yield browser

            tally = await Loop(
                engine=engine,
                crawl=crawl,
                launch=launch,
                visit=series,
                browsers=wanted.browsers,
                minutes=wanted.minutes,
                stop=stop,
                stored=journalled.stored,
                say=journalled.say,
                limits=wanted.limits,
                revive=wanted.revive,
                network=OwnNetwork(wanted.canaries, wanted.guard) if wanted.canaries else None,
            ).run()
    return tally, 128 + received[0] if tally.ended == STOPPED and received else 0


def catch_signals(stop: asyncio.Event) -> list[int]:
    """Let the first Ctrl-C or SIGTERM set `stop`, and the second end us at once; the list tells which came."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def caught(number: int) -> None:
        received.append(number)
        stop.set()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
        click.echo("stopping: the visits in flight are given back", err=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, caught, number)
    return received

"""The surroundings of a run's browsers: the web that they visit,
the address guard and the capture of their network."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from crawler.browser.identity import check_executable
from crawler.capture.capture import Capture, capture_loopback, open_capture
from crawler.control.canaries import Canary, parse_canaries
from crawler.control.resolvers import Resolver
from crawler.control.resolvers import parse_resolvers as chosen_resolvers
from crawler.egress.guard import AddressGuard, set_up_guard
from crawler.egress.networks import parse_networks
from crawler.errors import CrawlerError, EgressUnavailable
from schema.tables import Crawl

LOCAL_WEB = "localweb"


class StateError(CrawlerError):
    """The local web's state file cannot be used for this crawl."""


@dataclasses.dataclass(frozen=True, slots=True)
class CrawledWeb:
    """The web that is crawled, as the browser and the crawler find it."""

    flags: tuple[str, ...]
    canaries: list[Canary]
    """Probed to learn whether the network is up."""
    resolvers: list[Resolver] | None = None
    """Asked about names that do not resolve; None for the local web, whose names are not in the DNS."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The browser's program, and the network that browsers run in."""

    chromium: Path
    web: CrawledWeb
    guard: AddressGuard | None
    capture: Capture | None


@contextlib.contextmanager
def set_up_surroundings(
    crawl: Crawl, web: CrawledWeb, chromium: Path, *, unfiltered: bool = False, blocked_networks: str = ""
) -> Iterator[Surroundings]:
    with (
        set_up_egress(crawl, chromium, unfiltered=unfiltered, blocked_networks=blocked_networks) as guard,
        set_up_capture(crawl, guard) as network_capture,
    ):
        yield Surroundings(chromium=chromium, web=web, guard=guard, capture=network_capture)


@contextlib.contextmanager
def set_up_egress(
    crawl: Crawl, chromium: Path, *, unfiltered: bool, blocked_networks: str = ""
) -> Iterator[AddressGuard | None]:
    """Set up the address guard; None if unwanted, and for the local web.

    BrowserMissing, and EgressUnavailable for `blocked_networks`, come before the machine is changed.
    """
    check_executable(chromium)
    blocked = parse_networks(blocked_networks)
    if unfiltered or crawl.kind == LOCAL_WEB:
        yield None
        return
    with contextlib.ExitStack() as stack:
        try:
            guard = stack.enter_context(set_up_guard(blocked))
        except EgressUnavailable as exc:
            raise EgressUnavailable(
                f"{exc}. Or crawl with --set unfiltered_egress=true, which is recorded: pages then reach "
                "your network"
            ) from exc
        yield guard


@contextlib.contextmanager
def set_up_capture(crawl: Crawl, guard: AddressGuard | None) -> Iterator[Capture | None]:
    """Capture the network of guard or loopback; None where the kernel refuses it, and without a guard, where
    the traffic is not theirs alone.
    """
    with contextlib.ExitStack() as stack:
        if crawl.kind == LOCAL_WEB:
            yield stack.enter_context(capture_loopback())
        else:
            sockets = (guard.capture, guard.tcp_info) if guard else (None, None)
            yield stack.enter_context(open_capture(*sockets, is_theirs_alone=True))


def find_web(
    crawl: Crawl, state: Path | None, *, canaries: str | None, resolvers: str | None = None
) -> CrawledWeb:
    """Find the local web of a `state` or, without one, the Internet; StateError if the crawl is of the other
    kind.
    """
    if state is None:
        if crawl.kind == LOCAL_WEB:
            raise StateError(
                "this crawl is of the local web: start `firstflight localweb serve --state FILE` "
                "and name its FILE by --set local_web=FILE"
            )
        return CrawledWeb((), parse_canaries(canaries), chosen_resolvers(resolvers))
    if crawl.kind != LOCAL_WEB:
        raise StateError(f"local_web is for crawls of kind {LOCAL_WEB}; this one is of kind {crawl.kind}")
    try:
        facts = json.loads(state.read_text(encoding="utf-8"))
        flags = [str(flag) for flag in facts["browser_flags"]]
        urls = [str(url) for url in facts.get("canaries", [])]
    except OSError as exc:
        raise StateError(
            f"the local web's state {state} cannot be read ({exc.strerror}): "
            "start it with `firstflight localweb serve --state FILE`"
        ) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise StateError(f"{state} is no state of the local web: it lacks browser_flags") from exc
    return CrawledWeb(tuple(flags), parse_canaries(",".join(urls)) if urls else [])

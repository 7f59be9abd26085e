"""The pages in a NetLog: whose requests are whose, and which are of no page."""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any

from crawler.netlog.assembler import Assembler, Traffic
from crawler.netlog.exchange import MAIN_FRAME, Exchange, Transport
from recordings.netlog.counting import LogCounts
from recordings.netlog.log import DATA, NetLog
from recordings.sizes import ResponseSizes

STARTED = "URL_REQUEST_START_JOB"

NO_ORIGIN = ("", "null", "opaque")
"""Values of a request's top frame that are no site's: the browser asks for itself."""

SCHEMES = ("http://", "https://")


@dataclasses.dataclass(frozen=True, slots=True)
class Asker:
    """The asker of a request, as the log names it."""

    source: int
    """Request, with redirects and retries."""
    top: str | None
    """Site of the tab's page; empty for the browser itself, None where the log does not say."""
    initiator: str = ""

    @property
    def is_extension(self) -> bool:
        return "-extension://" in self.initiator or "-extension://" in (self.top or "")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetLogPage:
    """One page load."""

    document: Exchange
    """The page's own document, after redirects."""
    exchanges: list[Exchange]
    transports: list[Transport]

    @property
    def start_ms(self) -> int:
        """Time at which the browser asked for the document, or for the first redirect that led to it."""
        return self.exchanges[0].asked_ms


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetLogTraffic:
    """The traffic of the network while a log was written."""

    pages: list[NetLogPage]
    left_out: collections.Counter[str]
    sizes: dict[int, ResponseSizes]
    stop_ms: int


def read_traffic(log: NetLog) -> NetLogTraffic:
    assembler = Assembler()
    counts = None if log.has_bytes else LogCounts(assembler, names_data=DATA in log.constants.log_event_types)
    askers: dict[int, Asker] = {}
    by_exchange: dict[int, Asker] = {}
    seen = stop_ms = 0
    left_out: collections.Counter[str] = collections.Counter()
    for event, raw in log.read(left_out):
        if event.name == STARTED and event.phase == "BEGIN":
            askers[event.source] = read_asker(event.source, json.loads(bytes(raw)))
        assembler.feed(event)
        for exchange in assembler.exchanges[seen:]:
            by_exchange[id(exchange)] = askers.get(event.source, Asker(event.source, None))
        seen = len(assembler.exchanges)
        if counts is not None:
            counts.feed(event)
        stop_ms = max(stop_ms, event.time_ms)
    traffic = assembler.finish()
    pages = split_pages(traffic, by_exchange, left_out)
    sizes = {} if counts is None else counts.sizes(traffic.exchanges)
    return NetLogTraffic(pages=pages, left_out=left_out, sizes=sizes, stop_ms=stop_ms)


def read_asker(source: int, params: dict[str, Any]) -> Asker:
    key = params.get("network_isolation_key", params.get("network_anonymization_key"))
    top = None if key is None else str(key).partition(" ")[0].strip('"')
    return Asker(source, "" if top in NO_ORIGIN else top, str(params.get("initiator", "")))


def split_pages(
    traffic: Traffic, askers: dict[int, Asker], left_out: collections.Counter[str]
) -> list[NetLogPage]:
    """Return the pages: a navigation of a tab begins one, and what the same site's tab asks for from then on
    is its own.

    Of two tabs with one site's pages the later has all of it. `left_out` counts requests of no page.
    """
    begun: dict[str | None, list[Exchange]] = collections.defaultdict(list)
    """Exchanges of the page that loads in the tabs of a site;
    of all tabs where the log does not tell them apart."""
    groups: dict[int, list[Exchange]] = {}
    for exchange in traffic.exchanges:
        who = askers[id(exchange)]
        if who.is_extension:
            left_out["of_extension_dropped"] += 1
        elif exchange.frame == MAIN_FRAME:
            begun[who.top] = groups.setdefault(who.source, [])
            begun[who.top].append(exchange)
        elif who.top == "":
            left_out["of_browser_dropped"] += 1
        elif who.top in begun:
            begun[who.top].append(exchange)
        else:
            left_out["of_other_page_dropped"] += 1
    pages = []
    for group in groups.values():
        shown = [
            exchange for exchange in group if exchange.frame == MAIN_FRAME and exchange.status is not None
        ]
        if shown and not is_redirected(shown[-1], group):
            used = {id(exchange.transport) for exchange in group}
            transports = [transport for transport in traffic.transports if id(transport) in used]
            pages.append(NetLogPage(document=shown[-1], exchanges=group, transports=transports))
        else:
            left_out["no_document_dropped"] += len(group)
    return pages


def is_redirected(exchange: Exchange, group: list[Exchange]) -> bool:
    return any(other.redirected_from is exchange for other in group)

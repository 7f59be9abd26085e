"""NetLogs of one month as the content of a release: the crawler's rows of each page,
without names of paths."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import Exchange, Transport
from crawler.visit.rows import FIRST_FLIGHT_COLUMNS
from crawler.visit.rows import make_rows as crawled_rows
from recordings.containers import unpack
from recordings.exchange import RecordingError, host_name
from recordings.netlog.log import MOST_BYTES, UNREADABLE, NetLog, read_netlog
from recordings.netlog.packets import Captured, read_captures
from recordings.netlog.pages import NetLogPage, NetLogTraffic, read_traffic
from recordings.reading import name_and_content
from recordings.release import Content, Rules, add_counters, count_values, make_content, source_of, sums_of
from recordings.rows import CRAWL_ID, PageRows, Row, ShownDocument, site_row, visit_row
from recordings.sizes import NOT_RECORDED
from schema.recorded import NETLOGS
from schema.vocabulary import is_covered

METHOD = "recorded-netlog-1"
"""Version of the method by which NetLogs become a release; a change of any value needs the next number."""

INITIATORS: dict[str, str] = {
    "redirect": "recorded: the response that redirected here",
    "referer": "inferred: the response whose URL Referer is",
    "none": "none: the navigation, and what nothing tells of",
}
"""Rules by which a request has its initiator, with the evidence."""

CONNECTIONS: dict[str, str] = {"recorded": "recorded: the connection that the log names"}

LIMITS = [
    "Pages are told apart by the site of the tab's page: of two tabs with pages of one site at a time the "
    "later page has the requests of both.",
    "Later pages of a log may find caches and connections of the earlier ones; what a connection carried for "
    "several pages counts for none.",
    "The recordings are of pages that somebody chose: they are no sample of the web, "
    "and their ranks are not known.",
]

WITHOUT_BYTES = (
    "The logs, or some of them, were written without the bytes of sockets (capture mode {modes}): sizes over "
    "HTTP/2, and the bytes of TLS handshakes and tickets, are unknown there."
)

OF_WHOLE = ("received_bytes", "decrypted_bytes", "frame_bytes", "packet_bytes")
"""Columns of a connection that are of no single page if several used it."""

OF_BEGINNING = (
    *("opened_us", "connected_us", "secured_us", "tls_handshake_bytes", "tls_ticket_bytes"),
    *("first_record_bytes", *FIRST_FLIGHT_COLUMNS),
)
"""Columns of a connection's beginning, which is of the page that it was opened for."""

OF_BYTES = ("tls_handshake_bytes", "tls_ticket_bytes", "first_record_bytes", "frame_bytes", "tls_resumed")
"""Columns of a TCP connection that the bytes of its socket tell."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetLogFile:
    """The pages of a log."""

    name: str
    sha256: str
    log: NetLog
    traffic: NetLogTraffic
    captured: Captured | None

    @property
    def tool(self) -> str:
        return "Chrome's NetLog"

    @property
    def day(self) -> str:
        started = self.at(self.traffic.pages[0].start_ms)
        return "" if started is None else f"{started:%Y-%m-%d}"

    def at(self, time_ms: int) -> datetime.datetime | None:
        if self.log.epoch_ms is None:
            return None
        try:
            return datetime.datetime.fromtimestamp((self.log.epoch_ms + time_ms) / 1000, datetime.UTC)
        except (ValueError, OverflowError, OSError):
            return None


def read_file(path: Path, captures: tuple[Path, ...] = (), *, strict: bool = False) -> NetLogFile:
    """Read a log, and the packets beside it; RecordingError if it is none, or has no page.

    Events that cannot be read are left out and counted; with `strict` they are an error.
    """
    name, content = name_and_content(path)
    log = read_netlog(unpack(content, name, most_bytes=MOST_BYTES), name)
    traffic = read_traffic(log)
    if strict and (count := traffic.left_out[UNREADABLE]):
        raise RecordingError(f"{name}: {count:,} events cannot be read")
    if not traffic.pages:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(traffic.left_out.items()))
        raise RecordingError(
            f"{name}: no page in it whose document arrived" + (f" (left out: {reasons})" if reasons else "")
        )
    if captures and log.epoch_ms is None:
        raise RecordingError(f"{name} does not state its clock (timeTickOffset): leave out --pcap")
    return NetLogFile(
        name=name,
        sha256=hashlib.sha256(content).hexdigest(),
        log=log,
        traffic=traffic,
        captured=read_captures(captures, epoch_ms=log.epoch_ms or 0) if captures else None,
    )


def content_of(files: Sequence[NetLogFile], stated_by_importer: Mapping[str, str], *, month: str) -> Content:
    pages: list[PageRows] = []
    for file in files:
        for page in file.traffic.pages:
            pages.append(page_rows(file, page, len(pages) + 1))
    browsers = {file.log.browser for file in files if file.log.browser}
    modes = sorted({file.log.mode for file in files if not file.log.has_bytes})
    limits = [*([WITHOUT_BYTES.format(modes=", ".join(modes))] if modes else []), *LIMITS]
    return make_content(
        pages,
        source_of(files, stated_by_importer, month=month, limits=limits),
        sums_of(files),
        browser=", ".join(sorted(browsers)) or "unknown",
        method=METHOD,
        initiators=Rules(INITIATORS, frozenset({"referer"})),
        connections=Rules(CONNECTIONS, frozenset()),
        notes=NETLOGS,
        facts={
            "capture_modes": count_values(file.log.mode for file in files),
            "cut_short": sum(file.log.is_cut for file in files),
            "left_out": dict(sorted(add_counters(file.traffic.left_out for file in files).items())),
        },
    )


def page_rows(file: NetLogFile, page: NetLogPage, number: int) -> PageRows:
    crawled = crawled_rows(
        Traffic(page.transports, page.exchanges, 0),
        [],
        start_ms=page.start_ms,
        salt=b"",
        error_name=file.log.error_name,
        captured=[file.captured.take(transport) for transport in page.transports] if file.captured else (),
        stop_ms=file.traffic.stop_ms,
    )
    own = {"crawl_id": CRAWL_ID, "visit_id": number}
    responses = [
        {**row, **own, **response_changes(file, exchange)}
        for row, exchange in zip(crawled.responses, page.exchanges, strict=True)
    ]
    connections = [
        {**row, **own, **connection_changes(file, page, transport)}
        for row, transport in zip(crawled.connections, page.transports, strict=True)
    ]
    coverage = (crawled.coverage, crawled.decrypted_coverage) if file.log.has_bytes else (None, None)
    document = page.document
    first, final = urlsplit(page.exchanges[0].url), urlsplit(document.url)
    visit = visit_row(
        number,
        host=host_name(final),
        scheme=first.scheme,
        document=ShownDocument(
            page.exchanges.index(document) + 1, document.status, final.scheme, host_name(final)
        ),
        started_at=file.at(page.start_ms),
    )
    visit |= {
        "coverage": coverage[0],
        "decrypted_coverage": coverage[1],
        "is_covered": is_covered(*coverage),
    }
    return PageRows(
        site=site_row(number, visit["host"]),
        visit=visit,
        connections=connections,
        responses=responses,
        initiators=collections.Counter(initiator_rule(row) for row in responses),
        connection_rules=collections.Counter(
            "recorded" for row in responses if row["connection_id"] is not None
        ),
    )


def response_changes(file: NetLogFile, exchange: Exchange) -> Row:
    """Return what differs from a crawl's row: no path, and sizes counted without bytes."""
    changes: Row = {"path": None, "query_hash": None}
    sizes = file.traffic.sizes.get(id(exchange))
    if sizes is None or exchange.transport is None:
        return changes
    if exchange.status is not None and sizes.wire_bytes is None:
        sizes = dataclasses.replace(sizes, wire_bytes_unknown=NOT_RECORDED)
    return {
        **changes,
        **dataclasses.asdict(sizes),
        "decoded_bytes": exchange.decoded_bytes if sizes.decoded_bytes is None else sizes.decoded_bytes,
        "protocol": exchange.transport.protocol,
    }


def connection_changes(file: NetLogFile, page: NetLogPage, transport: Transport) -> Row:
    """Return what differs from a crawl's row: null for what is of other pages, or needs missing bytes."""
    changes: Row = {"response_count": sum(each.transport is transport for each in page.exchanges)}
    own = {id(each) for each in page.exchanges}
    if any(id(each) not in own for each in transport.exchanges):
        changes |= dict.fromkeys(OF_WHOLE)
    if transport.exchanges and id(transport.exchanges[0]) not in own:
        changes |= dict.fromkeys(OF_BEGINNING)
        changes["initial_window_unknown"] = "quic" if transport.protocol == "h3" else "not_captured"
    if not file.log.has_bytes and transport.protocol != "h3":
        changes |= dict.fromkeys(OF_BYTES if transport.tls_version else ("frame_bytes",))
    return changes


def initiator_rule(row: Row) -> str:
    if row["redirected_from_id"] is not None:
        return "redirect"
    return "none" if row["initiator_id"] is None else "referer"

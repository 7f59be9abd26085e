"""One page of a recording: which exchanges belong to its load, which of them is its document,
and what led to each."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from recordings.exchange import HTTP, RecordedExchange, RecordedPage, Recording, strip_fragment
from schema.vocabulary import RESOURCE_TYPES_BY_DESTINATION, RESOURCE_TYPES_BY_DEVTOOLS

NEW_LOAD_GAP_S = 4.0
"""Silence that separates two loads in a recording without pages, in seconds."""

LONGEST_LOAD_S = 86_400
"""Time from a page's first request after which nothing belongs to its load any more: a day."""

MEDIA_TYPES = (
    ("html", "document"),
    ("css", "style"),
    ("javascript", "script"),
    ("ecmascript", "script"),
    ("font", "font"),
    ("woff", "font"),
    ("image", "image"),
    ("json", "fetch"),
    ("xml", "fetch"),
    ("video", "media"),
    ("audio", "media"),
)
"""The first word in the media type counts."""

PARTS = frozenset({"style", "script", "image", "font"})

NEVER_SHOWN = ("ocsp", "pkix", "image", "font", "css", "javascript")
"""Words in media types of what is no page, unless the recorder says so."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageLoad:
    """The load of one page: its exchanges that crossed the network, in the order of the requests."""

    exchanges: list[RecordedExchange]
    document: RecordedExchange | None
    """From the network or a cache; None if none arrived."""
    first: RecordedExchange
    """Request for the document, or the first redirect to it; without one the first by HTTP."""
    load_us: int | None
    """Time of the load event in µs since the page's start; None if not recorded."""
    left_out: collections.Counter[str]

    @property
    def host(self) -> str:
        return (self.document or self.first).host

    @property
    def later_requests(self) -> int:
        return self.left_out["later_load_dropped"] + self.left_out["later_page_dropped"]

    @property
    def main(self) -> int | None:
        return next(
            (place for place, exchange in enumerate(self.exchanges) if exchange is self.document), None
        )


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """Return what is left out of page loads in words.

    >>> describe_left_out({"later_load_dropped": 4})
    '4 later load dropped'
    """
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left_out.items())


def find_page_load(recording: Recording) -> PageLoad:
    """Return the first page with a document: one before was blank, and later ones found a warm cache."""
    groups = pages_of(recording)
    place = next((number for number, group in enumerate(groups) if document_of(group) is not None), 0)
    chosen = groups[place]
    name = next((exchange.page for exchange in chosen if exchange.page is not None), None)
    page = next((page for page in recording.pages if page.id == name), None)
    untimed = {id(exchange) for exchange in recording.untimed} - {id(document_of(chosen, page))}
    groups = [[exchange for exchange in group if id(exchange) not in untimed] for group in groups]
    left_out: collections.Counter[str] = collections.Counter(reason for _, reason in recording.odd)
    left_out["earlier_page_dropped"] = sum(map(len, groups[:place]))
    left_out["later_page_dropped"] = sum(map(len, groups[place + 1 :]))
    load = cut_first_load(groups[place], left_out, by_silence=recording.splits_by_silence)
    document = document_of(load, page)
    kept = [exchange for exchange in load if keep(exchange, left_out)]
    return PageLoad(
        exchanges=kept,
        document=document,
        first=redirects_to(document, find_redirects(load))[0]
        if document is not None
        else next(
            exchange for exchange in (*load, *recording.exchanges) if urlsplit(exchange.url).scheme in HTTP
        ),
        load_us=None if page is None else page.load_us,
        left_out=+left_out,
    )


def pages_of(recording: Recording) -> list[list[RecordedExchange]]:
    """Return each page's exchanges in order; one without a page's name belongs to the page that was
    loading."""
    exchanges = recording.exchanges
    if recording.untimed:
        exchanges = sorted([*recording.untimed, *exchanges], key=lambda each: each.started_s)
    starts: dict[str, float] = {}
    for exchange in exchanges:
        if exchange.page is not None:
            starts.setdefault(exchange.page, exchange.started_s)
    if not starts:
        return [exchanges]
    listed = {page.id: place for place, page in enumerate(recording.pages)}
    groups: dict[str, list[RecordedExchange]] = {
        name: [] for name in sorted(starts, key=lambda name: listed.get(name, len(listed)))
    }
    loading = min(starts, key=lambda name: starts[name])
    for exchange in exchanges:
        if exchange.page is not None and starts[exchange.page] >= starts[loading]:
            loading = exchange.page
        groups[exchange.page or loading].append(exchange)
    return list(groups.values())


def document_of(
    group: Sequence[RecordedExchange], page: RecordedPage | None = None
) -> RecordedExchange | None:
    """Return the page's own document, by what the recorder names, its type, the page's URL, HTML, order."""
    shown = [exchange for exchange in group if may_be_shown(exchange)]
    title = None if page is None else strip_fragment(page.title)
    redirects = find_redirects(group)
    tests = (
        lambda exchange: bool(exchange.is_document),
        lambda exchange: exchange.resource_type == "document",
        lambda exchange: any(
            strip_fragment(before.url) == title for before in redirects_to(exchange, redirects)
        ),
        lambda exchange: "html" in exchange.mime_type and begins_page(exchange, group),
        lambda exchange: (
            not any(word in exchange.mime_type for word in NEVER_SHOWN) and begins_page(exchange, group)
        ),
    )
    return next((exchange for test in tests for exchange in shown if test(exchange)), None)


def begins_page(document: RecordedExchange, group: Sequence[RecordedExchange]) -> bool:
    """Return whether nothing before a document is part of another, whose document may be missing."""
    earlier = itertools.takewhile(lambda each: each is not document, group)
    return not any(
        each.referer
        and strip_fragment(each.referer) != strip_fragment(document.url)
        and kind_of(each) in PARTS
        for each in earlier
    )


def may_be_shown(exchange: RecordedExchange) -> bool:
    return (
        exchange.status not in (0, 101, 204)
        and exchange.destination in ("", "document")
        and exchange.method in ("GET", "POST")
        and urlsplit(exchange.url).scheme in HTTP
        and not exchange.is_redirect
    )


def find_redirects(group: Sequence[RecordedExchange]) -> dict[int, RecordedExchange]:
    """Return the redirect that led to each exchange, by the exchange's id()."""
    leading: dict[int, RecordedExchange] = {}
    awaited: dict[str, RecordedExchange] = {}
    for exchange in group:
        before = exchange.redirected_from or awaited.pop(strip_fragment(exchange.url), None)
        if before is not None:
            leading[id(exchange)] = before
        if exchange.is_redirect and exchange.location:
            awaited[strip_fragment(exchange.location)] = exchange
    return leading


def redirects_to(
    exchange: RecordedExchange, redirects: dict[int, RecordedExchange]
) -> list[RecordedExchange]:
    """Return an exchange behind the redirects to it, in their order."""
    chain = [exchange]
    while (before := redirects.get(id(chain[0]))) is not None and before not in chain:
        chain.insert(0, before)
    return chain


def cut_first_load(
    exchanges: Sequence[RecordedExchange], left_out: collections.Counter[str], *, by_silence: bool
) -> Sequence[RecordedExchange]:
    document_seen = False
    for index, exchange in enumerate(exchanges):
        silence = exchange.started_s - exchanges[index - 1].started_s if index else 0.0
        is_far = exchange.started_s - exchanges[0].started_s > LONGEST_LOAD_S
        if is_far or (document_seen and (exchange.begins_load or (by_silence and silence > NEW_LOAD_GAP_S))):
            left_out["later_load_dropped"] = len(exchanges) - index
            return exchanges[:index]
        document_seen = document_seen or (may_be_shown(exchange) and kind_of(exchange) == "document")
    return exchanges


def keep(exchange: RecordedExchange, left_out: collections.Counter[str]) -> bool:
    reasons = {
        "not_http_dropped": urlsplit(exchange.url).scheme not in HTTP,
        "connect_dropped": exchange.method == "CONNECT",
        "cached_dropped": exchange.is_cached,
        "internal_redirect_dropped": exchange.is_internal,
        "no_response_dropped": not exchange.status,
        "upgrade_dropped": exchange.status == 101,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason:
        left_out[reason] += 1
    return reason is None


def find_parents(kept: Sequence[RecordedExchange], main: int | None) -> list[tuple[int | None, str]]:
    """Return each exchange's parent and the evidence; `main` is the document's index."""
    place = {id(exchange): index for index, exchange in enumerate(kept)}
    redirects = find_redirects(kept)
    by_url: dict[str, int] = {}
    parents: list[tuple[int | None, str]] = []
    for index, exchange in enumerate(kept):
        redirect = place.get(id(redirects.get(id(exchange))))
        if redirect is None and index == main and index and kept[index - 1].is_redirect:
            redirect = index - 1  # one whose target was not recorded
        parents.append(find_parent(exchange, main=main or 0, index=index, redirect=redirect, by_url=by_url))
        by_url[strip_fragment(exchange.url)] = index
    return parents


def find_parent(
    exchange: RecordedExchange, *, index: int, main: int, redirect: int | None, by_url: dict[str, int]
) -> tuple[int | None, str]:
    if redirect is not None:
        return redirect, "redirect"
    if index <= main:
        return None, "start"
    for how, url in (("initiator", exchange.initiator), ("referer", exchange.referer)):
        if url and strip_fragment(url) in by_url:
            return by_url[strip_fragment(url)], how
    return main, "guess"


def resource_types(load: PageLoad) -> list[str]:
    """Return the resource type of each exchange; a redirect has that of its target."""
    kinds = {
        id(exchange): "iframe" if is_frames(exchange, load.document) else kind_of(exchange)
        for exchange in load.exchanges
    }
    redirects = find_redirects(load.exchanges)
    for exchange in reversed(load.exchanges):
        if (redirect := redirects.get(id(exchange))) is not None and id(redirect) in kinds:
            kinds[id(redirect)] = kinds[id(exchange)]
    return [kinds[id(exchange)] for exchange in load.exchanges]


def is_frames(exchange: RecordedExchange, document: RecordedExchange | None) -> bool:
    """Return whether an exchange is for a frame within the page, by the frame's name or else by order."""
    if exchange.destination or exchange is document or kind_of(exchange) != "document":
        return False
    if document is None:
        return True
    if exchange.frame and document.frame:
        return exchange.frame != document.frame
    return exchange.started_s >= document.started_s


def kind_of(exchange: RecordedExchange) -> str:
    if exchange.resource_type == "preflight":
        return "preflight"
    if exchange.destination:
        return RESOURCE_TYPES_BY_DESTINATION.get(exchange.destination, "other")
    if exchange.resource_type == "document":
        return "document"
    if exchange.resource_type:
        return RESOURCE_TYPES_BY_DEVTOOLS.get(exchange.resource_type, "other")
    if exchange.is_redirect:  # whose own content is not what was asked for
        return "other"
    kind = next((kind for word, kind in MEDIA_TYPES if word in exchange.mime_type), "other")
    return "fetch" if kind == "document" and exchange.status == 204 else kind

"""Selects the exchanges of a page load from a recording, and finds the type and parent of each."""

import collections
from collections.abc import Sequence
from urllib.parse import urlsplit

from recordings.exchange import RecordedExchange, bare

NEW_LOAD_GAP_S = 4.0
"""Silence that separates two loads in a recording without pages, in seconds."""

RESOURCE_TYPES = {
    "document": "document",
    "stylesheet": "style",
    "script": "script",
    "image": "image",
    "font": "font",
    "xhr": "fetch",
    "fetch": "fetch",
    "ping": "fetch",
    "preflight": "fetch",
    "eventsource": "fetch",
    "media": "media",
}
"""Our resource types by Chrome's; all others are `other`."""

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
"""Resource types by a word in the media type; the first match counts."""


def first_load(
    exchanges: Sequence[RecordedExchange], *, by_silence: bool = False
) -> tuple[list[RecordedExchange], collections.Counter[str]]:
    """Exchanges of the first load that crossed the network,
    and counts of the reasons why others are left out.

    `by_silence` separates loads by silence, for recordings that have no other separation.
    """
    repairs: collections.Counter[str] = collections.Counter()
    return [one for one in cut(exchanges, repairs, by_silence=by_silence) if keep(one, repairs)], repairs


def cut(
    exchanges: Sequence[RecordedExchange], repairs: collections.Counter[str], *, by_silence: bool
) -> Sequence[RecordedExchange]:
    """The exchanges of the first load."""
    document_seen = False
    for index, one in enumerate(exchanges):
        silence = one.started_s - exchanges[index - 1].started_s if index else 0.0
        if document_seen and (one.begins_load or (by_silence and silence > NEW_LOAD_GAP_S)):
            repairs["later_load_dropped"] = len(exchanges) - index
            return exchanges[:index]
        document_seen = document_seen or (one.status == 200 and kind_of(one) == "document")
    return exchanges


def keep(one: RecordedExchange, repairs: collections.Counter[str]) -> bool:
    """True if the exchange crossed the network and can be replayed."""
    reasons = {
        "not_http_dropped": urlsplit(one.url).scheme not in ("http", "https"),
        "cached_dropped": one.is_cached,
        "internal_redirect_dropped": one.is_internal,
        "no_response_dropped": not one.status,
        "upgrade_dropped": one.status == 101,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason:
        repairs[reason] += 1
    return reason is None


def find_parents(kept: Sequence[RecordedExchange]) -> list[tuple[int | None, str]]:
    """For each exchange, the index of its parent and the evidence for it."""
    place = {id(one): index for index, one in enumerate(kept)}
    by_url: dict[str, int] = {}
    awaited: dict[str, int] = {}
    """Redirects whose target has not been requested yet, by target."""
    main = next((i for i, one in enumerate(kept) if not one.is_redirect), 0)
    parents: list[tuple[int | None, str]] = []
    for index, one in enumerate(kept):
        url = bare(one.url)
        redirect = awaited.pop(url, None)
        if one.redirected_from is not None:
            redirect = place.get(id(one.redirected_from), redirect)
        parents.append(parent(one, index=index, main=main, redirect=redirect, by_url=by_url))
        by_url[url] = index
        if one.is_redirect and one.location:
            awaited[bare(one.location)] = index
    return parents


def parent(
    one: RecordedExchange, *, index: int, main: int, redirect: int | None, by_url: dict[str, int]
) -> tuple[int | None, str]:
    """The parent of an exchange and its evidence, by the strongest evidence available."""
    if index == 0:
        return None, "start"
    if redirect is not None:
        return redirect, "redirect"
    if index <= main:  # nothing but redirects stands before the main document
        return index - 1, "redirect"
    for how, url in (("initiator", one.initiator), ("referer", one.referer)):
        if url and bare(url) in by_url:
            return by_url[bare(url)], how
    return main, "guess"


def kind_of(one: RecordedExchange) -> str:
    """The resource type, one of recipes.KINDS, by the browser's type or else by the media type."""
    if one.resource_type:
        return RESOURCE_TYPES.get(one.resource_type, "other")
    kind = next((kind for word, kind in MEDIA_TYPES if word in one.mime_type), "other")
    return "fetch" if kind == "document" and one.status == 204 else kind

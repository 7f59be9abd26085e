"""The connections of a recorded page: as the recording names them, else rebuilt from origins,
addresses and times."""

import collections
from collections.abc import Sequence
from typing import TypeAlias
from urllib.parse import urlsplit

from recordings.exchange import RecordedExchange
from recordings.order import kind_of
from recordings.pages.connections import Traffic, rebuild
from recordings.pages.request import HINTS, PageRequest, alpn, request_of

Key: TypeAlias = "tuple[object, ...]"

NAMED = "named"
"""Rule of exchanges whose connection the recording names;
the others are those of recordings.pages.connections."""


def connections_of(kept: Sequence[RecordedExchange]) -> tuple[list[list[int]], collections.Counter[str]]:
    """Places in `kept` of the exchanges of each connection, in the order of first use,
    and exchanges by rule."""
    groups: dict[Key, list[int]] = collections.defaultdict(list)
    rules: collections.Counter[str] = collections.Counter()
    unnamed = [place for place, one in enumerate(kept) if not one.connection]
    for place, one in enumerate(kept):
        if one.connection:
            groups[NAMED, one.connection, protocol_of(one)].append(place)
            rules[NAMED] += 1
    traffic = rebuild(page_requests(kept, unnamed)) if unnamed else Traffic([], {}, {})
    for number, connection in enumerate(traffic.connections):
        groups["rebuilt", number] = sorted(one.entry for one in connection.requests)
    rules.update(traffic.rules.values())
    return sorted(groups.values()), rules


def protocol_of(one: RecordedExchange) -> str:
    """The protocol's ALPN name; SPDY, from which HTTP/2 was made, counts as HTTP/2."""
    return "h2" if one.protocol == "spdy" else alpn(one.protocol)


def page_requests(kept: Sequence[RecordedExchange], places: Sequence[int]) -> list[PageRequest]:
    """The exchanges at these places in the form from which connections are rebuilt."""
    base_us = round(1e6 * min(one.started_s for one in kept))
    origins: dict[object, int] = {}
    addresses: dict[str, int] = {}
    found = []
    for place in places:
        one = kept[place]
        url = urlsplit(one.url)
        origin = origins.setdefault((url.scheme, one.host, port_of(one)), len(origins))
        known = {
            "entry": place,
            "is_main_document": False,
            "started_ms": max(0.0, 1e3 * one.started_s - base_us / 1e3),
            "origin": origin,
            "site": origin,
            "address": addresses.setdefault(one.address, len(addresses)) if one.address else None,
            "scheme": url.scheme,
            "protocol": protocol_of(one),
            "method": one.method,
            "destination": kind_of(one),
            "status": one.status,
            **phases(one),
        }
        found.append(request_of({**dict.fromkeys(HINTS), **known}))
    return found


def phases(one: RecordedExchange) -> dict[str, float | None]:
    """Phases of an exchange in ms, as a recorded page has them; None for one that did not take place."""
    times = one.times
    opened = None if times.connected is None or times.sent is None else times.opened
    return {
        "dns_ms": between(round(1e6 * one.started_s), opened),
        "connect_ms": between(opened, times.sent),
        "ssl_ms": None if opened is None else between(times.connected, times.sent),
        "wait_ms": between(times.sent, times.first_byte),
        "receive_ms": between(times.first_byte, times.last_byte),
    }


def between(start_us: int | None, end_us: int | None) -> float | None:
    """Milliseconds from one moment to another, at least 0; None if either is unknown."""
    return None if start_us is None or end_us is None else max(0.0, (end_us - start_us) / 1e3)


def port_of(one: RecordedExchange) -> int:
    """Port of the URL, or that of its scheme."""
    url = urlsplit(one.url)
    return url.port or (443 if url.scheme == "https" else 80)

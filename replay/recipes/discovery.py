"""When the browser finds the objects of a page: at a place of their parent's bytes,
and after a delay of its own.

A browser reads HTML while it arrives, and asks for what it names at once (the preload scanner). It uses the
Location of a redirect when the header is there. Of scripts, style sheets and everything else it can use
nothing before the last byte.
"""

import bisect
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.recipes.release_rows import Row

HTML_TYPES = frozenset({"document", "iframe", "frame", "object", "embed"})
HTML_MEDIA = frozenset({"text/html", "application/xhtml+xml"})

ENDS_ALONE = frozenset({"image", "font", "audio", "video", "media", "track"})
"""Types that lead to no request."""


TOLD_APART_US = 50_000
"""Shortest arrival of a response that tells what the browser found in its body from what it found afterwards.

Our choice.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Discovery:
    """The moment at which an object is asked for."""

    place: int | None = None
    """Number of the parent's bytes, inside TLS, that must have arrived; None: all of them."""
    waits_for: int | None = None
    """The response whose last byte must have arrived too."""
    browser_delay_us: int = 0
    """The browser's own time until it asks."""


def discoveries(
    responses: Sequence[Row], connections: Mapping[int, Row], parents: Mapping[int, int | None], document: int
) -> dict[int, Discovery]:
    """Return the discovery of each response in `parents`, which has the one that led to it.

    A response that began while its parent arrived has the place of that moment; one that began later, all
    bytes, if the parent arrived slowly enough to tell. Otherwise its place follows from the parent's type: of
    HTML the siblings are spread over the body in their order, of a redirect it is the header, else all bytes.
    The browser's delay is the time from the parent's arrival to the request, less what the network explains:
    it begins anew whenever a script, style sheet, document or fetch has arrived, which may as well have been
    what the browser waited for.
    """
    rows = {row["id"]: row for row in responses}
    began = began_us(rows, connections)
    arrivals = sorted(
        (row["last_byte_us"], row["id"])
        for row in responses
        if row["last_byte_us"] is not None and not ends_alone(row)
    )
    by_parent: dict[int, list[int]] = {}
    for response, parent in sorted(parents.items()):
        if parent is not None:
            by_parent.setdefault(parent, []).append(response)
    discovered = dict.fromkeys(parents, Discovery())
    for parent, children in by_parent.items():
        is_read_early = parent == document or is_html(rows[parent])
        for number, child in enumerate(children, start=1):
            is_redirected = rows[child].get("redirected_from_id") == parent
            in_order = 0.0 if is_redirected else number / (len(children) + 1) if is_read_early else 1.0
            discovered[child] = discover(rows[parent], in_order, began[child], arrivals)
    return without_deadlocks(discovered, parents, began)


def without_deadlocks(
    discovered: Mapping[int, Discovery], parents: Mapping[int, int | None], began: Mapping[int, int | None]
) -> dict[int, Discovery]:
    """Return the discoveries, with waits only for replayed responses that were requested earlier.

    A response counts as asked for no earlier than its parents, so that none waits for one that waits for it.
    """
    requested: dict[int | None, float] = {None: -math.inf}
    for response in parents:
        chain: list[int] = []
        ahead: int | None = response
        while ahead not in requested:
            assert ahead is not None
            chain.append(ahead)
            ahead = parents[ahead]
        time = requested[ahead]
        for number in reversed(chain):
            own = began[number]
            time = requested[number] = time if own is None else max(time, own)

    def is_possible(response: int, waits_for: int | None) -> bool:
        return waits_for in parents and requested[waits_for] < requested[response]

    return {
        response: discovery
        if is_possible(response, discovery.waits_for)
        else dataclasses.replace(discovery, waits_for=None)
        for response, discovery in discovered.items()
    }


def discover(
    parent: Row, in_order: float, began: int | None, arrivals: Sequence[tuple[int, int]]
) -> Discovery:
    """Return the discovery of a response that the browser began to ask for at `began` (µs).

    `in_order` is the share of the parent's body before it if the times do not tell; `arrivals` are the sorted
    times of what a browser may wait for.
    """
    first, last = parent["first_byte_us"], parent["last_byte_us"]
    if began is None or first is None or last is None:
        return Discovery(place=place_of(parent, in_order))
    if began < first:  # something earlier led to it, which was not recorded
        return Discovery(place=1)
    share = in_order if last - first < TOLD_APART_US else 1.0
    if began < last:
        share = (began - first) / (last - first)
    arrived = first + share * (last - first)
    before = bisect.bisect_right(arrivals, (began, math.inf))
    explained, trigger = arrivals[before - 1] if before else (arrived, None)
    return Discovery(
        place=place_of(parent, share),
        waits_for=trigger if explained > arrived else None,
        browser_delay_us=max(0, round(began - max(arrived, explained))),
    )


def place_of(parent: Row, share: float) -> int | None:
    """Return the bytes of a response up to a share of its body; None for all."""
    if share >= 1:
        return None
    size, header = int(parent["wire_bytes"]), int(parent.get("header_bytes") or 0)
    return max(1, round(header + share * (size - header)))


def began_us(rows: Mapping[int, Row], connections: Mapping[int, Row]) -> dict[int, int | None]:
    """Return when the browser began each request, in µs; None if unknown.

    A recording tells (`began_us`), and a crawl its delay. Otherwise it is the time of sending, or of opening
    the connection that was opened for the request.
    """
    openers: dict[int, int] = {}
    for number in sorted(rows):
        openers.setdefault(rows[number]["connection_id"], number)

    def began(row: Row) -> int | None:
        if row.get("began_us") is not None:
            return int(row["began_us"])
        if (crawled := crawled_began_us(row, rows)) is not None:
            return crawled
        connection = connections.get(row["connection_id"])
        is_opener = connection is not None and openers[row["connection_id"]] == row["id"]
        times = [row["request_sent_us"], connection["opened_us"] if connection and is_opener else None]
        return min((int(time) for time in times if time is not None), default=None)

    return {number: began(row) for number, row in rows.items()}


def crawled_began_us(row: Row, rows: Mapping[int, Row]) -> int | None:
    """Return when the browser began a request, in µs, by its delay after the response that led to it."""
    leading = rows.get(row.get("redirected_from_id") or row.get("initiator_id") or 0)
    delay = row.get("browser_delay_first_byte_us")
    if leading is None or delay is None or leading["first_byte_us"] is None:
        return None
    return int(leading["first_byte_us"] + delay)


def is_html(row: Row) -> bool:
    return row.get("resource_type") in HTML_TYPES or row.get("mime_type") in HTML_MEDIA


def ends_alone(row: Row) -> bool:
    return row.get("resource_type") in ENDS_ALONE

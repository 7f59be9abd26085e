"""The waterfall of a page load, from the answer of `/v1/pages/{visit}`."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from api import waterfalls
from api.routes.visits import PageAnswer
from api.waterfalls import LABELS_ABOVE, Spans, TimeAxis, draw_waterfall

MOST_ROWS = 500
"""Responses that a page shows; the others are in the JSON."""

LABEL_LENGTH = 44
"""Characters of an address above its bars, which a phone has room for."""

PHASES = {
    "connection": "connection: opening, TCP and TLS, beside the first response on it",
    "waiting": "waiting: from the request to the first byte of the response",
    "flight": "first flight: within a round trip of the connection's first response byte, "
    "as asked for before it",
    "rest": "rest: everything later, and all of what has no known first flight",
}
"""Parts of a response's time, by their classes in the style sheet."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A response with its phases."""

    response: Any
    address: str
    spans: Spans
    is_first: bool
    """True for the response whose request was the first on its connection."""

    def duration_us(self, phase: str) -> int | None:
        """Time that a phase took, in µs; None if it is unknown or did not take place."""
        return self.spans[phase][1] - self.spans[phase][0] if phase in self.spans else None


def list_rows(load: PageAnswer) -> Iterator[Row]:
    """Yield the responses of a page load that its page shows, in the order of the requests."""
    opening = openings(load)
    ends = flight_ends(load)
    for response in load.responses[:MOST_ROWS]:
        yield Row(
            response=response,
            address=address_of(response),
            spans=spans_of(response, opening.get(response.id), ends.get(response.connection_id)),
            is_first=response.id in opening,
        )


def events_of(load: PageAnswer) -> dict[str, int]:
    """Moments of a page load, in µs; without unknown ones."""
    events = {"load": load.visit.load_us, "largest paint": load.visit.largest_contentful_paint_us}
    return {name: at for name, at in events.items() if at is not None and at >= 0}


def draw_load(load: PageAnswer, rows: list[Row]) -> Markup:
    """Draw the waterfall of a page load."""
    events = events_of(load)
    last_us = max([1000, *events.values(), *(end for row in rows for _, end in row.spans.values())])
    return draw_waterfall(
        [
            waterfalls.Row(
                title=f"{row.response.id}: {row.address}",
                label=f"{row.response.id} {shortened(row.address)}",
                spans=row.spans,
            )
            for row in rows
        ],
        TimeAxis.holding(last_us / 1000),
        events=events,
        layout=LABELS_ABOVE,
        label=f"Waterfall of {len(rows)} responses; the table below has the same numbers",
    )


def openings(load: PageAnswer) -> dict[int, Any]:
    """Connections by the response that was the first to be asked for on them."""
    firsts: dict[int, int] = {}
    for response in load.responses:
        firsts.setdefault(response.connection_id, response.id)
    return {firsts[connection.id]: connection for connection in load.connections if connection.id in firsts}


def flight_ends(load: PageAnswer) -> dict[int, int]:
    """When the first flight of each connection ends at the client, in µs;
    connections of which it is unknown are left out.

    What the server sent on the first acknowledgement arrives no earlier than a round trip after the first
    response byte, which the acknowledgement answers.
    """
    ends = {}
    for connection in load.connections:
        begun = [
            response.first_byte_us
            for response in load.responses
            if response.connection_id == connection.id and response.first_byte_us is not None
        ]
        round_trip = round_trip_us(connection)
        if connection.first_flight is not None and begun and round_trip is not None:
            ends[connection.id] = min(begun) + round_trip
    return ends


def round_trip_us(connection: Any) -> int | None:  # noqa: ANN401  # a made model
    """Round trip of a connection, by packets or else by its handshake.

    None where a recording tells neither.
    """
    if connection.round_trip_us is not None:
        return int(connection.round_trip_us)
    if connection.opened_us is None or connection.connected_us is None:
        return None
    return int(connection.connected_us - connection.opened_us)


def spans_of(response: Any, opening: Any, flight_end_us: int | None) -> Spans:  # noqa: ANN401  # made models
    """Start and end of each phase of a response, in µs since the visit began; unknown ones are left out.

    `opening` is the connection, for the first response on it.
    """
    spans: dict[str, tuple[int, int]] = {}
    if opening is not None:
        secured = opening.connected_us if opening.secured_us is None else opening.secured_us
        if opening.opened_us is not None and secured is not None:
            spans["connection"] = (opening.opened_us, secured)
    sent, first, last = response.request_sent_us, response.first_byte_us, response.last_byte_us
    if sent is not None and first is not None:
        spans["waiting"] = (sent, first)
    if first is not None and last is not None:
        split = (
            min(flight_end_us, last) if response.is_in_first_flight and flight_end_us is not None else first
        )
        if split > first or (split == last and response.is_in_first_flight):
            spans["flight"] = (first, split)
        if last > split or "flight" not in spans:
            spans["rest"] = (split, last)
    # Files of others may have times in another order, or before the visit.
    return {phase: span for phase, span in spans.items() if 0 <= span[0] <= span[1]}


def address_of(response: Any) -> str:  # noqa: ANN401  # a made model
    """The address of a response, without the query; without the path where a recording has none."""
    return f"{response.scheme}://{response.host}{response.path or ''}"


def shortened(text: str) -> str:
    """A text with its middle left out where it is too long; an address loses its scheme first.

    >>> shortened("https://example.com/")
    'example.com/'
    >>> len(shortened("https://example.com/" + "a" * 100))
    44
    """
    text = text.partition("://")[2] or text
    if len(text) <= LABEL_LENGTH:
        return text
    half = (LABEL_LENGTH - 1) // 2
    return f"{text[: LABEL_LENGTH - 1 - half]}…{text[-half:]}"

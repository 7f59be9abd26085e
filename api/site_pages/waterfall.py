"""The waterfall of a page load, from the answer of `/v1/pages/{visit}`."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api import drawing
from api.routes.visits import PageAnswer
from releases.formatting import visible_text

MOST_ROWS = 200
"""Responses that a page shows; the others are in the JSON."""

LABEL_LENGTH = 44
"""Characters of an address above its bars, which a phone has room for."""

Spans = Mapping[str, tuple[int, int]]
"""Start and end of each phase, in µs."""

PHASES = {
    "connection": "connecting: opening, TCP and TLS, beside the first response on it",
    "waiting": "waiting: from the request to the first byte of the response",
    "flight": "first flight: within a round trip of the connection's first response byte, "
    "as asked for before it",
    "rest": "later: everything else, and all of what has no known first flight",
}
"""Parts of a response's time."""


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


def spans_by_label(rows: Sequence[Row]) -> list[tuple[str, dict[str, tuple[int, int]]]]:
    """The phases of responses in µs, by what stands above them; in the order of the requests."""
    return [(visible_text(f"{row.response.id} {shortened(row.address)}"), dict(row.spans)) for row in rows]


def draw_load(
    width: int, rows: Sequence[tuple[str, dict[str, tuple[int, int]]]], events: Mapping[str, int]
) -> str:
    """Draw the waterfall of a page load; in the process apart."""
    from figures import waterfall
    from figures.frame import Frame

    names = {
        "connection": waterfall.CONNECTING,
        "waiting": waterfall.WAITING,
        "flight": waterfall.FIRST_FLIGHT,
        "rest": waterfall.LATER,
    }
    responses = [
        waterfall.WaterfallRow(
            title=label,
            label=label,
            spans={names[phase]: (start / 1000, end / 1000) for phase, (start, end) in spans.items()},
        )
        for label, spans in rows
    ]
    uprights = {name: at / 1000 for name, at in events.items()}
    load = waterfall.WaterfallLoad(name="", responses=responses, events=uprights)
    return drawing.as_svg(waterfall.waterfalls(Frame(title="", width=width), [load]))


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

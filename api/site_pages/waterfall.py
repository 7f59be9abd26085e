"""Coordinates of a page load's waterfall in SVG, computed here so that the template needs no arithmetic.

Places across are percentages of the width, so that the drawing takes any width
while its letters keep their size.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from api.charts import Mark, round_axis, steps_between
from api.routes.visits import PageAnswer

MOST_ROWS = 500
"""Responses that a page shows; the others are in the JSON."""

LABEL_LENGTH = 44
"""Characters of an address above its bars, which a phone has room for."""

THINNEST = 0.2
"""Least width of a bar, in percent."""

AXIS_HEIGHT, ROW_HEIGHT = 22, 32

PHASES = {
    "connection": "connection: opening, TCP and TLS, beside the first response on it",
    "waiting": "waiting: from the request to the first byte of the response",
    "flight": "first flight: within a round trip of the connection's first response byte, "
    "as asked for before it",
    "rest": "rest: everything later, and all of what has no known first flight",
}
"""Parts of a response's time, by their classes in the style sheet."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A part of a response's time."""

    phase: str
    duration_us: int
    left: float
    width: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A response in the waterfall."""

    response: Any
    address: str
    label: str
    """The address, shortened."""
    top: int
    bars: tuple[Bar, ...]
    is_first: bool
    """True for the response whose request was the first on its connection."""

    def duration_us(self, phase: str) -> int | None:
        """Time that a phase took, in µs; None if it is unknown or did not take place."""
        return next((bar.duration_us for bar in self.bars if bar.phase == phase), None)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Waterfall:
    """A page load, one row a response, in the order of the requests."""

    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]
    """Times along the axis; places in percent, as those of `events`."""
    events: tuple[Mark, ...]
    height: int
    left_out: int


Spans = Mapping[str, tuple[int, int]]


def waterfall(load: PageAnswer) -> Waterfall:
    """The waterfall of a page load."""
    shown = load.responses[:MOST_ROWS]
    opening = openings(load)
    ends = flight_ends(load)
    spans = [spans_of(one, opening.get(one.id), ends.get(one.connection_id)) for one in shown]
    events = {"load": load.visit.load_us, "largest paint": load.visit.largest_contentful_paint_us}
    known = {name: at for name, at in events.items() if at is not None and at >= 0}
    last_us = max([1000, *known.values(), *(end for span in spans for _, end in span.values())])
    step, _, end_ms = round_axis(0, last_us / 1000)

    def across(time_us: float) -> float:
        return round(time_us / (end_ms * 10), 3)

    return Waterfall(
        rows=tuple(
            Row(
                response=one,
                address=address(one),
                label=shortened(address(one)),
                top=AXIS_HEIGHT + place * ROW_HEIGHT,
                bars=bars(spans[place], across),
                is_first=one.id in opening,
            )
            for place, one in enumerate(shown)
        ),
        marks=tuple(
            Mark(across(at_ms * 1000), f"{at_ms / 1000:g} s") for at_ms in steps_between(step, 0, end_ms)
        ),
        events=tuple(Mark(across(at), name) for name, at in known.items()),
        height=AXIS_HEIGHT + ROW_HEIGHT * len(shown),
        left_out=len(load.responses) - len(shown),
    )


def openings(load: PageAnswer) -> dict[int, Any]:
    """Connections by the response that was the first to be asked for on them."""
    firsts: dict[int, int] = {}
    for response in load.responses:
        firsts.setdefault(response.connection_id, response.id)
    return {firsts[connection.id]: connection for connection in load.connections if connection.id in firsts}


def bars(spans: Spans, across: Callable[[float], float]) -> tuple[Bar, ...]:
    """The bars of a response's phases; `across` gives the place of a time in µs."""
    return tuple(
        Bar(
            phase=phase,
            duration_us=end - start,
            left=across(start),
            width=max(THINNEST, round(across(end) - across(start), 3)),
        )
        for phase, (start, end) in spans.items()
    )


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
    found: dict[str, tuple[int, int]] = {}
    if opening is not None:
        secured = opening.connected_us if opening.secured_us is None else opening.secured_us
        if opening.opened_us is not None and secured is not None:
            found["connection"] = (opening.opened_us, secured)
    sent, first, last = response.request_sent_us, response.first_byte_us, response.last_byte_us
    if sent is not None and first is not None:
        found["waiting"] = (sent, first)
    if first is not None and last is not None:
        split = (
            min(flight_end_us, last) if response.is_in_first_flight and flight_end_us is not None else first
        )
        if split > first or (split == last and response.is_in_first_flight):
            found["flight"] = (first, split)
        if last > split or "flight" not in found:
            found["rest"] = (split, last)
    # Files of others may have times in another order, or before the visit.
    return {phase: span for phase, span in found.items() if 0 <= span[0] <= span[1]}


def address(response: Any) -> str:  # noqa: ANN401  # a made model
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

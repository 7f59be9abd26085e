"""Coordinates of a replayed page's waterfalls, one for each initial window, on one axis for each network."""

import dataclasses
import statistics

from api.axes import Mark, scale
from api.lab.networks import OfferedNetwork
from api.lab.page_replay import Loads, PageReplay, PageResponse, ResponseTimes
from api.site_pages.waterfall import Bar, Spans, bars

MOST_ROWS = 150
"""Responses that are drawn and listed; the times of the page are of all."""

GUTTER = 12
"""Place of the axis' zero, in percent of the width: left of it are the numbers of the responses."""

AXIS_HEIGHT, ROW_HEIGHT = 22, 10

NUMBERED_EVERY = 5
"""Rows from one number to the next: their letters are higher than a row."""

MOST_STEPS = 3
"""Most steps of an axis, whose labels have room in half the width of a phone."""

PHASES = {
    "connection": "before the request: no connection was free, or it was being opened",
    "waiting": "waiting: from the request to the first byte of the response",
    "flight": "the response, where it arrived in one burst",
    "rest": "the response, where it took several bursts, a round trip apart",
}
"""Parts of a response's time, by their classes in the style sheet."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A response in a waterfall."""

    response: PageResponse
    times: ResponseTimes
    top: int
    bars: tuple[Bar, ...]
    end: float
    """Place of the last byte, in percent."""
    number: int | None
    """Its number, where there is room for it."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """The loads at one initial window, and a drawing of the first."""

    loads: Loads
    rows: tuple[Row, ...]
    page: Mark | None
    """End of the page."""
    height: int

    @property
    def page_us(self) -> int | None:
        """Mean page time of the loads; None without any."""
        return round(1000 * statistics.fmean(self.loads.page_ms)) if self.loads.page_ms else None

    @property
    def range_us(self) -> tuple[int, int] | None:
        """Shortest and longest page time; None where they are equal."""
        times = sorted(self.loads.page_ms)
        return (round(1000 * times[0]), round(1000 * times[-1])) if times and times[0] < times[-1] else None

    @property
    def sent_again(self) -> float | None:
        """Share of the payload that was sent again; None without payload."""
        return self.loads.sent_again_bytes / self.loads.payload_bytes if self.loads.payload_bytes else None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The waterfalls over one network, on one axis."""

    network: OfferedNetwork
    panels: tuple[Panel, ...]
    marks: tuple[Mark, ...]
    """Times along the axis of each panel; places in percent."""

    @property
    def listed(self) -> list[tuple[PageResponse, list[ResponseTimes | None]]]:
        """The drawn responses with their times at each window; None where the first load was not done."""
        drawn = [{row.response: row.times for row in panel.rows} for panel in self.panels]
        responses = dict.fromkeys(response for panel in drawn for response in panel)
        return [(response, [panel.get(response) for panel in drawn]) for response in responses]


def drawing(replay: PageReplay, network: OfferedNetwork) -> Drawing:
    """The waterfalls over one network."""
    loads = [load for load in replay.loads if load.network == network.profile.id]
    last_ms = max([1.0, *(load.page_ms[0] for load in loads if load.page_ms), *map(latest_ms, loads)])
    step, end_ms = scale(last_ms, steps=MOST_STEPS)
    return Drawing(
        network=network,
        panels=tuple(panel(replay, load, end_ms) for load in loads),
        marks=tuple(
            Mark(across(step * place, end_ms), f"{round(step * place / 1000, 6):g} s")
            for place in range(round(end_ms / step) + 1)
        ),
    )


def latest_ms(loads: Loads) -> float:
    """Time of the last byte of the first load; 0 without one."""
    return max((response.last_byte_ms for response in loads.responses), default=0.0)


def across(time_ms: float, end_ms: float) -> float:
    """Place of a time on an axis that ends at `end_ms`, in percent of the width.

    >>> across(0, 500), across(500, 500)
    (12.0, 100.0)
    """
    return round(GUTTER + (100 - GUTTER) * time_ms / end_ms, 3)


def panel(replay: PageReplay, loads: Loads, end_ms: float) -> Panel:
    """The waterfall of the first load at one window."""
    pairs = list(zip(replay.responses, loads.responses, strict=True))[:MOST_ROWS] if loads.responses else []
    last_ms = latest_ms(loads)

    def place(time_us: float) -> float:
        return across(time_us / 1000, end_ms)

    return Panel(
        loads=loads,
        rows=tuple(
            Row(
                response=response,
                times=times,
                top=AXIS_HEIGHT + at * ROW_HEIGHT,
                bars=bars(spans(times), place),
                end=across(times.last_byte_ms, end_ms),
                number=response.number if response.number % NUMBERED_EVERY == 0 else None,
            )
            for at, (response, times) in enumerate(pairs)
        ),
        page=Mark(across(last_ms, end_ms), f"{last_ms / 1000:.3g} s") if last_ms else None,
        height=AXIS_HEIGHT + ROW_HEIGHT * len(pairs),
    )


def spans(times: ResponseTimes) -> Spans:
    """Start and end of each phase, in µs."""
    times_ms = times.wanted_ms, times.sent_ms, times.first_byte_ms, times.last_byte_ms
    wanted, sent, first, last = (round(1000 * time_ms) for time_ms in times_ms)
    before = {"connection": (wanted, sent)} if wanted < sent else {}
    return before | {"waiting": (sent, first), "flight" if times.flights == 1 else "rest": (first, last)}

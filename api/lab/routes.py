"""The lab's pages: a form that takes a HAR file, the place in the queue, and the result."""

import dataclasses
import statistics
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.status import HTTP_303_SEE_OTHER

from api.charts import Mark, round_axis, steps_between
from api.http.problems import Problem
from api.lab.networks import MOST_CHOSEN, OfferedNetwork, choose, measured, offered_networks, usual_network
from api.lab.page_replay import SEEDS, WINDOWS, Loads, PageReplay, PageResponse, ResponseTimes
from api.lab.queue import KEPT_S, LIMIT_S, MOST_WAITING, Queue, outcome
from api.lab.upload import MOST_BYTES, read_upload, refuse_other_sites
from api.routes.pages import page, with_form
from api.routes.remembered import Remembered
from api.site_pages.waterfall import Bar, Spans, bars

AGAIN_S = 2
"""Seconds after which the page of a replay that has not ended asks again."""

HEADERS = {
    # Pages of one reader: nobody else keeps or finds them.
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Resource-Policy": "same-origin",
}

form = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)
replays = APIRouter(include_in_schema=False)

ROUTERS = (form, replays)


async def queue(request: Request) -> Queue:
    """The queue; Problem where the lab is off."""
    found: Queue | None = request.app.state.lab
    if found is None:
        raise Problem(
            "lab-off",
            "the lab is off: the operator turns it on by FIRSTFLIGHT_LAB=1 in the "
            "environment of `firstflight serve`",
        )
    return found


QueueDep = Annotated[Queue, Depends(queue)]


@form.get("/lab", name="lab")
def lab(request: Request, _queue: QueueDep) -> Response:
    """The form."""
    answer = with_form(
        page(
            request,
            "lab/form.html",
            networks=offered_networks(),
            usual=usual_network(),
            measured=measured(),
            most_chosen=MOST_CHOSEN,
            most_bytes=MOST_BYTES,
            windows=WINDOWS,
            seeds=SEEDS,
            limit_s=LIMIT_S,
            waiting=MOST_WAITING,
            kept_s=KEPT_S,
        )
    )
    # With no-referrer a browser would not state the origin of the form,
    # by which forms of other sites are told.
    answer.headers["Referrer-Policy"] = "same-origin"
    return answer


@replays.post("/lab", name="lab_form")
async def lab_form(request: Request, queue: QueueDep) -> Response:
    """Take the form into the queue, and lead to the page of its replay."""
    refuse_other_sites(request)
    with queue.upload() as count:
        upload = await read_upload(request, count)
        job = queue.add(upload.content, upload.networks)
    where = request.app.url_path_for("lab_replay", id=job.id)
    return RedirectResponse(where, HTTP_303_SEE_OTHER, headers=HEADERS)


@replays.get("/lab/{id}", name="lab_replay")
async def lab_replay(request: Request, queue: QueueDep, id: str) -> Response:  # noqa: A002  # the path's name
    """The result, or the place in the queue until then."""
    job = queue.find(id)
    found = outcome(job)
    if found is None:
        answer = page(request, "lab/waiting.html", job=job, ahead=queue.ahead(job), again_s=AGAIN_S)
        answer.headers["Refresh"] = str(AGAIN_S)
    else:
        answer = page(
            request,
            "lab/result.html",
            replay=found,
            drawings=[drawing(found, network) for network in choose(job.networks)],
            phases=PHASES,
            most_rows=MOST_ROWS,
            windows=WINDOWS,
            seeds=SEEDS,
            kept_s=KEPT_S,
        )
    answer.headers.update(HEADERS)
    return answer


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
    step, _, end_ms = round_axis(0, last_ms, steps=MOST_STEPS)
    return Drawing(
        network=network,
        panels=tuple(panel(replay, load, end_ms) for load in loads),
        marks=tuple(
            Mark(across(at_ms, end_ms), f"{at_ms / 1000:g} s") for at_ms in steps_between(step, 0, end_ms)
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

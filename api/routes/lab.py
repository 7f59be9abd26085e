"""The lab's pages: a form that takes a HAR file, the place in the queue, and the result."""

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from starlette.status import HTTP_303_SEE_OTHER

from api.http.clients import client_of
from api.http.problems import Problem
from api.lab.networks import MOST_CHOSEN, OfferedNetwork, choose, measured, offered_networks, usual_network
from api.lab.page_replay import SEEDS, WINDOWS, Loads, PageReplay, PageResponse, ResponseTimes
from api.lab.queue import KEPT_S, LIMIT_S, MOST_WAITING, Queue, outcome
from api.lab.upload import MOST_BYTES, read_upload, refuse_other_sites
from api.routes.pages import page, with_form
from api.service import Kept, service_of
from api.waterfalls import NUMBERS_BESIDE, Row, Spans, TimeAxis, draw_waterfall

AGAIN_S = 2
"""Seconds after which the page of a replay that has not ended asks again."""

HEADERS = {
    # Pages of one reader: nobody else keeps or finds them.
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Resource-Policy": "same-origin",
}

form = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)
replays = APIRouter(include_in_schema=False)

ROUTERS = (form, replays)


async def queue(request: Request) -> Queue:
    """The queue; Problem where the lab is off."""
    queue = service_of(request).lab
    if queue is None:
        raise Problem(
            "lab-off",
            "the lab is off: the operator turns it on by FIRSTFLIGHT_LAB=1 in the "
            "environment of `firstflight serve`",
        )
    return queue


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
    client = client_of(request.scope)
    with queue.upload(client) as count:
        upload = await read_upload(request, count)
        job = queue.add(upload.content, upload.networks, client)
    where = request.app.url_path_for("lab_replay", id=job.id)
    return RedirectResponse(where, HTTP_303_SEE_OTHER, headers=HEADERS)


@replays.get("/lab/{id}", name="lab_replay")
async def lab_replay(request: Request, queue: QueueDep, id: str) -> Response:  # noqa: A002  # the path's name
    """The result, or the place in the queue until then."""
    job = queue.find(id)
    replay = outcome(job)
    if replay is None:
        answer = page(request, "lab/waiting.html", job=job, ahead=queue.ahead(job), again_s=AGAIN_S)
        answer.headers["Refresh"] = str(AGAIN_S)
    else:
        answer = page(
            request,
            "lab/result.html",
            replay=replay,
            drawings=[draw_network(replay, network) for network in choose(job.networks)],
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
class Drawing:
    """The waterfalls over one network, on one axis."""

    network: OfferedNetwork
    panels: tuple[tuple[Loads, Markup | None], ...]
    """The loads at each initial window, and a drawing of the first; None if that was not done."""
    listed: tuple[tuple[PageResponse, tuple[ResponseTimes | None, ...]], ...]
    """The drawn responses with their times at each window; None where the first load was not done."""


def draw_network(replay: PageReplay, network: OfferedNetwork) -> Drawing:
    """Draw the waterfalls over one network."""
    loads = [load for load in replay.loads if load.network == network.profile.id]
    last_ms = max([1.0, *(load.page_ms[0] for load in loads if load.page_ms), *map(latest_ms, loads)])
    axis = TimeAxis.holding(last_ms, steps=MOST_STEPS)
    times = [load.responses or (None,) * len(replay.responses) for load in loads]
    is_listed = any(load.responses for load in loads)
    return Drawing(
        network=network,
        panels=tuple((load, draw_load(replay, load, axis)) for load in loads),
        listed=tuple(zip(replay.responses, zip(*times, strict=True), strict=True))[: MOST_ROWS * is_listed],
    )


def latest_ms(loads: Loads) -> float:
    """Time of the last byte of the first load; 0 without one."""
    return max((response.last_byte_ms for response in loads.responses), default=0.0)


def draw_load(replay: PageReplay, loads: Loads, axis: TimeAxis) -> Markup | None:
    """Draw the first load at one window; None if it was not done."""
    if not loads.responses:
        return None
    last_ms = latest_ms(loads)
    return draw_waterfall(
        [
            Row(
                title=f"{response.number}: {response.address}",
                label=str(response.number) if response.number % NUMBERED_EVERY == 0 else "",
                spans=spans_of(times),
                is_sent_again=times.retransmitted,
            )
            for response, times in zip(replay.responses, loads.responses, strict=True)
        ][:MOST_ROWS],
        axis,
        events={f"{last_ms / 1000:.3g} s": round(1000 * last_ms)},
        layout=NUMBERS_BESIDE,
        label=f"Waterfall at IW {loads.iw}; the table below has the times",
    )


def spans_of(times: ResponseTimes) -> Spans:
    """Start and end of each phase, in µs."""
    times_ms = times.wanted_ms, times.sent_ms, times.first_byte_ms, times.last_byte_ms
    wanted, sent, first, last = (round(1000 * time_ms) for time_ms in times_ms)
    before = {"connection": (wanted, sent)} if wanted < sent else {}
    return before | {"waiting": (sent, first), "flight" if times.flights == 1 else "rest": (first, last)}

"""The lab's pages: a form that takes a HAR file, the place in the queue, and the result."""

import dataclasses
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.status import HTTP_303_SEE_OTHER

from api import drawing
from api.computing import in_turn
from api.drawing import WIDE, Form, WidthQuery, picture_response
from api.http.clients import client_of
from api.http.problems import Problem
from api.lab.networks import MOST_CHOSEN, OfferedNetwork, choose, measured, offered_networks, usual_network
from api.lab.page_replay import (
    SEEDS,
    WINDOWS,
    Loads,
    PageReplay,
    PageResponse,
    ReleasedLoad,
    ResponseTimes,
)
from api.lab.queue import KEPT_S, LIMIT_S, MOST_WAITING, Queue, outcome
from api.lab.upload import MOST_BYTES, read_upload, refuse_other_sites
from api.routes.pages import milliseconds, page, with_form
from api.routes.parameters import CrawlPath, ShelfDep, VersionPath
from api.routes.visits import VisitPath, page_load
from api.service import Kept, service_of
from releases.formatting import quantity, visible_text

AGAIN_S = 2

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


@replays.post("/lab/releases/{crawl}/v{version}/pages/{visit}", name="lab_released")
async def lab_released(
    request: Request,
    queue: QueueDep,
    shelf: ShelfDep,
    crawl: CrawlPath,
    version: VersionPath,
    visit: VisitPath,
) -> Response:
    """Take a page load of a release into the queue, over the usual network, and lead to the page of its
    replay."""
    refuse_other_sites(request)
    release = shelf.version(crawl, version)
    await in_turn(page_load)(request, release, visit)  # or a Problem
    load = ReleasedLoad(folder=release.path, visit=visit)
    job = queue.add(load, [usual_network()], client_of(request.scope))
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
            id=id,
            drawings=[over_network(replay, network) for network in choose(job.networks)],
            most_rows=MOST_ROWS,
            windows=WINDOWS,
            seeds=SEEDS,
            kept_s=KEPT_S,
        )
    answer.headers.update(HEADERS)
    return answer


@replays.get("/lab/{id}/{network}.{form}", name="lab_picture", response_class=Response)
def lab_picture(
    queue: QueueDep,
    id: str,  # noqa: A002  # the path's name
    network: str,
    form: Form,
    width: WidthQuery = WIDE,
    titled: bool = False,
) -> Response:
    """The waterfalls of the loads over one network; with a title and a source for who takes the picture."""
    job = queue.find(id)
    replay = outcome(job)
    drawn = [
        over_network(replay, each) for each in choose(job.networks) if replay and each.profile.id == network
    ]
    if not drawn or not drawn[0].listed:
        raise Problem("no-such-replay", f"no load of this replay over {network[:80]!r} is done")
    assert replay is not None
    words = describe(replay, drawn[0]) if titled else ("", "", "")
    answer = picture_response(form, draw_loads, width, replay.responses, drawn[0].loads, words)
    answer.headers.update(HEADERS)
    return answer


MOST_ROWS = 60


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OverNetwork:
    """The loads of a page over one network."""

    network: OfferedNetwork
    loads: tuple[Loads, ...]
    listed: tuple[tuple[PageResponse, tuple[ResponseTimes | None, ...]], ...]
    """Drawn responses with times at each window."""


def over_network(replay: PageReplay, network: OfferedNetwork) -> OverNetwork:
    loads = tuple(load for load in replay.loads if load.network == network.profile.id)
    times = [load.responses or (None,) * len(replay.responses) for load in loads]
    is_listed = any(load.responses for load in loads)
    return OverNetwork(
        network=network,
        loads=loads,
        listed=tuple(zip(replay.responses, zip(*times, strict=True), strict=True))[: MOST_ROWS * is_listed],
    )


def describe(replay: PageReplay, drawn: OverNetwork) -> tuple[str, str, str]:
    times = [f"{milliseconds(load.page_us)} at IW {load.iw}" for load in drawn.loads if load.page_us]
    return (
        f"{visible_text(replay.host)}: {', '.join(times)}",
        f"{drawn.network.label}. Page time, mean of {SEEDS} loads; the first load is drawn.",
        "firstflight, a replay over the Linux TCP stack; one page is no evidence for a window",
    )


def draw_loads(
    width: int,
    responses: Sequence[PageResponse],
    loads: Sequence[Loads],
    words: tuple[str, str, str] = ("", "", ""),
) -> str:
    from figures.frame import Frame
    from figures.waterfall import WaterfallLoad, WaterfallRow, waterfalls

    title, subtitle, source = words
    drawn = [
        WaterfallLoad(
            name=f"IW {load.iw}: {quantity(latest_ms(load), 'ms')}",
            responses=[
                WaterfallRow(
                    title=str(response.number), spans=spans_of(times), is_sent_again=times.retransmitted
                )
                for response, times in zip(responses, load.responses, strict=True)
            ][:MOST_ROWS],
            events={"last byte": latest_ms(load)},
        )
        for load in loads
        if load.responses
    ]
    return drawing.as_svg(
        waterfalls(Frame(title=title, subtitle=subtitle, source=source, width=width), drawn)
    )


def latest_ms(loads: Loads) -> float:
    return max((response.last_byte_ms for response in loads.responses), default=0.0)


def spans_of(times: ResponseTimes) -> dict[str, tuple[float, float]]:
    from figures.waterfall import CONNECTING, ONE_BURST, SEVERAL_BURSTS, WAITING

    before = {CONNECTING: (times.wanted_ms, times.sent_ms)} if times.wanted_ms < times.sent_ms else {}
    received = ONE_BURST if times.flights == 1 else SEVERAL_BURSTS
    return before | {
        WAITING: (times.sent_ms, times.first_byte_ms),
        received: (times.first_byte_ms, times.last_byte_ms),
    }

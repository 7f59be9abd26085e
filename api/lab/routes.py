"""The lab's pages: a form that takes a HAR file, the place in the queue, and the result."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.status import HTTP_303_SEE_OTHER

from api.http.problems import Problem
from api.lab.drawing import MOST_ROWS, PHASES, drawing
from api.lab.networks import MOST_CHOSEN, choose, measured, offered_networks, usual_network
from api.lab.page_replay import SEEDS, WINDOWS
from api.lab.queue import KEPT_S, LIMIT_S, MOST_WAITING, Queue, outcome
from api.lab.upload import MOST_BYTES, read_upload, refuse_other_sites
from api.routes.pages import page, with_form
from api.routes.remembered import Remembered

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

"""Drawing in a process apart, with a limit of time, and Vega for readers' browsers.

Vega, which vl-convert runs, holds Python's lock while it draws: in the service's own process no other request
would be answered meanwhile, and nothing could end it. The process begins with the first drawing.
"""

from __future__ import annotations

import atexit
import functools
import importlib.metadata
import importlib.resources
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.pool import Pool
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from fastapi import Query
from fastapi.responses import Response

from api.computing import current, too_costly
from storage.staging import write_whole

if TYPE_CHECKING:
    import altair as alt

T = TypeVar("T")

LIMIT_S = 15.0
"""Seconds after which a drawing is stopped: a hundred times what one takes on a free core."""

BUNDLING_S = 120.0
"""The same of Vega's module, which no stranger's choice makes larger."""

DRAWINGS = 500
"""Drawings after which another process takes over, for its memory."""

_ONE_AT_A_TIME = threading.Lock()

VEGA = importlib.metadata.version("vl-convert-python")
"""vl-convert brings the Vega that draws in the service and in browsers."""

MODULE = "export { vegaEmbed };"


@functools.cache
def _process() -> Pool:
    pool = multiprocessing.get_context("spawn").Pool(1, _leave_interrupts, maxtasksperchild=DRAWINGS)
    atexit.register(pool.terminate)
    # Its start is no part of a drawing's time.
    pool.apply(_get_ready)
    return pool


def _get_ready() -> None:
    from figures import distributions, rendering

    assert distributions
    assert rendering


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def draw(function: Callable[..., T], *arguments: object, limit_s: float = LIMIT_S) -> T:
    """Return what `function` draws of its arguments, in the process apart.

    Both must be picklable. Problem `too-costly` if it takes longer than `limit_s`; the process then ends.
    """
    with _ONE_AT_A_TIME:
        current().check()  # nobody may wait for it any more
        pool = _process()
        try:
            return pool.apply_async(function, arguments).get(limit_s)
        except multiprocessing.TimeoutError:
            atexit.unregister(pool.terminate)
            pool.terminate()
            _process.cache_clear()
            raise too_costly(f"more than {limit_s:g} s of drawing") from None


NARROW, HALF, WIDE, FULL = 352, 552, 640, 1152
"""Widths of figures of pages in CSS pixels: for phones, for two beside each other, for one, and for one that
is as wide as a desk's page."""

WidthQuery = Annotated[int, Query(ge=320, le=1920, description="width in CSS pixels")]

FIGURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Policy of an SVG, whose styles are within it; other sites may show it."""


def as_svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as a file for both colour schemes; in the process apart."""
    from figures import rendering

    return rendering.for_both_schemes(rendering.page_svg(chart))


def svg_response(function: Callable[..., str], *arguments: object) -> Response:
    return Response(
        draw(function, *arguments),
        media_type="image/svg+xml",
        headers={"Content-Security-Policy": FIGURE_POLICY},
    )


Form = Literal["svg", "png"]
"""Forms of a picture to take."""


def picture_response(form: Form, function: Callable[..., str], *arguments: object) -> Response:
    """Return the SVG that `function` draws of its arguments, or the same as PNG, as an answer."""
    if form == "svg":
        return svg_response(function, *arguments)
    return Response(draw(_as_png, function, *arguments), media_type="image/png")


def _as_png(function: Callable[..., str], *arguments: object) -> bytes:
    from figures import rendering

    return rendering.rasterise(function(*arguments))


def bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one module, below their licences, in vl-convert's versions."""
    import vl_convert

    licences = importlib.resources.files("api").joinpath("static/vega-licences.txt").read_text("utf-8")
    return f"/*!\n{licences}*/\n{vl_convert.javascript_bundle(MODULE)}"


def library(folder: Path | None) -> str:
    """Return `bundle`, from a file in `folder` once made: making it takes seconds."""
    if folder is None:
        return _made_once()
    path = folder / f"vega-embed-{VEGA}.js"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        made = _made_once()
        write_whole(path, made.encode())
        return made


@functools.cache
def _made_once() -> str:
    return draw(bundle, limit_s=BUNDLING_S)

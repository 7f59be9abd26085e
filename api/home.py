"""The home page: how much fits as one curve, the year's answer beside it, the same sites over the years, and
the doors to everything else."""

import dataclasses
from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api import drawing
from api.explorer.comparison import Step, find_edges, steps_of
from api.http.problems import Problem, suppress_problems
from api.routes.answers import DistributionAnswer
from api.routes.pages import StatedAnswer, answer_of, page, stated_first
from api.routes.parameters import ShelfDep
from api.routes.provenance import QUALITY, quality
from api.routes.strata import distributions
from api.service import Kept, service_of
from api.stored.shelf import Report, Shelf, Version
from figures.findings import LEADING, tell_unfitting
from recordings.pages.sets import SETS
from releases.formatting import percent, quantity
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.sample import WHOLE
from schema.recorded import is_recorded

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

AGAIN_S = 5

IN_FORCE = WINDOWS[1]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fits:
    """How much of a release fits into windows."""

    version: Version
    distribution: DistributionAnswer
    windows: tuple[int, ...]

    @property
    def finding(self) -> str:
        """What does not fit into the window in force."""
        share = next(fit.share for fit in self.distribution.fits if fit.iw == IN_FORCE)
        assert share is not None
        return tell_unfitting(share, self.distribution.measure, IN_FORCE)

    @property
    def described(self) -> str:
        """What fits, for those who do not see the figure."""
        return "; ".join(f"{percent(fit.share)} fit into IW {fit.iw}" for fit in self.distribution.fits)

    @property
    def chosen(self) -> str:
        iw = ",".join(map(str, self.windows))
        return urlencode({"crawl": self.version.name, "measure": self.distribution.measure, "iw": iw})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a folder tells: its best answer and its best release."""

    report: Report | None
    answer: StatedAnswer | None
    fits: Fits | None

    @classmethod
    def by(cls, request: Request, versions: Sequence[Version], reports: Sequence[Report]) -> "Told":
        """The newest answer that is evidence, or else the newest, and the best release."""
        answered = [(report, answer) for report in reports if (answer := answer_of(report))]
        # The first of several that are evidence, or of several that are none, is the newest.
        report, answer = min(answered, key=lambda pair: pair[1].is_illustrative, default=(None, None))
        recommended = (answer and answer.window) or 0
        windows = (*WINDOWS[:2], recommended if recommended > IN_FORCE else WINDOWS[2])
        return cls(report=report, answer=answer, fits=find_fits(request, versions, windows))


def find_fits(request: Request, versions: Sequence[Version], windows: tuple[int, ...]) -> Fits | None:
    """How much fits in the best release that states it: of first flights, or else of responses."""
    releases = service_of(request).releases
    for version in stated_first(request, versions, LEADING):
        with suppress_problems():
            samples = {measure: releases.sample(version, measure, WHOLE) for measure in LEADING}
            leading = distributions(samples, windows=windows, mss=MSS_FIG1)
            stated = next((distribution for distribution in leading if distribution.is_stated), None)
            return None if stated is None else Fits(version=version, distribution=stated, windows=windows)
    return None


def sound_releases(shelf: Shelf) -> list[Version]:
    return [version for version in map(shelf.newest, shelf.crawls) if version.is_sound]


@router.get("/", name="home")
def home(request: Request, shelf: ShelfDep) -> Response:
    """The home page."""
    sound, reports = sound_releases(shelf), [shelf.report(year) for year in shelf.years]
    told = Told.by(request, sound, reports)
    own = None
    if shelf.steps or (told.report and told.report.is_edition):
        ours = [version for version in sound if not is_recorded(version.crawl.kind)]
        own = Told.by(request, ours, [report for report in reports if not report.is_edition])
    shown = page(
        request,
        "home.html",
        told=told,
        own=own,
        steps=shelf.steps,
        under_way=shelf.under_way,
        # The page asks only whether there are years: their changes take seconds, and stand in the picture.
        has_years=sum(version.readable.manifest.list_id in SETS for version in sound) > 1,
        crawls=len(shelf.crawls),
        mss=MSS_FIG1,
    )
    if shelf.steps:
        shown.headers["Refresh"] = str(AGAIN_S)
    return shown


@router.get("/fits.svg", name="fits_svg", response_class=Response)
def fits_svg(request: Request, shelf: ShelfDep, width: drawing.WidthQuery = drawing.WIDE) -> Response:
    """The home page's CDF as SVG."""
    reports = [shelf.report(year) for year in shelf.years]
    fits = Told.by(request, sound_releases(shelf), reports).fits
    if fits is None:
        raise Problem("no-such-crawl", "no release states how much fits")
    releases = service_of(request).releases
    measure, own = fits.distribution.measure, quality(fits.version.crawl)
    kept = releases.sample(fits.version, measure, WHOLE)
    sizes = [iw * MSS_FIG1 for iw in fits.windows]
    edges = find_edges([kept], sizes)
    labels = {
        fit.window_bytes: f"IW {fit.iw}: {quantity(100 * fit.share, '%', 2)}"
        for fit in fits.distribution.fits
        if fit.share is not None
    }
    note = "" if own != "illustrative" else f"Illustrative: {QUALITY[own]}"
    steps = steps_of(kept, sizes)
    return drawing.svg_response(_draw_fits, width, steps, labels, (edges[0], edges[-1]), note)


def _draw_fits(
    width: int, steps: Sequence[Step], labels: dict[int, str], domain: tuple[int, int], note: str
) -> str:
    from figures.distributions import CdfSeries, cdf
    from figures.frame import Frame, Upright

    drawn = CdfSeries(
        name="",
        steps=[(size, 100 * share) for size, share, _, _ in steps],
        band=[
            (size, 100 * lower, 100 * upper)
            for size, _, lower, upper in steps
            if lower is not None and upper is not None
        ],
    )
    windows = [Upright(value=size, label=label) for size, label in labels.items()]
    frame = Frame(title="", note=note, width=width)
    return drawing.as_svg(cdf(frame, [drawn], windows, domain=domain, axis="size on the wire"))

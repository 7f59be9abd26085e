"""`/v1/first-flight`: the share that fits into each of some windows, at an address that stays."""

from fastapi import APIRouter, Request, Response

from api.formats.offered import CSV, IN_A_TABLE, AskedFormat, as_csv, get_in
from api.http.links import link, relate
from api.routes.answers import AnswerModel, Provenance
from api.routes.parameters import DEFAULT_WINDOWS, MssQuery, OneSizeQuery, WindowsQuery
from api.routes.provenance import AskedRelease, provenance
from api.routes.strata import AskedStratum
from api.service import Kept
from api.statistics.series import estimated
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Statistic
from schema.computed_tables import MEASURES

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Kept)


class WindowFit(AnswerModel):
    """The share of the items of known size that fit into a window of full segments."""

    iw: int
    """Window in segments."""
    window_bytes: int
    """`iw` times `mss`."""
    share: float | None
    """Share of the items of known size; null if it is unknown."""
    share_unknown: str | None
    """Why the share is unknown; null if it is known."""
    lower: float | None
    """Lower end of the share's confidence interval, over sites."""
    upper: float | None
    """Upper end of the share's confidence interval."""
    interval_unknown: str | None
    """Why the interval is unknown; null if it is known."""


class FirstFlightAnswer(WindowFit):
    """The shares of the items of a measure and stratum that fit into windows of full segments.

    The fields of a window are those of the first one.
    """

    provenance: Provenance
    measure: str
    definition: str
    stratum: dict[str, str | int]
    """Value of each dimension that was asked for; empty for every item of home pages."""
    mss: int
    """Payload of a full segment, in bytes."""
    windows: list[WindowFit]
    """Every window that was asked for."""
    confidence: float
    """Confidence level of the intervals."""
    known: int
    """Number of items of known size."""
    unknown: int
    """Number of items of unknown size, which the shares leave out."""
    sites: int | None
    """Number of sites, registrable domains, with an item of known size; null if unknown."""


@get_in(router, "/first-flight", IN_A_TABLE, name="first_flight", response_model=FirstFlightAnswer)
async def read_first_flight(
    request: Request,
    version: AskedRelease,
    stratum: AskedStratum,
    wanted: AskedFormat,
    measure: OneSizeQuery = "responses",
    iw: WindowsQuery = [DEFAULT_WINDOWS[-1]],  # noqa: B006  # FastAPI copies defaults
    mss: MssQuery = MSS_FIG1,
) -> FirstFlightAnswer | Response:
    """The share that fits into each window of `iw` segments of `mss` bytes, with its confidence interval over
    sites.

    In CSV a row is a window. The distribution behind the share is `/v1/distributions`.
    """
    stratum.check(measure)
    relate(request, "describedby", link(request, "document", name="methods"), type="text/html")
    windows = []
    for segments in dict.fromkeys(iw):
        statistic = Statistic(name="share", iw=segments, mss=mss, percent=50)
        share = await estimated(request, version, statistic, measure, stratum)
        windows.append(
            WindowFit(
                iw=segments,
                window_bytes=segments * mss,
                share=share.value,
                share_unknown=share.value_unknown,
                lower=share.lower,
                upper=share.upper,
                interval_unknown=share.interval_unknown,
            )
        )
    answer = FirstFlightAnswer(
        **dict(windows[0]),
        provenance=provenance(request, version),
        measure=measure,
        definition=MEASURES[measure],
        stratum=stratum.parameters(),
        mss=mss,
        windows=windows,
        confidence=CONFIDENCE,
        known=share.known,
        unknown=share.unknown,
        sites=share.sites,
    )
    return table(answer) if wanted == CSV else answer


def table(answer: FirstFlightAnswer) -> Response:
    origin = answer.provenance
    release = {"crawl": origin.crawl, "version": origin.version, "checksum": origin.checksum}
    what = {
        "measure": answer.measure,
        "stratum": "; ".join(map("{0[0]}={0[1]}".format, answer.stratum.items())),
    }
    counts = {"known": answer.known, "unknown": answer.unknown, "sites": answer.sites}
    terms = {"quality": origin.quality, "licence": origin.licence, "cite_as": origin.cite_as}
    return as_csv(
        release | what | window.model_dump() | {"mss": answer.mss} | counts | terms
        for window in answer.windows
    )

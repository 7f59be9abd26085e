"""Infers what made the browser ask for each resource: from Referer, type and order.

A Referer that names a document says who asked, not what: the parser, a script, or a style sheet's text in the
page. What was begun while the document arrived, or shortly after, is its parser's; what was begun later is
the work of the script, or for images and fonts of the style sheet, that had arrived last.
"""

import bisect
import dataclasses
from collections.abc import Mapping, Sequence

from recordings.connections import RequestTimes
from studies.recorded_pages.request import RequestFacts

PARSING_US = 100_000
"""Time after a document's last byte in which its parser still asks. In the bundled pages requests are many
until 25 ms after it, rare from then on, and many again from 164 ms on: a round trip later, when what the
document named has brought more."""

REDIRECT = "redirect"
STYLE_SHEET_REFERER = "referer_style_sheet"
PARSER = "document_arriving"
SCRIPT = "script_before"
STYLE = "style_sheet_before"
DOCUMENT = "document_else"
NONE = "none"

RULES: dict[str, str] = {
    REDIRECT: "recorded: the response that redirected here",
    STYLE_SHEET_REFERER: "recorded: Referer is the URL of a style sheet",
    PARSER: "inferred: asked for while its document arrived, or at most 100 ms after",
    SCRIPT: "inferred: the script of its document that had arrived last",
    STYLE: "inferred, images and fonts: the style sheet of its document that had arrived last",
    DOCUMENT: "inferred: its document, since no script or style sheet had arrived",
    NONE: "none: the navigation, and what came before the main document",
}
"""Rules by which a request has its initiator, with the evidence."""

INFERRED = frozenset({PARSER, SCRIPT, STYLE, DOCUMENT})
"""Rules that infer; the others are recorded facts."""

BY_STYLE = frozenset({"image", "font"})

DOCUMENTS = frozenset({"document", "iframe", "object"})

NEVER_PARSED = frozenset({"fetch", "worker"})


@dataclasses.dataclass(frozen=True, slots=True)
class Initiator:
    """The request whose response led to another, and the rule by which it is known."""

    entry: int | None
    rule: str


def find_initiators(requests: Sequence[RequestFacts], times: Mapping[int, RequestTimes]) -> list[Initiator]:
    """Return the initiator of each request of a page, in their order."""
    main = next(request.entry for request in requests if request.is_main_document)
    owners: dict[int, int] = {}
    for request in requests:
        owners[request.entry] = document_of(request, requests, owners, main)
    arrivals = Arrivals(requests, times, owners)
    return [
        find_initiator(request, requests, times, owners[request.entry], main, arrivals)
        for request in requests
    ]


def document_of(
    request: RequestFacts, requests: Sequence[RequestFacts], owners: Mapping[int, int], main: int
) -> int:
    """Return the document that a request belongs to, by its Referer; without one the main document.

    A Referer that is a style sheet's belongs to the document of that sheet.
    """
    named = request.referer_entry
    if named is None or named >= request.entry:
        return main
    return named if requests[named].kind in DOCUMENTS else owners.get(named, main)


class Arrivals:
    """Scripts and style sheets of each document, by the time of their last byte."""

    def __init__(
        self, requests: Sequence[RequestFacts], times: Mapping[int, RequestTimes], owners: Mapping[int, int]
    ) -> None:
        self._arrived: dict[tuple[int, str], list[tuple[int, int]]] = {}
        for request in requests:
            last = times[request.entry].last_us if request.entry in times else None
            if request.kind in ("script", "style") and last is not None:
                self._arrived.setdefault((owners[request.entry], request.kind), []).append(
                    (last, request.entry)
                )
        for arrived in self._arrived.values():
            arrived.sort()

    def latest(self, document: int, kinds: Sequence[str], *, before: RequestFacts) -> tuple[int, int] | None:
        """Return the time and entry of the latest arrival of these types before a request began.

        None if there is none.
        """
        arrivals = []
        for kind in kinds:
            arrived = self._arrived.get((document, kind), [])
            place = bisect.bisect_right(arrived, (before.began_us, before.entry))
            arrivals += arrived[place - 1 : place] if place else []
        return max((arrival for arrival in arrivals if arrival[1] < before.entry), default=None)


def find_initiator(
    request: RequestFacts,
    requests: Sequence[RequestFacts],
    times: Mapping[int, RequestTimes],
    document: int,
    main: int,
    arrivals: Arrivals,
) -> Initiator:
    """Return the initiator of a request, by the strongest evidence."""
    if request.redirected_from is not None and request.redirected_from < request.entry:
        return Initiator(request.redirected_from, REDIRECT)
    if request.entry <= main or document >= request.entry:
        return Initiator(None, NONE)
    named = request.referer_entry
    if named is not None and not request.referer_is_origin_only and requests[named].kind == "style":
        return (
            Initiator(named, STYLE_SHEET_REFERER) if named < request.entry else Initiator(document, DOCUMENT)
        )
    kind = request.kind
    ends = times[document].last_us if document in times else None
    if (
        kind not in NEVER_PARSED
        and kind != "font"
        and (ends is None or request.began_us <= ends + PARSING_US)
    ):
        return Initiator(document, PARSER)
    kinds = ("style",) if kind == "font" else ("script", "style") if kind in BY_STYLE else ("script",)
    latest = arrivals.latest(document, kinds, before=request)
    if latest is None:
        return Initiator(document, DOCUMENT)
    return Initiator(latest[1], SCRIPT if requests[latest[1]].kind == "script" else STYLE)

"""Pages of August 2025 as a proxy would have recorded them.

What they know of protocols, connections, Referers and headers is forgotten, and assigned anew.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from studies.recorded_pages.facts import PageFacts, RecordingFacts
from studies.recorded_pages.request import RequestFacts

KNOWN_ELSEWHERE = 0.36
"""Share of origins of which it is known what they spoke elsewhere: of the requests of Tranco's three sets 33,
34 and 40 % are to such hosts."""

OFFERS_H3: Mapping[str, float] = {"h3": 0.94, "h2": 0.10, "http/1.1": 0.03}
"""Share of origins unknown elsewhere that offer HTTP/3 by Alt-Svc, by what they spoke: of HTTP/3 and HTTP/1.1
as counted in Tranco's sets over hosts that are known, of HTTP/2 so that 21 % of these origins offer it, as
there."""

KEPT_REFERERS = 0.82
"""Share of known Referers that are kept: 88 % of August's requests have one, and 66 to 74 % of the three
sets'."""

STATUS_LINE_BYTES = 17
"""Size of a status line, which a proxy counts with the header: the median of Tranco's sets."""


def forget(recording: RecordingFacts, *, seed: int) -> RecordingFacts:
    """Return the recording as through a proxy."""
    pages = [forget_page(page, np.random.default_rng([seed, page.number])) for page in recording.pages]
    return dataclasses.replace(recording, pages=pages, is_proxied=True)


def forget_page(page: PageFacts, random: np.random.Generator) -> PageFacts:
    """Return a page of which no more is known than of one through a proxy."""
    spoken = protocols_of(page.requests)
    known = {origin: bool(random.random() < KNOWN_ELSEWHERE) for origin in spoken}
    offers = {origin: bool(random.random() < OFFERS_H3[protocol]) for origin, protocol in spoken.items()}
    requests = []
    for request in page.requests:
        origin, is_kept = request.origin, random.random() < KEPT_REFERERS
        requests.append(
            dataclasses.replace(
                forget_sizes(request),
                protocol_elsewhere=spoken[origin] if known.get(origin) else None,
                offers_h3=offers.get(origin),
                referer_entry=request.referer_entry if is_kept else None,
            )
        )
    return dataclasses.replace(page, requests=requests)


def protocols_of(requests: Sequence[RequestFacts]) -> dict[int, str]:
    """Return what each origin of a page spoke to most of its requests."""
    spoken: dict[int, list[str]] = {}
    for request in requests:
        if request.protocol is not None and request.crossed_network and request.protocol in OFFERS_H3:
            spoken.setdefault(request.origin, []).append(request.protocol)
    return {origin: max(sorted(set(own)), key=own.count) for origin, own in spoken.items()}


def forget_sizes(request: RequestFacts) -> RequestFacts:
    """Return a request whose body and header's text were counted in place of what crossed the network.

    Where no Content-Length tells the body, it is what was counted less half of the text.
    """
    text = (request.response_header_chars or 0) + STATUS_LINE_BYTES
    counted, length = request.transfer_bytes, request.content_length
    if counted is None or (request.is_redirect and request.har_body_size is not None):
        return dataclasses.replace(request, transfer_bytes=None)
    is_whole = length is not None and length < counted and not request.is_bodiless
    body = length if is_whole and length is not None else max(0, counted - text // 2)
    return dataclasses.replace(request, body_bytes=body, transfer_bytes=body + text)

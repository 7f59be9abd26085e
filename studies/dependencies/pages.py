"""Pages of December 2019, whose initiators Chrome recorded, as requests of recorded pages."""

import collections
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from recordings.connections import RebuiltTraffic, RequestTimes, rebuild
from replay.recipes.distance import BASELINES
from replay.recipes.page_recipe import Recipe, assume_think_times, make_recipe
from studies.recorded_pages.facts import PageFacts
from studies.recorded_pages.initiators import REDIRECT, Initiator, find_initiators
from studies.recorded_pages.request import HINTS, RequestFacts, microseconds
from studies.recorded_pages.rows import page_host, traffic_rows

RECORDED = "recorded"
"""Rule of an initiator that Chrome named."""

H2_HEADER_SHARE = 0.33
"""Size of a header over HTTP/2 over its text: the recording has the text alone. A guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page with both kinds of dependencies."""

    page: PageFacts
    traffic: RebuiltTraffic
    inferred: list[Initiator]
    """As August 2025's pages get them."""
    recorded: list[Initiator]
    """As Chrome named them, and inferred where it named none."""


def read_pages(folder: Path) -> Iterator[Page]:
    """Yield the first, plain loads of the folder's pages."""
    first_loads = {
        row["page"]
        for row in pq.read_table(folder / "pages.parquet").to_pylist()
        if (row["variant"], row["view"]) == ("plain", "first")
    }
    rows: dict[int, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in pq.read_table(folder / "requests.parquet").to_pylist():
        if row["page"] in first_loads:
            rows[row["page"]].append(row)
    for number, requests in sorted(rows.items()):
        requests.sort(key=lambda row: int(row["entry"]))
        yield _page(number, requests)


def _page(number: int, rows: list[dict[str, Any]]) -> Page:
    began = min(_began_ms(row) for row in rows)
    requests = [_request(row, rows, began) for row in rows]
    traffic = rebuild([request.network_request for request in requests if request.crossed_network])
    times = {row["entry"]: _times(row, began) for row in rows if row["entry"] in traffic.times}
    traffic = replace(traffic, times=times)
    inferred = find_initiators(requests, times)
    recorded = [
        Initiator(row["initiator_entry"], RECORDED)
        if names_initiator(row) and initiator.rule != REDIRECT
        else initiator
        for row, initiator in zip(rows, inferred, strict=True)
    ]
    return Page(
        page=PageFacts(number=number, load_us=None, browser="Chrome 78", requests=requests),
        traffic=traffic,
        inferred=inferred,
        recorded=recorded,
    )


def names_initiator(row: Mapping[str, Any]) -> bool:
    return row["initiator_entry"] is not None and row["initiator_entry"] < row["entry"]


def _began_ms(row: Mapping[str, Any]) -> float:
    return float(row["started_ms"] if row["created_ms"] is None else row["created_ms"])


def _request(row: Mapping[str, Any], rows: list[dict[str, Any]], began: float) -> RequestFacts:
    """Return a request as August 2025's recorder would have it: Referer names no more than a foreign
    origin."""
    is_multiplexed = row["protocol"] == "h2"
    header = (row["response_header_chars"] or 0) * (H2_HEADER_SHARE if is_multiplexed else 1)
    named = row["referer_entry"]
    is_foreign = named is not None and rows[named]["origin"] != row["origin"]
    values: dict[str, Any] = {name: row.get(name) for name in HINTS} | {
        "started_ms": _began_ms(row) - began,
        "protocol": row["protocol"] or "http/1.1",
        "method": row["method"] or "GET",
        "content_length": row["body_bytes"],
        "transfer_bytes": None if row["status"] is None else round(header) + (row["body_bytes"] or 0),
        "request_body_bytes": 0,
        "tls": None,
        "referer_is_origin_only": None if named is None else is_foreign,
    }
    return RequestFacts(**values)


def _times(row: Mapping[str, Any], began: float) -> RequestTimes:
    sent = microseconds(row["started_ms"] - began)
    if row["wait_ms"] is None or row["ended_ms"] is None:
        return RequestTimes(sent_us=sent)
    first = sent + microseconds(row["wait_ms"])
    return RequestTimes(
        sent_us=sent, first_us=first, last_us=max(first, microseconds(row["ended_ms"] - began))
    )


def recipe_of(page: Page, initiators: list[Initiator]) -> Recipe | None:
    """Return the page's recipe by these dependencies; None if its main document cannot be replayed."""
    connections, responses = traffic_rows(page.page, page.traffic, initiators)
    main = next(request for request in page.page.requests if request.is_main_document)
    visit = {"id": page.page.number, "host": page_host(page.page.number), "main_response_id": main.entry + 1}
    connections = [
        {"port": 443, "tls_handshake_bytes": None, "tls_ticket_bytes": None, "frame_bytes": None} | row
        for row in connections
    ]
    recipe = make_recipe(visit, connections, responses, BASELINES["wpt-2019-12"])
    return recipe and assume_think_times([recipe])[0]

"""Thirty real pages in four modes: every response and every connection, byte for byte as the server sent it."""

from __future__ import annotations

import asyncio
import collections
import os
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright

from crawler.browser import Browser
from crawler.visit import visit
from tests.crawler.playing import Played, playing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.observation import Observation

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BROWSERS = 2
BUDGET_S = 60.0
DISTURBED = 20

EVERY = {"h1": 3, "h1tls": 3, "h2": 1, "recorded": 1}
"""Which pages are visited in each mode: every third where the zoo has all kinds of response too, to save time.
FIRSTFLIGHT_TEST_ALL_PAGES=1 visits all."""


async def crawl(
    web: Played, chromium: Path, chosen: Sequence[str]
) -> tuple[list[Observation], list[Observation]]:
    """Visits the chosen sites with two browsers at a time.

    Where an interface of this machine comes or goes, Chromium drops what it is doing: a visit that this has
    disturbed says so, is made again, and is returned apart.
    """
    sites = collections.deque(chosen)
    seen: list[Observation] = []
    disturbed: list[Observation] = []

    async def one() -> None:
        async with Browser.launch(chromium, flags=web.browser_flags, playwright=playwright) as browser:
            while sites:
                site = sites.popleft()
                observation = await visit(browser, site, budget_s=BUDGET_S)
                if observation.visit["outcome"] != "network_changed":
                    seen.append(observation)
                    continue
                assert len(disturbed) < DISTURBED, "this machine's network does not hold still"
                disturbed.append(observation)
                sites.append(site)

    async with async_playwright() as playwright, asyncio.TaskGroup() as group:
        for _ in range(BROWSERS):
            group.create_task(one())
    return seen, disturbed


def ends_of(observation: Observation) -> dict[int, tuple[str, int, int]]:
    """Both ends of each connection: ports alone repeat across the addresses of loopback."""
    return {
        row["id"]: (row["remote_address"], row["port"], row["local_port"]) for row in observation.connections
    }


def received(seen: list[Observation]) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """Responses and the connections that carried them, as the browser had them."""
    responses: collections.Counter[Any] = collections.Counter()
    connections: collections.Counter[Any] = collections.Counter()
    for observation in seen:
        ends = ends_of(observation)
        for row in observation.responses:
            where = (ends.get(row["connection_id"]), row["position"], row["stream_id"], row["protocol"])
            what = (row["method"], row["scheme"], row["host"], row["path"], row["status"])
            responses[*where, *what, row["wire_bytes"], row["header_bytes"], row["body_bytes"]] += 1
        for row in observation.connections:
            if row["response_count"]:
                tls = (row["tls_version"], row["tls_handshake_bytes"] or 0, row["tls_ticket_bytes"] or 0)
                size = (row["received_bytes"], row["decrypted_bytes"], row["frame_bytes"])
                connections[ends[row["id"]], row["host"], row["protocol"], *tls, *size] += 1
    return responses, connections


def sent(web: Played, disturbed: set[Any]) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """The same, as the server had them, without the connections of disturbed visits."""
    responses: collections.Counter[Any] = collections.Counter()
    connections: collections.Counter[Any] = collections.Counter()
    ends = {
        entry["id"]: (entry["server_address"], entry["server_port"], entry["client_port"])
        for entry in web.connections
    }
    ends = {number: end for number, end in ends.items() if end not in disturbed}
    carried = {entry["connection_id"] for entry in web.responses if entry["wire_bytes"]}
    for entry in web.responses:
        if entry["connection_id"] not in ends:
            continue
        where = (ends[entry["connection_id"]], entry["position"], entry["stream_id"], entry["protocol"])
        what = (entry["method"], entry["scheme"], entry["host"], entry["path"], entry["status"])
        responses[*where, *what, entry["wire_bytes"], entry["header_bytes"], entry["body_bytes"]] += 1
    for entry in web.connections:
        if entry["id"] in carried and entry["id"] in ends:
            tls = (entry["tls_version"], entry["tls_handshake_bytes"], entry["tls_ticket_bytes"])
            size = (entry["sent_bytes"], entry["plaintext_bytes"], entry["frame_bytes"])
            connections[ends[entry["id"]], entry["host"], entry["protocol"], *tls, *size] += 1
    return responses, connections


@pytest.mark.parametrize("mode", EVERY)
def test_every_response_and_connection_is_what_the_server_sent(
    mode: str, tmp_path: Path, chromium: Path
) -> None:
    with playing(mode, tmp_path) as web:
        chosen = web.sites if os.environ.get("FIRSTFLIGHT_TEST_ALL_PAGES") else web.sites[:: EVERY[mode]]
        seen, disturbed = asyncio.run(crawl(web, chromium, chosen))
    assert collections.Counter(one.visit["outcome"] for one in seen) == {"ok": len(chosen)}

    responses, connections = received(seen)
    sent_responses, sent_connections = sent(web, {end for one in disturbed for end in ends_of(one).values()})
    coverage = [(one.visit["coverage"], one.visit["decrypted_coverage"]) for one in seen]
    print(
        f"{mode}: responses {(responses & sent_responses).total()} exact of {sent_responses.total()},",
        f"connections {(connections & sent_connections).total()} of {sent_connections.total()},",
        f"coverage at least {min(coverage)}",
    )
    assert responses == sent_responses
    assert connections == sent_connections
    assert min(min(pair) for pair in coverage) >= 0.999
    for one in seen:
        assert_causal(one)


def assert_causal(observation: Observation) -> None:
    """What happened in order has times in order."""
    connections = {row["id"]: row for row in observation.connections}
    responses = {row["id"]: row for row in observation.responses}
    for row in observation.responses:
        on = connections[row["connection_id"]]
        times = [on["opened_us"], on["connected_us"], *([on["secured_us"]] if on["secured_us"] else [])]
        times += [row["request_sent_us"], row["first_byte_us"], row["last_byte_us"], on["last_byte_us"]]
        assert times == sorted(times), (row, on)
        for cause in (row["initiator_id"], row["redirected_from_id"]):
            assert cause is None or responses[cause]["first_byte_us"] <= row["request_sent_us"], row

"""Thirty real pages in four modes: every response and every connection, byte for byte as the server sent it."""

from __future__ import annotations

import asyncio
import collections
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright

from crawler.browser import Browser
from crawler.visit import visit
from tests.crawler.playing import Played, playing

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.observation import Observation

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BROWSERS = 2
BUDGET_S = 60.0


async def crawl(web: Played, chromium: Path) -> list[Observation]:
    """Visits all sites with two browsers at a time."""
    sites = collections.deque(web.sites)
    seen: list[Observation] = []

    async def one() -> None:
        async with Browser.launch(chromium, flags=web.browser_flags, playwright=playwright) as browser:
            while sites:
                seen.append(await visit(browser, sites.popleft(), budget_s=BUDGET_S))

    async with async_playwright() as playwright, asyncio.TaskGroup() as group:
        for _ in range(BROWSERS):
            group.create_task(one())
    return seen


def received(seen: list[Observation]) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """Responses and the connections that carried them, as the browser had them."""
    responses: collections.Counter[Any] = collections.Counter()
    connections: collections.Counter[Any] = collections.Counter()
    for observation in seen:
        ends = {
            row["id"]: (row["remote_address"], row["port"], row["local_port"])
            for row in observation.connections
        }
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


def sent(web: Played) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """The same, as the server had them."""
    responses: collections.Counter[Any] = collections.Counter()
    connections: collections.Counter[Any] = collections.Counter()
    ends = {
        entry["id"]: (entry["server_address"], entry["server_port"], entry["client_port"])
        for entry in web.connections
    }
    carried = {entry["connection_id"] for entry in web.responses if entry["wire_bytes"]}
    for entry in web.responses:
        where = (ends[entry["connection_id"]], entry["position"], entry["stream_id"], entry["protocol"])
        what = (entry["method"], entry["scheme"], entry["host"], entry["path"], entry["status"])
        responses[*where, *what, entry["wire_bytes"], entry["header_bytes"], entry["body_bytes"]] += 1
    for entry in web.connections:
        if entry["id"] in carried:
            tls = (entry["tls_version"], entry["tls_handshake_bytes"], entry["tls_ticket_bytes"])
            size = (entry["sent_bytes"], entry["plaintext_bytes"], entry["frame_bytes"])
            connections[ends[entry["id"]], entry["host"], entry["protocol"], *tls, *size] += 1
    return responses, connections


@pytest.mark.parametrize("mode", ["h1", "h1tls", "h2", "recorded"])
def test_every_response_and_connection_is_what_the_server_sent(
    mode: str, tmp_path: Path, chromium: Path
) -> None:
    with playing(mode, tmp_path) as web:
        seen = asyncio.run(crawl(web, chromium))
    assert collections.Counter(one.visit["outcome"] for one in seen) == {"ok": len(web.sites)}

    responses, connections = received(seen)
    sent_responses, sent_connections = sent(web)
    coverage = [(one.visit["coverage"], one.visit["decrypted_coverage"]) for one in seen]
    print(
        f"{mode}: responses {(responses & sent_responses).total()} exact of {sent_responses.total()},",
        f"connections {(connections & sent_connections).total()} of {sent_connections.total()},",
        f"coverage at least {min(coverage)}",
    )
    assert responses == sent_responses
    assert connections == sent_connections
    assert min(min(pair) for pair in coverage) >= 0.999

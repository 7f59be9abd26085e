"""Every response and connection of thirty real pages, in four modes, is byte for byte the server's."""

import asyncio
import collections
import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.async_api import async_playwright

from crawler.browser.browser import Browser
from crawler.capture.capture import Capture, capture_loopback
from crawler.visit.attempt import Observation
from crawler.visit.visit import visit_page
from firstflight.settings import from_environment
from tests.circles import ALL
from tests.crawler.playing import Played, play_local_web
from tests.crawler.visiting import AMPLE_S, unhurried
from tests.zoo.serving.namespace import in_namespace

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Seen: TypeAlias = dict[str, Any]

BROWSERS = 2

EVERY = {"h1": 20, "h1tls": 20, "h2": 10, "recorded": 8}
"""Pages visited by mode: every n-th; `scripts/test --all` visits all."""


def visit_all(mode: str) -> dict[str, Any]:
    """Rows of all chosen sites, and the server's log, in the current network namespace."""
    every = 1 if ALL else EVERY[mode]
    with (
        tempfile.TemporaryDirectory(prefix="firstflight-") as folder,
        play_local_web(mode, Path(folder)) as web,
        capture_loopback() as capture,
    ):
        assert capture is not None, "loopback cannot be captured"
        seen = asyncio.run(crawl(web, web.sites[::every], capture))
    return {
        "seen": [
            {
                "visit": {
                    name: observation.visit[name] for name in ("outcome", "coverage", "decrypted_coverage")
                },
                "connections": observation.connections,
                "responses": observation.responses,
            }
            for observation in seen
        ],
        "web": dataclasses.asdict(web),
    }


async def crawl(web: Played, chosen: Sequence[str], capture: Capture | None) -> list[Observation]:
    sites = collections.deque(chosen)
    seen: list[Observation] = []
    chromium = from_environment().chromium

    async def visit_in_turn() -> None:
        async with Browser.launch(
            chromium, flags=web.browser_flags, playwright=playwright, capture=capture
        ) as browser:
            while sites:
                seen.append(await visit_page(browser, sites.popleft(), budget_s=AMPLE_S))

    with unhurried():
        async with async_playwright() as playwright, asyncio.TaskGroup() as group:
            for _ in range(BROWSERS):
                group.create_task(visit_in_turn())
    return seen


def ends_of(load: Seen) -> dict[int, tuple[str, int, int]]:
    """Both ends of each connection; ports alone are not unique on loopback."""
    return {row["id"]: (row["remote_address"], row["port"], row["local_port"]) for row in load["connections"]}


def received(seen: list[Seen]) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """Responses, and the connections that carried them, in the browser's rows."""
    responses: collections.Counter[Any] = collections.Counter()
    connections: collections.Counter[Any] = collections.Counter()
    for observation in seen:
        ends = ends_of(observation)
        for row in observation["responses"]:
            where = (ends.get(row["connection_id"]), row["position"], row["stream_id"], row["protocol"])
            what = (row["method"], row["scheme"], row["host"], row["path"], row["status"])
            responses[*where, *what, row["wire_bytes"], row["header_bytes"], row["body_bytes"]] += 1
        for row in observation["connections"]:
            if row["response_count"]:
                tls = (row["tls_version"], row["tls_handshake_bytes"] or 0, row["tls_ticket_bytes"] or 0)
                size = (row["received_bytes"], row["decrypted_bytes"], row["frame_bytes"])
                connections[ends[row["id"]], row["host"], row["protocol"], *tls, *size] += 1
    return responses, connections


def sent(web: Played) -> tuple[collections.Counter[Any], collections.Counter[Any]]:
    """Responses, and the connections that carried them, in the server's log."""
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


@pytest.mark.parametrize("mode", EVERY)
def test_every_response_and_connection_is_what_the_server_sent(mode: str) -> None:
    result = in_namespace("tests.crawler.netlog.test_exactness:visit_all", mode)
    seen, web = result["seen"], Played(**result["web"])
    assert {observation["visit"]["outcome"] for observation in seen} == {"ok"}

    responses, connections = received(seen)
    sent_responses, sent_connections = sent(web)
    coverage = [
        (observation["visit"]["coverage"], observation["visit"]["decrypted_coverage"]) for observation in seen
    ]
    print(
        f"{mode}: responses {(responses & sent_responses).total()} exact of {sent_responses.total()},",
        f"connections {(connections & sent_connections).total()} of {sent_connections.total()},",
        f"coverage at least {min(coverage)}",
    )
    assert_same(responses, sent_responses)
    assert_same(connections, sent_connections)
    assert min(min(pair) for pair in coverage) >= 0.999
    for observation in seen:
        assert_causal(observation)


def assert_same(seen: collections.Counter[Any], sent: collections.Counter[Any]) -> None:
    assert {"seen, not sent": seen - sent, "sent, not seen": sent - seen} == {
        "seen, not sent": collections.Counter(),
        "sent, not seen": collections.Counter(),
    }


def assert_causal(seen: Seen) -> None:
    connections = {row["id"]: row for row in seen["connections"]}
    responses = {row["id"]: row for row in seen["responses"]}
    for row in seen["responses"]:
        on = connections[row["connection_id"]]
        times = [on["opened_us"], on["connected_us"], *([on["secured_us"]] if on["secured_us"] else [])]
        times += [row["request_sent_us"], row["first_byte_us"], row["last_byte_us"], on["last_byte_us"]]
        assert times == sorted(times), (row, on)
        for cause in (row["initiator_id"], row["redirected_from_id"]):
            assert cause is None or responses[cause]["first_byte_us"] <= row["request_sent_us"], row

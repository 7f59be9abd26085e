"""Visits pages that try to escape, without the guard and within it,
and prints the addresses that were reached, as JSON.

Runs in namespaces that the test makes for it, never on the machine itself.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawler import box
from crawler.browser.browser import Browser
from crawler.capture.capture import Capture, open_capture
from crawler.egress.guard import AddressGuard, set_up_guard
from crawler.egress.networks import parse_networks
from crawler.errors import EgressUnavailable
from crawler.visit.visit import visit_page
from firstflight.settings import from_environment
from tests.crawler.egress import quic, world
from tests.crawler.egress.looking import (
    SEEN,
    addresses,
    capture_page,
    list_destinations,
    list_holders,
    network,
    nft,
    parent,
)
from tests.crawler.visiting import unhurried

HOSTS = [
    "ok.test",
    "ok6.test",
    "escapes.test",
    "jump.test",
    "redirect.test",
    "private.test",
    "metadata.test",
    "10.9.9.9",
    "127.0.0.1",
    world.GATEWAY,
    world.BLOCKED,
    "rebind.test",
    "rebind.test",
]

BUDGET_S = 240.0
"""Budget of a visit in seconds: the page that escapes makes hundreds of contacts, also on a busy machine."""

FLAGS = [
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebRTC,LocalNetworkAccessChecksWebSockets"
]
"""Flags that turn off the browser's own check, which comes after the connection and is not tested here."""


async def visits(guard: AddressGuard | None, servers: world.Servers) -> dict[str, Any]:
    with open_capture(guard.capture if guard else None) as capture:
        return await _visits(guard, capture, servers)


async def _visits(
    guard: AddressGuard | None, capture: Capture | None, servers: world.Servers
) -> dict[str, Any]:
    chromium = from_environment().chromium
    servers.came = []
    world.came_to_the_internet()
    async with Browser.launch(chromium, flags=FLAGS, guard=guard, capture=capture) as browser:
        ends = []
        sizes = {}
        for host in HOSTS:
            observation = await visit_page(browser, host, budget_s=BUDGET_S, settle_s=20)
            row = observation.visit
            ends.append([host, row["outcome"], row["error"], row["unfiltered_egress"]])
            sizes[host] = [
                row["coverage"],
                observation.responses[0]["wire_bytes"],
                [connection["received_bytes"] for connection in observation.connections],
                [connection["packet_bytes"] for connection in observation.connections],
            ]
        context = await browser.context()
        page = await context.new_page()
        await page.goto("http://ok.test/")
        sockets = (
            [] if guard is None else [sock for sock in (guard.capture, guard.tcp_info) if sock is not None]
        )
        captures = [process for socket in sockets for process in list_holders(socket.fileno())]
        await context.close()
    async with Browser.launch(
        chromium, flags=[*FLAGS, *world.QUIC_FLAGS], quic=True, guard=guard, capture=capture
    ) as browser:
        by_quic = await visit_page(browser, quic.PUBLIC_HOST, budget_s=BUDGET_S, settle_s=20)
    return {
        "visits": ends,
        "sizes": sizes,
        "by_quic": [by_quic.visit["outcome"], *sorted({str(row["protocol"]) for row in by_quic.responses})],
        "datagrams": [
            [connection["received_bytes"], connection["packet_bytes"]]
            for connection in by_quic.connections
            if connection["protocol"] == "h3"
        ],
        "reached": sorted({*servers.came, *world.came_to_the_internet()}),
        "captured_by": ["ourselves" if capture == os.getpid() else capture for capture in captures],
    }


async def visit_after_mending(guard: AddressGuard) -> list[Any]:
    """Visits of one browser before its guard is broken, and after it was mended."""
    collected = []
    with open_capture(guard.capture) as capture:
        async with Browser.launch(from_environment().chromium, guard=guard, capture=capture) as browser:
            for _ in range(3):
                row = (seen := await visit_page(browser, "ok.test", budget_s=BUDGET_S, settle_s=20)).visit
                size = seen.responses[0]["wire_bytes"] if seen.responses else None
                collected.append([row["outcome"], row["coverage"], size])
                for link in network()["links"]:
                    if link.startswith("ffguard"):
                        world.ip(f"link delete {link}")
                await asyncio.to_thread(guard.mend)
    return collected


def killed_crawl() -> None:
    """A crawl that dies of SIGKILL with its guard up."""
    code = (
        "import time\n"
        "from crawler.egress.guard import set_up_guard\n"
        "with set_up_guard():\n"
        " print('up', flush=True)\n"
        " time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as crawl:
        assert crawl.stdout is not None
        assert crawl.stdout.readline() == "up\n"
        crawl.send_signal(signal.SIGKILL)


def after_kill(before: dict[str, Any]) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while network() != before and time.monotonic() < deadline:
        time.sleep(0.1)
    return network()


def lost_guard() -> dict[str, Any]:
    """Return what a crawl notices once the guard process was killed."""
    with set_up_guard() as guard:
        call = box.with_filter(
            box.box_command(Path("/usr/bin/true"), memory_bytes=10**9, entrance=guard.entrance())
        )
        calls = box.system_call_filter()
        entered = subprocess.run(call, input=calls, check=False).returncode
        os.kill(parent(guard.namespace_pid), signal.SIGKILL)
        deadline = time.monotonic() + 60
        while Path(f"/proc/{guard.namespace_pid}/ns/net").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        try:
            guard.check()
            error = ""
        except EgressUnavailable as exc:
            error = str(exc)
        refused = subprocess.run(call, input=calls, check=False, capture_output=True).returncode
    return {"entered": entered, "fault": error, "then": refused}


async def play() -> dict[str, Any]:
    servers = world.Servers()
    await servers.start()
    collected: dict[str, Any] = {}
    before = network()
    if "without" in sys.argv:
        collected["without"] = await visits(None, servers)
        ASKED.clear()
    nft("-f", "-", given=SEEN)
    with_truth = network()
    with set_up_guard(parse_networks(world.BLOCKED)) as guard, set_up_guard() as other:
        settled = addresses(guard)
        collected["captured"] = [capture_page(guard, address) for address in (world.PUBLIC, world.PUBLIC_6)]
        collected["within"] = await visits(guard, servers)
        collected["addresses"] = [settled, addresses(guard)]
        collected["seen"] = list_destinations()
        collected["namespaces"] = [guard.namespace, other.namespace]
    with set_up_guard() as guard:
        collected["mended"] = await visit_after_mending(guard)
    nft("delete", "table", "inet", "truth")
    collected["network"] = {"before": before, "after": network(), "changed": with_truth != before}
    killed_crawl()
    collected["network"]["after_kill"] = after_kill(before)
    collected["lost"] = lost_guard()
    return collected


ASKED: dict[str, int] = {}


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, world.machine(Path(folder)), world.nameserver() as asked:
        global ASKED
        ASKED = asked
        yield


if __name__ == "__main__":
    with prepared(), unhurried():
        print(json.dumps(asyncio.run(play())))

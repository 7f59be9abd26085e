"""A change of the crawler's own network ends a visit as `network_changed`; tried in a network namespace."""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.browser.browser import Browser
from crawler.visit.visit import visit_page
from tests.crawler.namespaces import play
from tests.crawler.visiting import AMPLE_S
from tests.zoo.raw import RawWeb, html

SILENT = "10.1.0.1"
"""Address of a host that does not answer."""
SYN_SENT = "02"


@pytest.mark.browser
@pytest.mark.outcomes("network_changed")
def test_an_interface_that_appears_in_mid_visit_is_network_changed_and_keeps_what_had_arrived(
    chromium: Path,
) -> None:
    seen = play(__name__, str(chromium))
    assert seen["outcome"] == "network_changed"
    assert seen["received_bytes"] > 5000


def ip(*commands: str) -> None:
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)


def is_connecting(address: str) -> bool:
    """Whether a connection to an IPv4 address waits for the answer to its SYN (proc(5), /proc/net/tcp)."""
    remote = socket.inet_aton(address)[::-1].hex().upper()
    rows = (line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:])
    return any(row[2].startswith(f"{remote}:") and row[3] == SYN_SENT for row in rows)


async def within(chromium: Path) -> dict[str, object]:
    """A visit during which an address appears, while the page waits for a host that does not answer.

    Connections that are being made end then; Chromium lets those be that are in use over HTTP/1.1.
    """
    ip(
        "link set lo up",
        "link add ff0 type veth peer name ff1",
        # An IPv6 address, which is ready seconds later, would be a change of its own.
        "link set ff0 addrgenmode none up",
        "link set ff1 addrgenmode none up",
        "address add 10.1.0.2/24 dev ff0",
        f"neighbour add {SILENT} lladdr 02:00:00:00:00:01 dev ff0",
    )
    web = RawWeb({"a.test/": html("x" * 6000 + "<img src=http://silent.test/>")})
    async with web:
        flags = [web.browser_flags[0].replace("=", f"=MAP silent.test:80 {SILENT}:80,", 1)]
        async with Browser.launch(chromium, flags=flags) as browser:
            going = asyncio.ensure_future(visit_page(browser, "a.test", budget_s=AMPLE_S))
            await web.has_sent("/")
            async with asyncio.timeout(AMPLE_S):
                while not is_connecting(SILENT):
                    await asyncio.sleep(0.02)
            ip("address add 10.9.8.7/24 dev ff1")
            seen = await going
    return {name: seen.visit[name] for name in ("outcome", "received_bytes")}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(within(Path(sys.argv[1])))))

"""Records the logs for the tests: run `python -m tests.crawler.record` by hand when Chromium's log changes.

Only the events that the assembler reads are kept, and the constants that name them.
"""

import asyncio
import dataclasses
import gzip
import json
import pathlib
import tempfile
from typing import Any

from playwright.async_api import async_playwright

from crawler.netlog.assembler import EVENTS
from firstflight.settings import from_environment
from localweb.modes import Mode
from localweb.recipes import choose, load_bundled
from localweb.server import LocalWeb
from tests.crawler.netlog.h3_page import HOST, HOSTS
from tests.zoo.pages import handlers
from tests.zoo.serving.packets import Path
from tests.zoo.serving.server import Spoken, ZooWeb

FOLDER = pathlib.Path(__file__).parent / "logs/netlog"

PAGES: list[tuple[Spoken, str]] = [
    ("h1", "bodies"),
    ("h1", "repeats"),
    ("h1", "endings"),
    ("h1", "login"),
    ("h1tls", "repeats"),
    ("h2", "bodies"),
    ("h2", "repeats"),
    ("h3", "session"),
]


async def record(web: Any, url: str, *, quic: bool = False) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.json"
        flags = [
            *web.browser_flags,
            f"--log-net-log={log}",
            "--net-log-capture-mode=Everything",
            *([] if quic else ["--disable-quic"]),
        ]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=from_environment().chromium, args=flags
            )
            page = await browser.new_page()
            await page.goto(url)
            await page.wait_for_timeout(6000)
            await browser.close()
        return strip_log(log.read_text(encoding="utf-8").splitlines())


def strip_log(lines: list[str]) -> list[str]:
    constants = json.loads(lines[0].rstrip(",") + "}")["constants"]
    names = constants["logEventTypes"]
    kept = {
        "logEventTypes": {name: number for name, number in names.items() if name in EVENTS},
        "logEventPhase": constants["logEventPhase"],
        "netError": constants["netError"],
    }
    wanted = tuple(f'"type":{number}}}' for number in kept["logEventTypes"].values())
    events = [line for line in lines[2:] if line.rstrip(",]").endswith(wanted)]
    return [json.dumps({"constants": kept})[:-1] + ",", lines[1], *events]


def list_sent(web: Any) -> list[tuple[Any, ...]]:
    began = (response for response in web.log.responses if response.wire_bytes)
    return [
        (exchange.method, exchange.host, exchange.path, exchange.wire_bytes, exchange.body_bytes)
        for exchange in began
    ]


def save(name: str, lines: list[str], sent: list[tuple[Any, ...]]) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text, mtime=0))
    (FOLDER / f"{name}.sent.json").write_text(json.dumps(sorted(sent), indent=1) + "\n")


async def main() -> None:
    for protocol, name in PAGES:
        async with ZooWeb(handlers(protocol), protocol=protocol) as zoo:
            scheme = "http" if protocol == "h1" else "https"
            lines = await record(zoo, f"{scheme}://{name}.test/", quic=protocol == "h3")
            save(f"{protocol}-{name}", lines, list_sent(zoo))
    for mode in (Mode.H1TLS, Mode.H2):
        smallest = min(load_bundled(), key=lambda page: page.body_bytes)
        async with LocalWeb(choose(load_bundled(), smallest.site), mode=mode) as web:
            lines = await record(web, f"https://{web.sites[0]}/")
            save(mode.value, lines, list_sent(web))
    async with ZooWeb(HOSTS, protocol="h3", path=Path(late=7, lost=25)) as quic:
        lines = await record(quic, f"https://{HOST}/", quic=True)
        save("h3", lines, list_sent(quic))
        connections = [dataclasses.asdict(connection) for connection in quic.log.connections]
        (FOLDER / "h3.connections.json").write_text(json.dumps(connections, indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(main())

"""Records the logs that test_fold.py folds: `python -m tests.crawler.record`, by hand, when Chromium's log changes.

Of each log only the events that the fold wants are kept, and of its constants only their names.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from crawler.fold import HANDLERS
from firstflight.localweb.modes import Mode
from firstflight.localweb.recipes import bundled, choose
from firstflight.localweb.server import LocalWeb
from firstflight.settings import from_environment
from tests.web.raw import RawWeb
from tests.web.zoo import PREFLIGHTS, ZOO

FOLDER = Path(__file__).parent / "logs"


async def record(web: Any, url: str) -> list[str]:
    """The log of one page load."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.json"
        flags = [
            *web.browser_flags,
            f"--log-net-log={log}",
            "--net-log-capture-mode=Everything",
            "--disable-quic",
        ]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=from_environment().chromium, args=flags
            )
            page = await browser.new_page()
            await page.goto(url)
            await page.wait_for_timeout(1500)
            await browser.close()
        return stripped(log.read_text(encoding="utf-8").splitlines())


def stripped(lines: list[str]) -> list[str]:
    """The constants that are needed and the events that are wanted."""
    constants = json.loads(lines[0].rstrip(",") + "}")["constants"]
    names = constants["logEventTypes"]
    kept = {
        "logEventTypes": {name: number for name, number in names.items() if name in HANDLERS},
        "logEventPhase": constants["logEventPhase"],
        "netError": constants["netError"],
    }
    wanted = tuple(f'"type":{number}}}' for number in kept["logEventTypes"].values())
    events = [line for line in lines[2:] if line.rstrip(",]").endswith(wanted)]
    return [json.dumps({"constants": kept})[:-1] + ",", lines[1], *events]


def save(name: str, lines: list[str], sent: list[tuple[Any, ...]]) -> None:
    """A log, and beside it what the server says it sent."""
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text, mtime=0))
    (FOLDER / f"{name}.sent.json").write_text(json.dumps(sorted(sent), indent=1) + "\n")


async def main() -> None:
    """The zoo in the clear, and a small page over TLS and H2."""
    async with RawWeb(ZOO, PREFLIGHTS) as zoo:
        lines = await record(zoo, "http://zoo.test/")
        save("zoo", lines, zoo.sent)
    for mode in (Mode.H1TLS, Mode.H2):
        smallest = min(bundled(), key=lambda page: page.body_bytes)
        async with LocalWeb(choose(bundled(), smallest.site), mode=mode) as web:
            lines = await record(web, f"https://{web.sites[0]}/")
            sent = [(r.method, r.host, r.path, r.wire_bytes, r.body_bytes) for r in web.log.responses]
            save(mode.value, lines, sent)


if __name__ == "__main__":
    asyncio.run(main())

"""Drives the browser by Playwright as the crawler does, over the same pages, without recording.

python -m benchmarks.bare JOB.json DONE.json
"""

import asyncio
import collections
import json
import os
import sys
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from crawler.browser.browser import QUIET_FLAGS

TIMEOUT_S = 120
"""Timeout of a page, as long as for the other tools:
a busy machine should give a slow sample rather than none."""


async def browse(job: dict[str, Any]) -> int:
    """Load all pages, each until its network has been idle for 0.5 s after its load event;
    returns how many had one."""
    urls = collections.deque(job["urls"])
    done = 0

    async def browse_page() -> None:
        nonlocal done
        browser = await playwright.chromium.launch(
            executable_path=job["browser"],
            args=[*QUIET_FLAGS, *job["flags"]],
            chromium_sandbox=os.geteuid() != 0,
        )
        while urls:
            url = urls.popleft()
            context = await browser.new_context(accept_downloads=False)
            page = await context.new_page()
            response = await page.goto(url, wait_until="load", timeout=TIMEOUT_S * 1000)
            await page.wait_for_load_state("networkidle", timeout=TIMEOUT_S * 1000)
            done += response is not None and response.ok
            await context.close()
        await browser.close()

    async with async_playwright() as playwright, asyncio.TaskGroup() as group:
        for _ in range(job["browsers"]):
            group.create_task(browse_page())
    return done


def main(job_file: str, done_file: str) -> None:
    done = asyncio.run(browse(json.loads(Path(job_file).read_text(encoding="utf-8"))))
    Path(done_file).write_text(json.dumps({"pages": done}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])

"""Loads a page with a browser in its box, and prints as JSON how its processes are confined.

Runs in namespaces that the test makes for it, as `attacked` does.
"""

import asyncio
import contextlib
import json
import sys
from typing import Any

from crawler.browser.browser import Browser
from crawler.egress.guard import AddressGuard, set_up_guard
from firstflight.settings import from_environment
from tests.crawler.box.attacked import uplink
from tests.crawler.box.confinement import list_confined, ourselves


async def looked_at(guard: AddressGuard | None) -> list[dict[str, Any]]:
    async with Browser.launch(from_environment().chromium, guard=guard) as browser:
        context = await browser.context()
        page = await context.new_page()
        await page.goto("data:text/html,<title>a page")
        result = list_confined(browser.pid)
        await context.close()
        return result


def play(*, with_guard: bool) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        if with_guard:
            uplink()
        guard = stack.enter_context(set_up_guard()) if with_guard else None
        return {
            "processes": asyncio.run(looked_at(guard)),
            "crawler": ourselves(),
            "network": guard.namespace if guard else ourselves()["namespaces"]["net"],
        }


if __name__ == "__main__":
    print(json.dumps(play(with_guard=sys.argv[1] == "guarded")))

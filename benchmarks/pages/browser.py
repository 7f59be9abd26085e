"""The service's pages in Chromium, without a socket:
the application answers the browser's requests in this process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, sync_playwright

from benchmarks.pages.addresses import AS_A_BROWSER
from firstflight.settings import from_environment

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

ORIGIN = "http://firstflight.test"
"""Origin from which the browser asks for the service's pages."""

SIZES: dict[int, Any] = {
    1280: {"width": 1280, "height": 900},
    390: {"width": 390, "height": 844},
}
"""Viewports by their width in CSS pixels: of a desk and of a phone."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


WITHIN_MS = 120_000
"""Time limit of every wait on a page, long enough for a busy machine."""

OF_THE_PAGE = ("Failed to load resource", "The Cross-Origin-Opener-Policy header has been ignored")
"""Beginnings of errors that a page may have itself: its own status, and an origin without TLS."""


class Faulty(Exception):
    """A page asked another origin for something, or caused an error in the browser's console."""


@contextlib.contextmanager
def launch_browser() -> Iterator[Browser]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=from_environment().chromium, args=arguments)
        with contextlib.closing(browser):
            yield browser


def _without_query(url: str) -> str:
    return url.partition("?")[0]


@contextlib.contextmanager
def open_page(
    browser: Browser | BrowserContext, client: TestClient, path: str, *, without: Collection[str] = ()
) -> Iterator[Page]:
    """Open a page of the service; raises Faulty if it asked for anything elsewhere, or has an error other
    than its own status.

    The browser is not given the headers that `without` names, in lower case.
    """
    faults: list[str] = []

    def answer(route: Route) -> None:
        url = route.request.url
        if not url.startswith(ORIGIN):
            faults.append(f"asked for {url}")
            route.abort()
            return
        accept = route.request.headers.get("accept", AS_A_BROWSER["Accept"])
        response = client.get(url.removeprefix(ORIGIN), headers={"Accept": accept})
        headers = {name: value for name, value in response.headers.items() if name not in without}
        route.fulfill(status=response.status_code, headers=headers, body=response.content)

    def note(message: ConsoleMessage) -> None:
        is_of_page = _without_query(message.location["url"]) == _without_query(ORIGIN + path)
        if message.type == "error" and not (is_of_page and message.text.startswith(OF_THE_PAGE)):
            faults.append(message.text)

    page = browser.new_page()
    page.set_default_timeout(WITHIN_MS)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", note)
    page.route(lambda url: not url.startswith("data:"), answer)
    try:
        page.goto(f"{ORIGIN}{path}", wait_until="load")
        yield page
    finally:
        page.close()
    if faults:
        raise Faulty(f"{path}: {'; '.join(faults)}")

"""Paper shows the explorer's figure and numbers, without the form and the links to files."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from benchmarks.pages.browser import WITHIN_MS, open_page
from tests.api.explorer.conftest import MANY

pytestmark = pytest.mark.browser

PAPER_WIDTH = 690
"""Letter paper between margins of a centimetre and a half, in CSS pixels."""
CONTROLS = ("form", "button", ".files")


def test_the_printed_explorer_has_no_form_no_button_and_no_links_to_files(
    client_of_items: TestClient, browser: Browser
) -> None:
    with open_page(browser, client_of_items, "/explore") as page:
        shown = [page.locator(control).filter(visible=True) for control in CONTROLS]
        for control in shown:
            expect(control).not_to_have_count(0, timeout=WITHIN_MS)
        page.emulate_media(media="print")
        for control in shown:
            expect(control).to_have_count(0, timeout=WITHIN_MS)
        for kept in ("#figure", "#numbers"):
            expect(page.locator(kept)).to_be_visible(timeout=WITHIN_MS)


def test_paper_cuts_no_table_off(client_of_items: TestClient, browser: Browser) -> None:
    four_windows = "/explore?measure=responses&iw=3&iw=10&iw=16&iw=30"
    for path in (four_windows, f"/releases/{MANY}/v1"):
        with open_page(browser, client_of_items, path) as page:
            page.set_viewport_size({"width": PAPER_WIDTH, "height": 1000})
            page.emulate_media(media="print")
            tables = page.locator(".wide")
            assert tables.count()
            for one in tables.all():
                assert one.evaluate("box => box.scrollWidth <= box.clientWidth"), path

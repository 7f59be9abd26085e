"""Paper shows the explorer's figure and numbers, without the form and the links to files."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from benchmarks.pages.browser import open_page
from tests.api.explorer.conftest import MANY

pytestmark = pytest.mark.browser

PAPER_WIDTH = 690
"""Letter paper between margins of a centimetre and a half, in CSS pixels."""
CONTROLS = ("form", "button", ".files")


def test_the_printed_explorer_has_no_form_no_button_and_no_links_to_files(
    client_of_items: TestClient, browser: Browser
) -> None:
    with open_page(browser, client_of_items, "/explore") as page:

        def visible(selector: str) -> bool:
            return any(one.is_visible() for one in page.locator(selector).all())

        page.locator("form.choice").wait_for()
        assert [visible(control) for control in CONTROLS] == [True, True, True]
        page.emulate_media(media="print")
        assert [visible(control) for control in CONTROLS] == [False, False, False]
        assert visible("#figure")
        assert visible("#numbers")


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

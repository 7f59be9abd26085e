"""The explorer's scripts in a browser, in the sizes of a desktop and a phone, and the page without them."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Locator, Page

from benchmarks.pages.browser import SIZES, Scheme, open_page
from tests.api.explorer.conftest import MANY
from tests.api.faults import WAYS

pytestmark = pytest.mark.browser

CRAWL = "2026-11.desktop.local.tcp.localweb"


def wait_for_width(page: Page) -> None:
    page.wait_for_function(
        "() => { const svg = document.querySelector('#figure .stage svg');"
        " return svg && Math.abs(svg.width.baseVal.value - svg.closest('figure').clientWidth) < 3; }"
    )


LEAVE = """
([x, y]) => document.elementFromPoint(x, y).dispatchEvent(new MouseEvent("mouseout", { bubbles: true }))
"""
"""JavaScript that lets a mouse leave what is drawn at a place."""


def middle(stage: Locator) -> tuple[float, float]:
    box = stage.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("form", ["cdf", "histogram"])
@pytest.mark.parametrize(("width", "scheme"), WAYS)
def test_a_figure_tells_its_values_at_the_pointer_and_at_arrow_keys(
    browser: Browser, client_of_items: TestClient, width: int, scheme: Scheme, form: str
) -> None:
    query = f"crawl={MANY}&measure=responses&by=protocol&iw=3,10&figure={form}"
    with open_page(browser, client_of_items, f"/explore?{query}") as page:
        page.set_viewport_size(SIZES[width])
        page.emulate_media(color_scheme=scheme)
        wait_for_width(page)
        stage = page.locator("#figure .stage")
        stage.wait_for()
        readout = stage.get_by_role("status")
        stage.focus()
        for _ in range(40):
            stage.press("ArrowRight")
            if readout.is_visible():
                break
        said = readout.inner_text()
        assert "B" in said, said
        edges = readout.bounding_box()
        assert edges is not None
        assert edges["x"] >= 0
        assert edges["x"] + edges["width"] <= width
        stage.press("Escape")
        assert readout.is_hidden()


def test_a_pointer_and_a_finger_are_told_the_value_of_every_curve(
    browser: Browser, client_of_items: TestClient
) -> None:
    query = f"crawl={MANY}&measure=responses&by=protocol&iw=3,10"
    with (
        browser.new_context(has_touch=True) as context,
        open_page(context, client_of_items, f"/explore?{query}") as page,
    ):
        stage = page.locator("#figure .stage")
        stage.wait_for()
        readout = stage.get_by_role("status")
        wait_for_width(page)
        stage.scroll_into_view_if_needed()
        page.mouse.move(*middle(stage))
        readout.wait_for()
        assert {"HTTP/2", "HTTP/1.1"} <= set(readout.inner_text().split())
        page.mouse.move(1, 1)
        readout.wait_for(state="hidden")
        page.touchscreen.tap(*middle(stage))
        readout.wait_for()
        # Browsers send this after a finger, at a time of their own.
        page.evaluate(LEAVE, middle(stage))
        assert readout.is_visible()
        assert {"HTTP/2", "HTTP/1.1"} <= set(readout.inner_text().split())


def test_the_explorer_shows_a_choice_at_once_and_keeps_its_address(
    browser: Browser, client: TestClient
) -> None:
    path = f"/explore?crawl={CRAWL}&measure=pages"
    with open_page(browser, client, path) as page:
        page.get_by_role("checkbox", name="all responses", exact=True).check()
        page.get_by_role("heading", name="all responses and pages", exact=True).wait_for()
        assert "measure=responses&measure=pages" in page.url
        page.get_by_role("combobox", name="Add a release").fill("2026-11.mobile.local.tcp.web")
        page.get_by_role("combobox", name="Add a release").press("Enter")
        page.get_by_role("checkbox", name="2026-11.mobile").wait_for()
        page.locator("#figure .stage").get_by_text("mobile, web, version 1, pages").first.wait_for()
        with page.expect_event("load"):  # the choice before is loaded anew
            page.evaluate("history.back()")
        assert page.get_by_role("checkbox", name="2026-11.mobile").count() == 0


def test_the_embedded_figure_is_drawn_within_a_page_of_another_site(
    browser: Browser, client: TestClient
) -> None:
    with open_page(browser, client, f"/explore/embed?crawl={CRAWL}&measure=responses") as page:
        page.locator(".stage svg").wait_for()
        assert page.get_by_role("link", name="Explore").get_attribute("target") == "_blank"


def test_the_explorers_form_works_from_the_keyboard_and_without_scripts(
    browser: Browser, client: TestClient
) -> None:
    with (
        browser.new_context(java_script_enabled=False) as context,
        open_page(context, client, f"/explore?crawl={CRAWL}&measure=pages") as page,
    ):
        page.get_by_role("checkbox", name="all responses", exact=True).press("Space")
        page.get_by_role("textbox", name="Segments").fill("4, 40")
        page.get_by_role("textbox", name="Segments").press("Enter")
        page.wait_for_url("**iw=4*")
        assert page.get_by_role("columnheader", name="IW 40").count() == 1
        assert page.get_by_role("img", name="fit into 4 segments").is_visible()

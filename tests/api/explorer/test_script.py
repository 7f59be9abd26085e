"""The explorer's script in a browser, in the sizes of a desktop and of a phone, and the page without it."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from benchmarks.pages.browser import SIZES, Scheme, launch_browser, open_page
from releases.formatting import NARROW

pytestmark = pytest.mark.browser

CRAWL = "2026-11.desktop.local.tcp.localweb"
WAYS: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (390, "dark"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launch_browser() as browser:
        yield browser


def test_the_explorers_figure_answers_to_the_pointer_and_to_arrow_keys(
    browser: Browser, client: TestClient
) -> None:
    query = f"crawl={CRAWL}&measure=responses&measure=pages&iw=3,10"
    for width, scheme in WAYS:
        with open_page(browser, client, f"/explore?{query}") as page:
            page.set_viewport_size(SIZES[width])
            page.emulate_media(color_scheme=scheme)
            figure = page.get_by_role("group", name="Figure")
            panel = figure.locator("g[data-measure=responses]")
            window = panel.locator("line.mark").nth(1)
            box = window.bounding_box()
            assert box is not None
            page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
            readout = figure.get_by_role("status")
            assert "IW 10" in readout.inner_text()
            assert f"50.0{NARROW}%" in readout.inner_text()
            assert figure.locator(".hair[visibility=visible]").count() == 2
            edges = readout.bounding_box()
            assert edges is not None
            assert edges["x"] >= 0
            assert edges["x"] + edges["width"] <= width
            figure.focus()
            for _ in range(3):
                figure.press("ArrowLeft")
            assert "IW 10" not in readout.inner_text()
            figure.press("Escape")
            assert readout.is_hidden()


def test_the_explorer_shows_a_choice_at_once_and_keeps_its_address(
    browser: Browser, client: TestClient
) -> None:
    path = f"/explore?crawl={CRAWL}&measure=pages"
    with open_page(browser, client, path) as page:
        page.get_by_role("checkbox", name="responses", exact=True).check()
        page.get_by_role("heading", name="responses", exact=True).wait_for()
        assert page.url.endswith("measure=responses&measure=pages&page_kind=home&iw=3%2C+10%2C+16&mss=1430")
        page.get_by_role("combobox", name="Add a release").fill("2026-11.mobile.local.tcp.web")
        page.get_by_role("combobox", name="Add a release").press("Enter")
        page.get_by_role("checkbox", name="2026-11.mobile").wait_for()
        page.locator("g[data-measure=responses] path.c1").wait_for()
        with page.expect_event("load"):  # the choice before is loaded anew
            page.evaluate("history.back()")
        assert page.get_by_role("checkbox", name="2026-11.mobile").count() == 0


def test_the_explorer_says_what_is_wrong_with_a_choice_and_keeps_the_figure(
    browser: Browser, client: TestClient
) -> None:
    with open_page(browser, client, f"/explore?crawl={CRAWL}&measure=pages") as page:
        page.get_by_role("textbox", name="Segments").fill("ten")
        page.get_by_role("textbox", name="Segments").press("Enter")
        page.get_by_text("'ten' is no whole number").wait_for()
        assert page.locator("g[data-measure=pages]").is_visible()


def test_the_explorers_form_works_from_the_keyboard_and_without_scripts(
    browser: Browser, client: TestClient
) -> None:
    with (
        browser.new_context(java_script_enabled=False) as context,
        open_page(context, client, f"/explore?crawl={CRAWL}&measure=pages") as page,
    ):
        page.get_by_role("checkbox", name="responses", exact=True).press("Space")
        page.get_by_role("textbox", name="Segments").fill("4, 40")
        page.get_by_role("textbox", name="Segments").press("Enter")
        page.wait_for_url("**iw=4*")
        assert page.get_by_role("columnheader", name="IW 40").count() == 2  # of two measures
        assert page.get_by_role("img", name="CDFs of sizes").is_visible()

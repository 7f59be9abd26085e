"""Each control of the explorer changes the figure, in both colour schemes, at a desk and on a phone;
what cannot be shown is said where the reader looks."""

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page

from api.explorer.strata import FIELDS
from benchmarks.pages.browser import SCHEMES, SIZES, Faulty, Scheme, open_page
from tests.api.explorer.conftest import MANY, ONE

pytestmark = pytest.mark.browser

ADD = "Add a release"
START = f"/explore?crawl={MANY}&measure=responses"


def add(page: Page) -> None:
    page.get_by_role("combobox", name=ADD).fill(ONE)
    page.get_by_role("combobox", name=ADD).press("Enter")


def choose(label: str, value: str) -> Callable[[Page], Any]:
    return lambda page: page.get_by_role("combobox", name=label, exact=True).select_option(value)


def write(label: str, text: str) -> Callable[[Page], Any]:
    def act(page: Page) -> None:
        page.locator("form.choice").get_by_label(label).fill(text)
        page.locator("form.choice").get_by_label(label).blur()

    return act


def tick(name: str) -> Callable[[Page], Any]:
    return lambda page: page.get_by_role("checkbox", name=name, exact=True).click()


def show(page: Page) -> None:
    """Choose what no event tells of, and press the button."""
    page.evaluate("document.querySelector('[name=iw]').value = '4, 44'")
    page.get_by_role("button", name="Show", exact=True).click()


CHANGES: dict[str, Callable[[Page], Any]] = {
    ADD: add,
    "a release": tick(ONE),
    "a measure": tick("pages"),
    "a measure without a known size": tick("hosts of a page"),
    "Ranks": choose("Ranks", "1000"),
    "Type of response": choose("Type of response", "image"),
    "Party": choose("Party", "first"),
    "Protocol": choose("Protocol", "h2"),
    "all protocols": choose("Protocol", ""),
    "Segments": write("Segments", "5, 50"),
    "Bytes each": write("Bytes each", "1220"),
    "Show": show,
    "Compare by": choose("Compare by", "rank_stratum"),
    "Figure": choose("Figure", "histogram"),
    "Kind of page": choose("Kind of page", "inner"),
}

CONTROLS = (
    "[...document.querySelectorAll('form.choice :is(input, select, button)')]"
    ".map(one => one.name || one.innerText)"
)


FIGURE = """before => {
    const drawn = document.querySelector("#figure .stage svg");
    return drawn && !document.querySelector(".stale") && drawn.outerHTML !== before && drawn.outerHTML;
}"""
"""JavaScript that gives the figure that answers to the pointer, if it is of the newest choice and not the one before."""  # noqa: E501


def wait_for_figure(page: Page, *, other_than: str = "") -> str:
    """The figure that answers to the pointer, once it differs from `other_than`."""
    return str(page.wait_for_function(FIGURE, arg=other_than).json_value())


def errors(page: Page) -> list[str]:
    return [text for text in page.get_by_role("alert").all_inner_texts() if text]


@pytest.mark.parametrize(("width", "scheme"), tuple(itertools.product(SIZES, SCHEMES)))
def test_each_control_changes_the_figure_and_no_error_is_said(
    browser: Browser, client_of_items: TestClient, width: int, scheme: Scheme
) -> None:
    with open_page(browser, client_of_items, START) as page:
        page.set_viewport_size(SIZES[width])
        page.emulate_media(color_scheme=scheme)
        figure = wait_for_figure(page)
        for name, change in CHANGES.items():
            change(page)
            figure = wait_for_figure(page, other_than=figure)
            # The script begins again after 200 ms with a figure whose width changed.
            page.wait_for_timeout(300)
            assert wait_for_figure(page) == figure, name
            assert errors(page) == [], name


def test_every_control_of_the_form_is_among_those_that_are_changed(
    browser: Browser, client_of_items: TestClient
) -> None:
    of_controls = {"by", "figure", "crawl", "measure", *(field.name for field in FIELDS), "iw", "mss", "Show"}
    with open_page(browser, client_of_items, START) as page:
        wait_for_figure(page)
        assert set(page.evaluate(CONTROLS)) == of_controls
    others = {"a release", "a measure without a known size", "all protocols"}
    assert len(CHANGES) == len(of_controls) + len(others)


def test_a_figure_is_drawn_for_another_width_also_while_a_choice_is_made(
    browser: Browser, client_of_items: TestClient
) -> None:
    with open_page(browser, client_of_items, START) as page:
        figure = wait_for_figure(page)
        for width in (700, 900, 1100):
            page.set_viewport_size({"width": width, "height": 800})
            page.locator("form.choice").get_by_label("Segments").fill(f"{width // 100}, 50")
            page.locator("form.choice").get_by_label("Segments").press("Enter")
            figure = wait_for_figure(page, other_than=figure)
        page.wait_for_timeout(500)
        drawn, shown = page.evaluate(
            "(svg => [svg.width.baseVal.value, svg.closest('figure').clientWidth])"
            "(document.querySelector('.stage svg'))"
        )
        assert drawn == pytest.approx(shown, abs=1)
        assert errors(page) == []


@pytest.mark.parametrize("width", SIZES)
def test_an_error_stands_above_where_the_figure_was_and_marks_its_control(
    browser: Browser, client_of_items: TestClient, width: int
) -> None:
    with open_page(browser, client_of_items, START) as page:
        page.set_viewport_size(SIZES[width])
        figure = wait_for_figure(page)
        for label, wrong, right, message in (
            ("Segments", "ten", "10", "'ten' is no whole number"),
            (ADD, "1999-01", "", "1999-01"),
        ):
            control = page.locator("form.choice").get_by_label(label)
            control.fill(wrong)
            control.press("Enter")
            alert = page.get_by_role("alert").filter(has_text=message)
            alert.wait_for()
            assert (control.get_attribute("aria-invalid"), alert.count()) == ("true", 1)
            box = alert.bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= SIZES[width]["height"] - box["height"]
            assert page.locator("#figure").is_hidden()
            control.fill(right)
            control.press("Enter")
            page.locator("#figure").wait_for()
            wait_for_figure(page)
            assert (errors(page), control.get_attribute("aria-invalid")) == ([], None)
        assert wait_for_figure(page) != figure


def test_a_service_that_is_gone_is_said_at_the_control_and_asked_again_by_show(
    browser: Browser, client_of_items: TestClient
) -> None:
    with open_page(browser, client_of_items, START) as page:
        figure = wait_for_figure(page)
        page.route("**/explore?*", lambda route: route.abort())
        page.get_by_role("checkbox", name="pages", exact=True).check()
        page.get_by_role("alert").filter(has_text="does not answer").wait_for()
        page.unroute("**/explore?*")
        page.get_by_role("button", name="Show", exact=True).click()
        assert "pages" in wait_for_figure(page, other_than=figure)
        assert errors(page) == []


def test_an_added_release_leaves_the_focus_where_it_was(
    browser: Browser, client_of_items: TestClient
) -> None:
    focused = "document.activeElement.labels[0].innerText.trim() + document.activeElement.value"
    with open_page(browser, client_of_items, START) as page:
        figure = wait_for_figure(page)
        add(page)
        figure = wait_for_figure(page, other_than=figure)
        assert page.evaluate(focused) == ADD
        page.get_by_role("checkbox", name=ONE).press("Space")
        wait_for_figure(page, other_than=figure)
        assert page.evaluate(focused) == ADD


def test_a_link_within_the_page_does_not_load_it_anew(browser: Browser, client_of_items: TestClient) -> None:
    with open_page(browser, client_of_items, START) as page:
        figure = wait_for_figure(page)
        add(page)
        figure = wait_for_figure(page, other_than=figure)
        loads: list[str] = []
        page.on("load", lambda _: loads.append(page.url))
        page.get_by_role("link", name="To the content").press("Enter")
        page.wait_for_url("**#main")
        page.wait_for_timeout(300)
        assert (loads, wait_for_figure(page)) == ([], figure)


def test_a_figure_that_cannot_be_drawn_stays_a_picture_and_says_so_above_it(
    browser: Browser, client_of_items: TestClient
) -> None:
    # The console has the request that failed.
    with contextlib.suppress(Faulty), open_page(browser, client_of_items, START) as page:
        wait_for_figure(page)
        page.route("**/explore.json?*", lambda route: route.abort())
        page.get_by_role("checkbox", name="pages", exact=True).check()
        alert = page.get_by_role("alert").filter(has_text="stays a drawing: the service does not answer")
        alert.wait_for()
        above, picture = alert.bounding_box(), page.locator("#figure picture img").bounding_box()
        assert above is not None
        assert picture is not None
        assert above["y"] + above["height"] <= picture["y"]

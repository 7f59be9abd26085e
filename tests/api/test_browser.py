"""The pages in a real browser, in the sizes of a desktop and of a phone."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from api.contact import Contact
from releases.formatting import NARROW
from schema.computed_tables import MEASURES
from tests.circles import ALL
from tests.firstflight.commands.served import served

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("FIRSTFLIGHT_CHROMIUM", "/usr/lib/chromium/chromium-headless-shell")
CRAWL = "2026-11.desktop.local.tcp.localweb"
CONTACT = Contact(url="https://sizes.test/about-the-crawler", email="crawl@sizes.test")
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def address(made_up_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(made_up_library),
        "FIRSTFLIGHT_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "FIRSTFLIGHT_CONTACT_URL": str(CONTACT.url),
        "FIRSTFLIGHT_CONTACT_EMAIL": str(CONTACT.email),
    }
    with served(environment) as address:
        yield address.rstrip("/")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        sync_playwright() as playwright,
        contextlib.closing(playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)) as browser,
    ):
        yield browser


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, size: str, scheme: str) -> Iterator[Page]:
    """Open `url` at one size; afterwards check for console errors,
    sideways scrolling and external requests."""
    page = browser.new_page(viewport=SIZES[size], color_scheme=scheme)  # type: ignore[arg-type]
    errors: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    answer = page.goto(url, wait_until="load")
    assert answer is not None
    assert answer.status == 200
    yield page
    wide, shown = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    origin = url.split("/", 3)[2]
    page.close()
    assert errors == []
    assert wide <= shown
    assert {asked_url.split("/", 3)[2] for asked_url in asked} == {origin}


def contrast(page: Page) -> float:
    """Contrast of the body's text with its background (WCAG 2 relative luminance)."""

    def luminance(colour: str) -> float:
        channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        red, green, blue = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    text, ground = page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    dark, light = sorted([luminance(text), luminance(ground)])
    return (light + 0.05) / (dark + 0.05)


def test_the_pages_show_their_content_on_a_desk_and_on_a_phone_by_day_and_by_night(
    browser: Browser, address: str
) -> None:
    ways = [("desk", "light"), ("phone", "dark"), ("desk", "dark"), ("phone", "light")]
    for size, scheme in ways if ALL else ways[:2]:
        with opened(browser, f"{address}/", size=size, scheme=scheme) as page:
            assert page.get_by_role("heading", name="How much of the web fits").is_visible()
            shares = page.locator(".tiles dd").all_inner_texts()
            assert shares[:2] == [f"25.0{NARROW}%", f"50.0{NARROW}%"]
            assert page.get_by_role("link", name="2026", exact=True).is_visible()
            assert contrast(page) > 7
            bar = page.get_by_role("progressbar")
            assert bar.evaluate("bar => bar.value / bar.max") == 0.25
            assert page.get_by_text("about 4 h 20 min left").is_visible()
        with opened(browser, f"{address}/releases/{CRAWL}", size=size, scheme=scheme) as page:
            assert page.get_by_text("Illustrative.", exact=True).is_visible()
            figure = page.get_by_role("img", name="CDF of responses", exact=True)
            box = figure.bounding_box()
            assert box is not None
            assert box["width"] > 250
            figure.scroll_into_view_if_needed()
            page.wait_for_function("image => image.naturalWidth === 360", arg=figure.element_handle())
            assert page.get_by_role("link", name="distribution.parquet").is_visible()
        with opened(browser, f"{address}/reports/2026", size=size, scheme=scheme) as page:
            assert page.url == f"{address}/reports/2026/v1/"
            assert (
                page.get_by_role("complementary", name="Version of this report")
                .get_by_text("the newest")
                .is_visible()
            )
            heading = page.get_by_role("heading", name="Report of 2026")
            assert heading.evaluate("h => getComputedStyle(h).color") == "rgb(0, 128, 0)"
        with opened(browser, f"{address}/docs", size=size, scheme=scheme) as page:
            assert page.get_by_role("heading", name="API", exact=True).is_visible()
        with opened(browser, f"{address}/", size=size, scheme=scheme) as page:
            page.get_by_role("link", name="About the crawler").click()
            assert page.get_by_role("heading", name="To be left out").is_visible()
            assert page.get_by_role("link", name="crawl@sizes.test").is_visible()
            assert page.get_by_text("(+https://sizes.test/about-the-crawler)").is_visible()
            assert contrast(page) > 7


def test_the_explorers_figure_answers_to_the_pointer_and_to_arrow_keys(
    browser: Browser, address: str
) -> None:
    query = f"crawl={CRAWL}&measure=responses&measure=pages&iw=3,10"
    for size, scheme in [("desk", "light"), ("phone", "dark")]:
        with opened(browser, f"{address}/explore?{query}", size=size, scheme=scheme) as page:
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
            assert edges["x"] + edges["width"] <= SIZES[size]["width"]
            figure.focus()
            for _ in range(3):
                figure.press("ArrowLeft")
            assert "IW 10" not in readout.inner_text()
            figure.press("Escape")
            assert readout.is_hidden()


def test_the_explorer_shows_a_choice_at_once_and_keeps_its_address(browser: Browser, address: str) -> None:
    path = f"/explore?crawl={CRAWL}&measure=pages"
    with opened(browser, f"{address}{path}", size="desk", scheme="light") as page:
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
    browser: Browser, address: str
) -> None:
    with contextlib.closing(browser.new_page()) as page:
        page.goto(f"{address}/explore?crawl={CRAWL}&measure=pages")
        page.get_by_role("textbox", name="Segments").fill("ten")
        page.get_by_role("textbox", name="Segments").press("Enter")
        page.get_by_text("'ten' is no whole number").wait_for()
        assert page.locator("g[data-measure=pages]").is_visible()


def test_the_explorers_form_works_from_the_keyboard_and_without_scripts(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/explore?crawl={CRAWL}&measure=pages")
    page.get_by_role("checkbox", name="responses", exact=True).press("Space")
    page.get_by_role("textbox", name="Segments").fill("4, 40")
    page.get_by_role("textbox", name="Segments").press("Enter")
    page.wait_for_url("**iw=4*")
    assert page.get_by_role("columnheader", name="IW 40").count() == 2  # of two measures
    assert page.get_by_role("img", name="CDFs of sizes").is_visible()
    context.close()


def test_links_lead_from_the_home_page_to_the_numbers_of_a_distribution(
    browser: Browser, address: str
) -> None:
    with opened(browser, f"{address}/releases/{CRAWL}", size="desk", scheme="light") as page:
        page.get_by_role("link", name="firstflight").click()
        page.get_by_role("link", name="JSON").click()
        assert page.evaluate("JSON.parse(document.body.innerText).distributions.length") == len(MEASURES)

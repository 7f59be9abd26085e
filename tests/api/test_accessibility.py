"""No page of the service has a violation that axe-core finds, is wider than its screen,
has letters too small to read, or is heavy.

Pages are found from the routes, so that a new page is looked at without a line here.
"""

import contextlib
import dataclasses
import itertools
import re
import shutil
import time
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from benchmarks.pages.addresses import AS_A_BROWSER, NOWHERE, AddressError, find_addresses
from benchmarks.pages.browser import SCHEMES, SIZES, Faulty, open_page
from benchmarks.pages.loads import MOST_BYTES, REFERENCE, most_bytes
from releases.errata import record
from storage.report_versions import find_version, withdraw
from tests.api.conftest import write_release_with_items
from tests.api.faults import WAYS, unreadable, violations
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.circles import ALL
from tests.factories.contrast import contrast

WITH_ROWS = dataclasses.replace(NAME, month="2026-09")
"""A crawl whose release has the tables of its page loads."""

EXAMPLES = {
    "crawl": "2026-11.desktop.local.tcp.localweb",
    "year": "2026",
    "version": "1",
    "name": "index",
    "path": "style.css",
    "host": "site1.test",
    "/releases/{crawl}/v{version}/pages/{visit}": f"/releases/{WITH_ROWS}/v1/pages/1",
    "measure": "responses",
    "figure": "cdf",
    "/crawls/{crawl}": "/crawls/2026-12.desktop.local.tcp.web",
    "/documents/{name:path}": "/documents/forms",
}
TWO_DEVICES = "/explore?crawl=2026-11.desktop.local.tcp.localweb&crawl=2026-11.mobile.local.tcp.web"
OF_ITEMS = dataclasses.replace(NAME, month="2026-08")
"""A crawl whose release has the sites of its items, and so intervals."""

OTHERS = (
    "/crawls/2026-11.desktop.local.tcp.web",
    "/reports/2025/v1/",
    "/reports/2025/errata",
    TWO_DEVICES,
    "/reports/2026/v1/figures/cdf",
    "/documents/methods",
    "/documents/populations",
)
"""A page of a withdrawn version, the errata that tell of it, two crawls side by side,
and pages of what is cited."""

PART = re.compile(r'<(?:link rel="stylesheet" href|script[^>]* src)="([^"]+)"')

TEXT_AND_GROUND = "(body => [body.color, body.backgroundColor])(getComputedStyle(document.body))"
"""JavaScript that gives the colours of a page's text and of its background."""

REPORT = "/reports/2026/v1/"
"""The longest page, at which `scripts/test --all` alone looks by axe-core."""


@pytest.fixture
def service(client: TestClient, two: Path, whole_report: Path) -> TestClient:
    """The service with a whole report, a year with a withdrawn version, a release with rows,
    and an erratum."""
    write_crawl(two.parents[1] / "releases", WITH_ROWS, made_up())
    write_release_with_items(two.parents[1] / "releases", OF_ITEMS)
    crawl = EXAMPLES["crawl"]
    record(two.parents[1] / "releases", [crawl], wrong="too large", advice="wait", date="2027-04-01")
    withdraw(find_version(two.parent, 2025, 1), reason="the kernel was wrong", date="2027-04-01")
    shutil.rmtree(two.parent / "2026")
    shutil.copytree(whole_report, two.parent / "2026" / "v1")
    return client


def application(client: TestClient) -> FastAPI:
    assert isinstance(client.app, FastAPI)
    return client.app


@pytest.mark.browser
def test_no_page_has_a_fault_on_a_desk_or_a_phone_by_day_or_by_night(
    service: TestClient, browser: Browser
) -> None:
    found = {}
    paths = find_addresses(application(service), service, examples=EXAMPLES, others=OTHERS)
    assert REPORT in paths
    for place, path in enumerate(paths):
        # axe-core takes seconds for a long page.
        looked_at = WAYS if ALL else () if path == REPORT else WAYS[place % 2 :][:1]
        with open_page(browser, service, path) as page:
            for width, scheme in WAYS:
                page.set_viewport_size(SIZES[width])
                page.emulate_media(color_scheme=scheme)
                wrong = unreadable(page)
                if (width, scheme) in looked_at:
                    wrong += violations(page)
                if wrong:
                    found[path, width, scheme] = wrong
    assert found == {}


@pytest.mark.browser
@pytest.mark.parametrize("path", ["/", "/releases/2026-11.desktop.local.tcp.localweb", "/about-the-crawler"])
def test_text_stands_out_and_nothing_scrolls_sideways_on_the_narrowest_phone(
    service: TestClient, browser: Browser, path: str
) -> None:
    with open_page(browser, service, path) as page:
        for size, scheme in itertools.product((SIZES[1280], {"width": 360, "height": 740}), SCHEMES):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert contrast(*page.evaluate(TEXT_AND_GROUND)) > 7


@pytest.mark.browser
@pytest.mark.parametrize("path", [REPORT, REFERENCE])
def test_reports_and_the_reference_do_not_scroll_sideways_on_the_narrowest_phone(
    service: TestClient, browser: Browser, path: str
) -> None:
    with open_page(browser, service, path) as page:
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_page_is_heavier_than_its_bound_with_its_style_and_its_scripts(service: TestClient) -> None:
    def weight(path: str) -> int:
        answer = service.get(path, headers={**AS_A_BROWSER, "Accept-Encoding": "gzip"})
        return int(answer.headers["content-length"])

    weights = {}
    for path in find_addresses(application(service), service, examples=EXAMPLES, others=OTHERS):
        parts = set(PART.findall(service.get(path, headers=AS_A_BROWSER).text))
        parts |= {"/openapi.json"} if path == REFERENCE else set()
        weights[path] = weight(path) + sum(map(weight, parts))
    assert len(weights) > 15
    assert {path: size for path, size in weights.items() if size > most_bytes(path)} == {}
    assert weights[REFERENCE] > MOST_BYTES  # the program is counted


@pytest.mark.browser
def test_each_kind_of_fault_is_found(own_client: TestClient, browser: Browser) -> None:
    page_of_faults = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Faults</title></head><body><main>
        <h1>Faults</h1><img src="data:,"><svg width="50" viewBox="0 0 100 100"><text y="50" font-size="20">small</text></svg>
        <table width="2000"><tr><td>wide</td></tr></table><img src="/wide.svg" alt="" width="300"></main></body></html>"""  # noqa: E501
    application(own_client).add_api_route("/faults", lambda: HTMLResponse(page_of_faults))
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="9"/>'
    application(own_client).add_api_route(
        "/wide.svg", lambda: Response(drawing, media_type="image/svg+xml"), response_class=Response
    )
    # Its own styles and pictures break the policy of the service.
    with contextlib.suppress(Faulty), open_page(browser, own_client, "/faults") as page:
        page.set_viewport_size(SIZES[390])
        assert [violation.split(":")[0] for violation in violations(page)] == ["image-alt"]
        wide, small, shrunk = unreadable(page)
        assert wide.endswith("px wide on a screen of 390 px")
        assert small == "letters below 11 px: small: 10.0 px"
        assert shrunk == "a drawing is made smaller: /wide.svg: 900 px shown as 300"


@pytest.mark.browser
def test_an_error_of_a_page_in_the_console_is_found(own_client: TestClient, browser: Browser) -> None:
    page_of_errors = "<!doctype html><script>1</script>"
    application(own_client).add_api_route("/errors", lambda: HTMLResponse(page_of_errors))
    with pytest.raises(Faulty, match="Content Security Policy"), open_page(browser, own_client, "/errors"):
        pass


@pytest.mark.browser
def test_a_drawing_for_a_phone_that_comes_late_is_waited_for(
    own_client: TestClient, browser: Browser
) -> None:
    late = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Late</title>
        <meta name="viewport" content="width=device-width"><style>img { max-width: 100%; }</style></head><body>
        <picture><source media="(max-width: 40rem)" srcset="/drawing.svg?width=300"><img src="/drawing.svg?width=900" alt=""></picture>
        </body></html>"""  # noqa: E501

    def drawing(width: int) -> Response:
        time.sleep(0.5 if width == 300 else 0)
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="9"/>'
        return Response(svg, media_type="image/svg+xml")

    application(own_client).add_api_route("/late", lambda: HTMLResponse(late))
    application(own_client).add_api_route("/drawing.svg", drawing, response_class=Response)
    # Its own styles and pictures break the policy of the service.
    with contextlib.suppress(Faulty), open_page(browser, own_client, "/late") as page:
        assert unreadable(page) == []
        page.set_viewport_size(SIZES[390])
        assert unreadable(page) == []


def test_pages_are_found_from_the_routes(service: TestClient) -> None:
    app = application(service)
    found = find_addresses(app, service, examples=EXAMPLES)
    assert {
        "/",
        "/docs",
        "/problems",
        "/about-the-crawler",
        "/reports/2026/v1/",
        "/reports/2026/errata",
        "/sites/site1.test",
        f"/releases/{WITH_ROWS}/v1/pages/1",
        NOWHERE,
    } <= {*found}
    assert any(path.startswith("/releases/") for path in found)
    assert TWO_DEVICES in find_addresses(app, service, examples=EXAMPLES, others=OTHERS)
    app.add_api_route("/new", lambda: HTMLResponse("<p>new</p>"))
    assert {*find_addresses(app, service, examples=EXAMPLES)} - {*found} == {"/new"}
    app.add_api_route(
        "/hosts/{owner}", lambda owner: HTMLResponse("<p>host</p>"), response_class=HTMLResponse
    )
    with pytest.raises(AddressError, match=r"/hosts/\{owner\} needs an example of 'owner'"):
        find_addresses(app, service, examples=EXAMPLES)

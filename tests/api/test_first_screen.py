"""On a phone the answer of a report is read without scrolling, below the line on its version and all
warnings; the home page is of at most four screens, and the explorer's figure is in the first."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from benchmarks.pages.browser import open_page
from reports.document.render import render_html
from storage.report_versions import Publication
from storage.sums import manifest_of, seal
from tests.api.faults import LOADED
from tests.factories.answers import KINDS, bundled_facts, made_up_answer
from tests.factories.made_up_report import published
from tests.factories.published_report import SECOND, write_version
from verdict.judgement import Kind

pytestmark = pytest.mark.browser

PHONE: Any = {"width": 390, "height": 844}
LAPTOP: Any = {"width": 1280, "height": 800}
SCREENS = 4
HOME_BYTES = 60_000


@pytest.fixture(scope="module")
def content(made_up_report: Path) -> dict[str, Any]:
    text = (made_up_report / "reports/2026/v1/report.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@pytest.mark.parametrize("kind", KINDS)
def test_headline_sentence_and_limits_are_in_the_first_screen_of_a_phone(
    client: TestClient, data_dir: Path, browser: Browser, content: dict[str, Any], kind: Kind
) -> None:
    year = data_dir / "reports" / "2025"
    write_version(year, Publication(date="2026-01-15"))
    answer = made_up_answer(kind)
    report = dataclasses.replace(published(content), answer=answer, recorded_pages=bundled_facts())
    newest = write_version(year, SECOND)
    facts = manifest_of(newest)
    del facts["files"]
    (newest / "index.html").write_text(render_html(report, figures={}))
    seal(newest, facts)
    with open_page(browser, client, "/reports/2025/v2/") as page:
        page.set_viewport_size(PHONE)
        for part in (
            page.get_by_role("heading", name=answer.headline.replace("`", ""), exact=True),
            page.locator(".lead"),
            page.get_by_text("Recorded pages, not the live web: 591"),
        ):
            box = part.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < PHONE["height"]
        notice = page.get_by_role("complementary", name="Version of this report")
        assert "the newest" in notice.inner_text()
        assert str(SECOND.reason) not in notice.inner_text()
        assert notice.get_by_role("link", name="Versions and errata").is_visible()


def test_the_home_page_with_a_report_is_short_on_a_phone_and_light(
    client: TestClient, data_dir: Path, browser: Browser, whole_report: Path
) -> None:
    shutil.rmtree(data_dir / "reports" / "2026")
    shutil.copytree(whole_report, data_dir / "reports" / "2026" / "v1")
    with open_page(browser, client, "/") as page:
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREENS * PHONE["height"]
        page.wait_for_function(LOADED)
        drawings = "[...document.querySelectorAll('img')].map(image => new URL(image.currentSrc))"
        pictures = page.evaluate(f"{drawings}.map(url => url.pathname + url.search)")
    assert len(pictures) == 1
    parts = ["/", "/static/style.css", "/static/icon.svg", *pictures]
    assert sum(len(client.get(path).content) for path in parts) < HOME_BYTES


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_the_curve_that_answers_the_question_and_the_years_answer_are_in_the_first_screen(
    client: TestClient, data_dir: Path, browser: Browser, whole_report: Path, size: Any
) -> None:
    shutil.rmtree(data_dir / "reports" / "2026")
    shutil.copytree(whole_report, data_dir / "reports" / "2026" / "v1")
    with open_page(browser, client, "/") as page:
        page.set_viewport_size(size)
        page.wait_for_function(LOADED)
        curve, answer = (
            page.locator("figure img").first.bounding_box(),
            page.locator("#answer").bounding_box(),
        )
    assert curve is not None
    assert answer is not None
    assert curve["y"] + curve["height"] < size["height"]
    assert answer["y"] < size["height"]


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_most_of_the_explorers_figure_is_in_the_first_screen(
    client: TestClient, browser: Browser, size: Any
) -> None:
    with open_page(browser, client, "/explore?measure=responses") as page:
        page.set_viewport_size(size)
        box = page.locator("#figure").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] / 2 < size["height"]

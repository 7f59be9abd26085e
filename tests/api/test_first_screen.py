"""On a phone the answer of a report is read without scrolling,
below the line on its version and all warnings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from benchmarks.pages.browser import launched, opened
from reports.document.render import render_html
from storage.report_versions import Publication
from storage.sums import manifest_of, seal
from tests.factories.answers import HEADLINES, made_up_answer
from tests.factories.published_report import SECOND, write_version

pytestmark = pytest.mark.browser

PHONE: Any = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def content(made_up_report: Path) -> dict[str, Any]:
    text = (made_up_report / "reports/2026/v1/report.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.mark.parametrize("headline", HEADLINES)
def test_headline_sentence_and_limits_are_in_the_first_screen_of_a_phone(
    client: TestClient, data_dir: Path, browser: Browser, content: dict[str, Any], headline: str
) -> None:
    year = data_dir / "reports" / "2025"
    write_version(year, Publication(date="2026-01-15"))
    told = {**content, "answer": made_up_answer(headline), "recorded_pages": {}}
    newest = write_version(year, SECOND)
    facts = manifest_of(newest)
    del facts["files"]
    (newest / "index.html").write_text(render_html(json.loads(json.dumps(told)), figures={}))
    seal(newest, facts)
    with opened(browser, client, "/reports/2025/v2/") as page:
        page.set_viewport_size(PHONE)
        for part in (
            page.get_by_role("heading", name=headline, exact=True),
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

"""The brief says the answer of report.json and nothing else, on two pages; the slide has its picture."""

import copy
import html
import io
import re
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PIL import Image
from playwright.sync_api import Browser

from figures.frame import DESK, PHONE
from figures.rendering import svg
from releases.formatting import estimate, quantity
from reports.content import Published
from reports.document.plane import draw_plane
from reports.document.render import render_brief
from reports.forms.brief import Brief, brief_of, brief_pdf
from tests.api.faults import unreadable, violations
from tests.factories.made_up_report import poisoned, published
from tests.reports.document.test_render import HOSTILE, parsed

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

MOST_WORDS = 450


def plain(text: str) -> str:
    """The text with one plain space in place of each other white space."""
    return " ".join(text.split())


def pages_of(document: bytes) -> list[str]:
    return [plain(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(document)).pages]


def texts_of(drawing: str) -> str:
    return plain(" ".join(re.findall(r"<t(?:ext|span)[^>]*>([^<]*)", drawing)))


def test_the_brief_has_the_verdict_and_its_doubt_on_two_pages(built: Built) -> None:
    folder, content = built
    first, second = pages_of((folder / "forms" / "brief.pdf").read_bytes())
    page = (folder / "forms" / "brief.html").read_text().split("<body>")[1]
    page = plain(html.unescape(re.sub("<[^>]*>", "", page)))
    answer = content["answer"]
    for text in (first, page):
        assert plain(answer["headline"]) in text
        assert plain(answer["first_line"]) in text
        assert f"Confidence: {answer['confidence']['level']}." in text
    for heading in (
        "What a first flight saves and costs",
        "How sure, and why",
        "How to cite",
        "How to redo it",
    ):
        assert heading in page
        assert heading in second
    for command in content["redo"]:
        assert command.split()[-1] in second
    words = [word for word in f"{first} {second}".split() if re.search("[A-Za-z]", word)]
    assert len(words) <= MOST_WORDS


def test_each_number_of_the_brief_is_one_of_report_json(built: Built) -> None:
    _, content = built
    brief = brief_of(published(content))
    numbers = {number["id"]: number for number in content["answer"]["numbers"]}
    gain, resent, fits = brief.numbers
    assert (gain.value, gain.other) == (
        quantity(numbers["gain"]["value"], "%"),
        f"{quantity(numbers['milliseconds']['value'], 'ms')} a page",
    )
    assert resent.value == quantity(numbers["resent"]["value"], "pp", near=[0.0])
    assert float(resent.other.split()[0]) == pytest.approx(10 * numbers["resent"]["value"], abs=0.005)
    assert fits.value == quantity(numbers["fits"]["value"], "%")
    shares = [share for measure in content["sizes"]["measures"] for share in measure["shares"]]
    assert fits.other.split(" of ")[0] in {str(share["fitting"]) for share in shares if share["iw"] == 10}
    policies, round_trips = brief.tables
    tables = {table["id"]: table["rows"] for section in content["sections"] for table in section["tables"]}
    whole = [row for row in tables["policies"] if row["standing"] != "shown alone"]
    for short, row in zip(policies.rows, whole, strict=True):
        assert (short[0], short[-1]) == (row["policy"], row["standing"])
        for text, name in zip(short[1:6], ("gain", "gain_in_sum", "milliseconds", "resent"), strict=False):
            assert text == estimate(row[name]["estimate"], None, None)
    for short, row in zip(round_trips.rows, tables["round-trips"], strict=True):
        gains = [row[name]["estimate"] for name in row if name.endswith("-gain")]
        assert [cell.partition(" / ")[0] for cell in short[1:]] == [
            estimate(gain, None, None) for gain in gains
        ]


def test_the_plane_names_what_it_draws_and_what_it_leaves_out(built: Built) -> None:
    folder, content = built
    slide = (folder / "forms" / "slide.svg").read_text(encoding="utf-8")
    texts = texts_of(slide)
    for part in (
        "By the bundled pages, illustrative",
        "Per load",
        "In sum",
        "16 at once",
        "30 at once",
        "2010\u2019s own step: 0.088 pp sent again for each 1 % saved",
        "2010\u2019s own step: 0.059 pp sent again for each 1 % saved",
        "illustrative",
    ):
        assert part in texts
    assert "they save no time: 3 at once." in texts
    assert content["release"]["licence"] in texts
    assert re.search(r'<svg[^>]* width="960" height="540"', slide)
    with Image.open(folder / "forms" / "slide.png") as picture:
        assert picture.size == (1920, 1080)


def list_drawn(report: Published, brief: Brief) -> list[str]:
    return [svg(draw_plane(report, brief, width)) for width in (DESK, PHONE)]


def test_without_a_replay_the_brief_says_that_nothing_was_measured(built: Built) -> None:
    content = copy.deepcopy(built[1])
    sentence = "This report has sizes alone."
    numbers = [number for number in content["answer"]["numbers"] if number["id"] == "fits"]
    content["answer"] |= {"sentences": [sentence], "numbers": numbers}
    content |= {"verdict": None, "replay": None}
    report = published(content)
    brief = brief_of(report)
    assert brief.sentence == sentence
    assert brief.finding == "No larger first flight was loaded."
    assert (brief.tables, len(brief.numbers)) == ((), 1)
    wide, narrow = list_drawn(report, brief)
    assert "16 at once" not in texts_of(wide)
    assert "saves and costs" not in render_brief(brief, wide=wide, narrow=narrow)
    assert len(pages_of(brief_pdf(brief, figure=wide))) == 2


def test_hostile_strings_stay_text(built: Built) -> None:
    content = copy.deepcopy(built[1])
    for part in ("answer", "citation", "redo", "release", "crawl"):
        content[part] = poisoned(content[part], HOSTILE)
    for number in content["answer"]["numbers"]:
        number["id"] = number["id"].removesuffix(HOSTILE)
    recorded = {"recorded": HOSTILE, "source": HOSTILE + "\u202e", "commit": None}
    content["recorded_pages"] = {**recorded, "pages": 1, "requests": 1, "inferred": {}, "limits": []}
    content["verdict"]["sentences"] = [HOSTILE]
    for entry in (*content["verdict"]["groups"], *content["verdict"]["ledger"]):
        entry["title"] += HOSTILE
    report = published(content)
    brief = brief_of(report)
    wide, narrow = list_drawn(report, brief)
    page = render_brief(brief, wide=wide, narrow=narrow)
    assert not {name for name, _ in parsed(page).tags} & {"script", "img"}
    assert "\u202e" not in page
    assert page.count("&lt;script&gt;") >= 10
    assert "{{ 7 * 7 }}" in pages_of(brief_pdf(brief, figure=wide))[0]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_chromium_shows_the_brief_whole(built: Built, browser: Browser, width: int, scheme: Any) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.goto((built[0] / "forms" / "brief.html").as_uri())
    assert unreadable(tab) == []
    assert violations(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator("figure svg:visible").count() == 1

"""The report's page: it loads nothing, escapes hostile strings, and fits a narrow screen."""

import copy
import html.parser
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from releases.formatting import NARROW
from reports.document.render import render_html
from reports.forms.texts import report_markdown, summary_text
from reports.forms.typesetting import keep_unbroken
from tests.api.faults import unreadable, violations
from tests.circles import ALL
from tests.factories.contrast import contrast
from tests.factories.made_up_report import poisoned, published

pytestmark = pytest.mark.process


Built = tuple[Path, dict[str, Any]]

HOSTILE = '"><script>document.title="owned"</script><img src=x onerror=alert(1)>{{ 7 * 7 }}'


class Tags(html.parser.HTMLParser):
    """Collects tags with their attributes, and checks that they nest."""

    VOID = frozenset({"meta", "link", "br", "img", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    return tags


def test_the_page_loads_nothing_and_runs_nothing(built: Built) -> None:
    tags = parsed((built[0] / "index.html").read_text(encoding="utf-8"))
    names = {name for name, _ in tags.tags}
    assert not names & {"script", "img", "iframe", "object", "embed", "image", "use"}
    for name, attributes in tags.tags:
        assert not any(attribute.startswith("on") for attribute in attributes), name
        for attribute in ("src", "href", "xlink:href"):
            target = attributes.get(attribute)
            assert (
                target is None
                or target.startswith("#")
                or target == "data:,"
                or (name == "a" and target.startswith("https://"))
                or (built[0] / target).is_file()
            )


def test_a_page_has_few_words_and_few_figures(built: Built) -> None:
    """Words outside of data that are folded, those within figures included."""
    text = (built[0] / "index.html").read_text(encoding="utf-8").split("<body>")[1]
    text = re.sub(r'(?s)<details class="data".*?</details>', " ", text)
    words = [word for word in re.sub(r"<[^>]*>", " ", text).split() if any(map(str.isalnum, word))]
    assert len(words) <= 3_500
    assert text.count("<figure") <= 12


def test_hostile_strings_stay_text(built: Built) -> None:
    content = copy.deepcopy(built[1])
    for part in ("release", "crawl", "redo", "illustrative_because"):
        content[part] = poisoned(content[part], HOSTILE)
    content["replay"]["provenance"]["parameters"] = {HOSTILE: HOSTILE, "list": [HOSTILE]}
    content["replay"]["provenance"]["kernel"] = poisoned(content["replay"]["provenance"]["kernel"], HOSTILE)
    content["answer"] = poisoned(content["answer"], HOSTILE)
    content["sections"] = poisoned(content["sections"], HOSTILE)
    content["citation"] = poisoned(content["citation"], HOSTILE)
    content["crawl"]["outcomes"] = {HOSTILE: 1}
    text = render_html(published(content), figures={})
    tags = parsed(text)
    assert not {name for name, _ in tags.tags} & {"script", "img"}
    assert text.count("&lt;script&gt;") >= 20
    assert "{{ 7 * 7 }}" in text


def test_the_audit_by_packets_is_stated_where_the_release_has_one(built: Built) -> None:
    content = copy.deepcopy(built[1])
    counts = {
        "connections": 400,
        "agreeing_connections": 399,
        "received_bytes": 10_000,
        "agreeing_bytes": 9_000,
    }
    for packets, is_stated in ((dict.fromkeys(counts, 0), False), (counts, True)):
        content["release"]["packets"] = packets
        text = render_html(published(content), figures={}).replace(NARROW, " ")
        assert (
            "equal on 99.7 % of 400 connections that were captured whole, and on 90.0 % of their bytes"
            in text
        ) is is_stated
        assert ("and by captured packets:" in text) is is_stated


def test_a_name_cannot_hide_its_direction_or_its_controls(built: Built) -> None:
    content = copy.deepcopy(built[1])
    content["release"]["browser"] = "evil\u202emoc.knab\x1b[2J\u200b"
    assert "evil\ufffdmoc.knab\ufffd[2J\ufffd" in render_html(published(content), figures={})
    content["crawl"]["outcomes"] = {"evil\u202eko": 1}
    assert "1 evil\ufffdko" in render_html(published(content), figures={}).replace("\u00a0", " ")
    content["answer"]["sentences"] = ["\x1b]0;owned\x07 \u202e"]
    assert "\x1b" not in summary_text(published(content))
    assert not {"\x1b", "\u202e"} & set(report_markdown(published(content)))


def test_every_link_of_the_contents_has_its_place(built: Built) -> None:
    tags = parsed((built[0] / "index.html").read_text(encoding="utf-8"))
    places = {attributes["id"] for _, attributes in tags.tags if "id" in attributes}
    targets = {(attributes.get("href") or "")[1:] for name, attributes in tags.tags if name == "a"}
    assert {
        "policies",
        "sizes",
        "otherwise",
        "instrument",
        "method",
        "limits",
        "redo",
        "glossary",
    } <= places & targets


WIDER_THAN_THEIR_COLUMN = """
[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => one.getAttribute('aria-label'))
"""
A4_WIDTH = 658
"""Width of A4 within the page's margins, in CSS pixels."""


@pytest.mark.browser
def test_no_table_is_wider_than_its_column_on_paper(built: Built, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": A4_WIDTH, "height": 900})
    tab.emulate_media(media="print")
    tab.goto((built[0] / "index.html").as_uri())
    assert tab.evaluate(WIDER_THAN_THEIR_COLUMN) == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "dark"), (1280, "light"), *((390, "light"), (1280, "dark")) * ALL]
)
def test_chromium_shows_the_page_without_scrolling_sideways(
    built: Built, browser: Browser, width: int, scheme: Any
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((built[0] / "index.html").as_uri())
    assert tab.locator(".verdict").inner_text() == keep_unbroken(built[1]["answer"]["headline"])
    assert unreadable(tab) == []
    if (width == 1280) == (scheme == "light"):
        assert violations(tab) == []
    assert tab.evaluate(WIDER_THAN_THEIR_COLUMN) == []
    assert tab.locator("figure svg:visible").count() == sum(
        len(section["figures"]) for section in built[1]["sections"]
    )
    ground, label = tab.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('figure svg text')).fill]"
    )
    assert contrast(ground, label) >= 4.5
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []

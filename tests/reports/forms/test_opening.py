"""Every form of a report opens with what a server should do, for whom that differs and what was recorded, and
one that is open says in each what would load more."""

import dataclasses
import html
import re
from pathlib import Path
from typing import Any

import pytest
from altair.utils.schemapi import debug_mode

from figures.frame import DESK
from figures.rendering import svg
from releases.formatting import in_ascii
from reports.answer import Answer
from reports.document.plane import draw_plane
from reports.document.render import render_brief, render_html
from reports.forms.brief import brief_of
from reports.forms.draft import draft_xml
from reports.forms.texts import report_markdown, summary_text
from reports.publishing.edition import readme_of
from tests.factories.answers import KINDS, bundled_limits, made_up_answer
from tests.factories.made_up_report import published
from verdict.judgement import Kind

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]


def plain(text: str) -> str:
    """The letters, digits and points of a text: forms differ in markup, lines and kinds of spaces."""
    return re.sub(r"[^a-zA-Z0-9.]", "", in_ascii(html.unescape(text)))


def openings(content: dict[str, Any], answer: Answer) -> dict[str, str]:
    """What each form of the content with another answer shows before its first section, by its name."""
    report = dataclasses.replace(published(content), answer=answer)
    page = render_html(report, figures={})
    return {
        "report.md": report_markdown(report).split("| number |")[0],
        "summary.txt": summary_text(report),
        "page": re.sub("<[^>]*>", "", page.split("<main>")[0].split("<body>")[1])
        + re.sub("<[^>]*>", "", page.split("<main>")[1].split("</section>")[0]),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_opens_with_the_headline_what_follows_it_and_the_limits(built: Built, kind: Kind) -> None:
    answer = made_up_answer(kind)
    texts = openings(built[1], answer)
    for name, text in texts.items():
        for part in (answer.headline, *answer.sentences, bundled_limits(), answer.first_line or ""):
            assert plain(part).lower() in plain(text).lower(), (name, part)


def test_every_form_of_an_open_report_says_what_loads_more(built: Built) -> None:
    answer = made_up_answer("open")
    texts = openings(built[1], answer)
    for name, text in texts.items():
        assert answer.deciding is not None
        for part in (answer.deciding.what, answer.deciding.command):
            assert plain(part) in plain(text), (name, part)


@pytest.mark.parametrize("kind", KINDS)
def test_brief_slide_draft_and_edition_show_the_same_sentence(built: Built, kind: Kind) -> None:
    report = dataclasses.replace(published(built[1]), answer=made_up_answer(kind))
    brief = brief_of(report)
    with debug_mode(False):
        slide = svg(draw_plane(report, brief, DESK, is_slide=True))
    doors = {
        "brief": re.sub("<[^>]*>", "", render_brief(brief, wide="", narrow="").split("<body>")[1]),
        "slide": " ".join(re.findall(r"<t(?:ext|span)[^>]*>([^<]*)", slide)),
        "draft": re.sub("<[^>]*>", "", draft_xml(report)),
        "edition": readme_of(report, place="editions/2026", has_loads=False, earlier=()),
    }
    for name, text in doors.items():
        assert plain(report.answer.headline) in plain(text), name

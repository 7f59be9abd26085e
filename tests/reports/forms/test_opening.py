"""Every form of a report opens with what was recorded,
and one that is open says in each what would close it."""

import dataclasses
import html
import re
from pathlib import Path
from typing import Any

import pytest

from releases.formatting import in_ascii
from reports.answer import Answer
from reports.document.render import render_html
from reports.forms.texts import report_markdown, summary_text
from tests.factories.answers import WORLDS, bundled_limits, made_up_answer
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


@pytest.mark.parametrize("kind", WORLDS)
def test_every_form_opens_with_the_headline_its_sentence_and_the_limits(built: Built, kind: Kind) -> None:
    answer = made_up_answer(kind)
    texts = openings(built[1], answer)
    for name, text in texts.items():
        for part in (answer.headline, answer.sentence, bundled_limits(), answer.first_line or ""):
            assert plain(part).lower() in plain(text).lower(), (name, part)


def test_every_form_of_an_open_report_says_what_closes_it(built: Built) -> None:
    answer = made_up_answer("open")
    texts = openings(built[1], answer)
    for name, text in texts.items():
        assert answer.deciding is not None
        assert "IW 16 paced" in answer.deciding.what
        for part in (answer.deciding.what, answer.deciding.command):
            assert plain(part) in plain(text), (name, part)

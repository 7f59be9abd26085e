"""Every form of a report opens with what was recorded,
and one that is open says in each what would close it."""

import html
import re
from pathlib import Path
from typing import Any

import pypdf
import pytest

from releases.formatting import in_ascii
from reports.document.render import render_html
from reports.forms.summary_text import summary_text
from reports.forms.write import write_forms
from tests.factories.answers import HEADLINES, bundled_limits, made_up_answer

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]


def plain(text: str) -> str:
    """The letters, digits and points of a text: forms differ in markup, lines and kinds of spaces."""
    return re.sub(r"[^a-zA-Z0-9.]", "", in_ascii(html.unescape(text)))


def openings(folder: Path, content: dict[str, Any]) -> dict[str, str]:
    """What each form shows before its first section, by its name; of a draft, its introduction."""
    report = write_forms(folder, content, marks="recorded", charts={})
    texts = {
        name: (folder / name).read_text(encoding="utf-8")
        for name in ("report.md", "summary.md", "report.txt")
    }
    (draft,) = (folder / "draft").glob("*.md")
    page = render_html(content, figures={})
    pages = pypdf.PdfReader(folder / "report.pdf").pages
    return {
        **{name: text.split("firstflight report recompute")[0] for name, text in texts.items()},
        "summary.txt": summary_text(report).split("number  ")[0],
        "page": re.sub("<[^>]*>", "", page.split("<main>")[0].split("<body>")[1])
        + re.sub("<[^>]*>", "", page.split("<main>")[1].split("</section>")[0]),
        "PDF": pages[0].extract_text(),
        "draft for kramdown": draft.read_text(encoding="utf-8").split("--- middle")[1].split("# ")[1],
        "draft in RFCXML": re.sub(
            "<[^>]*>", "", draft.with_suffix(".xml").read_text(encoding="utf-8").split("</section>")[0]
        ),
    }


@pytest.mark.parametrize("headline", HEADLINES)
def test_every_form_opens_with_the_headline_its_sentence_and_the_limits(
    built: Built, tmp_path: Path, headline: str
) -> None:
    said = made_up_answer(headline)
    found = openings(tmp_path / "forms", {**built[1], "answer": said})
    for name, text in found.items():
        for part in (headline, said["sentence"], bundled_limits(), said["first_line"] or ""):
            assert plain(part).lower() in plain(text).lower(), (name, part)


def test_every_form_of_an_open_report_says_what_closes_it(built: Built, tmp_path: Path) -> None:
    said = made_up_answer("Open between IW 10 and IW 16 paced")
    found = openings(tmp_path / "forms", {**built[1], "answer": said})
    for name, text in found.items():
        assert "IW 16 paced" in said["deciding"]["what"]
        for part in (said["deciding"]["what"], said["deciding"]["command"]):
            assert plain(part) in plain(text), (name, part)

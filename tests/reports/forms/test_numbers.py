"""Every form of a report prints its numbers in one way: thin spaces, three significant digits,
en dashes, signs of SI."""

import dataclasses
import html
import re
from pathlib import Path
from typing import Any

import pypdf
import pytest

from releases.formatting import MINUS
from reports.forms.cells import cell
from reports.sections.shape import Column

pytestmark = pytest.mark.process

Built = tuple[Path, dict[str, Any]]

TYPESET = ("index.html", "forms/report.md")

UNTYPICAL = {
    "a comma between thousands": r"\d,\d{3}\b",
    "a power of ten": r"\d[eE][-+]?\d+\b",
    "a hyphen for a minus sign": r"(?<![^\s(])-\d",
    "a plain space between thousands": r"(?<![\d.])\d{1,3} \d{3}(?![\d.])",
    "a plain space before a unit": r"\d (?:%|pp|ms|kB|MB|Mbps)(?!\w)",
    "more than three significant digits of a measured share": r"(?<![\d.])[1-9]\d?\.\d{3,}(?= ?(?:%|pp|ms)(?!\w))",  # noqa: E501
}


def prose(text: str) -> str:
    """The text of a form without its commands, queries, checksums, links and style."""
    text = re.sub(
        r"(?s)<(style|svg|pre|script|code|dd)\b.*?</\1>|```.*?```|`[^`]*`|[0-9a-f]{64}|\([^()\s]*/[^()\s]*\)",
        "\n",
        text,
    )
    return html.unescape(re.sub(r"<[^>]*>", "\n", text))


@pytest.mark.parametrize("name", TYPESET)
@pytest.mark.parametrize("fault", UNTYPICAL)
def test_no_form_with_typography_has_an_untypical_number(built: Built, name: str, fault: str) -> None:
    text = prose((built[0] / name).read_text(encoding="utf-8"))
    assert re.findall(f".{{0,30}}(?:{UNTYPICAL[fault]}).{{0,20}}", text) == []


def test_no_line_of_the_page_or_the_brief_ends_between_a_number_and_its_name_or_what_it_counts(
    built: Built,
) -> None:
    page = prose((built[0] / "index.html").read_text(encoding="utf-8"))
    assert "IW\u00a010" in page
    assert re.findall(r".{0,30}(?:\b(?:IW|RFC) \d|\d segments).{0,20}", page) == []
    reader = pypdf.PdfReader(built[0] / "forms" / "brief.pdf")
    text = "\n".join(page.extract_text() for page in reader.pages)
    assert "10\u00a0segments" in text
    assert re.findall(r"\b(?:IW|RFC) ?\n\d|\d ?\nsegments", text) == []


def test_commands_queries_and_plain_forms_have_ordinary_spaces(built: Built) -> None:
    page = (built[0] / "index.html").read_text(encoding="utf-8")
    typed = re.findall(r"(?s)<pre>(.*?)</pre>", page)
    assert len(typed) >= 2
    assert [text for text in typed if "\u00a0" in text] == []
    for name in ("report.json", "summary.txt", "forms/index.json"):
        assert "\u00a0" not in (built[0] / name).read_text(encoding="utf-8"), name


def test_no_line_of_the_summary_ends_within_a_number(built: Built) -> None:
    text = (built[0] / "summary.txt").read_text(encoding="ascii")
    assert re.findall(r"\d,\d{3}\b", text) == []
    assert re.findall(r"\d\n *(?:%|pp|ms|kB|MB)\b", text) == []


def test_a_share_is_not_rounded_to_the_whole_and_an_interval_not_to_zero() -> None:
    share = Column(id="share", title="share", unit="%", kind="interval")
    assert cell({"estimate": 99.97, "lower": 99.2, "upper": 99.996}, share) == "99.97 (99.2\u201399.996)"
    assert cell({"estimate": 0.6, "lower": -0.003, "upper": 1.32}, share) == f"0.600 ({MINUS}0.003 to 1.32)"
    assert cell(99.97, Column(id="time", title="time", unit="ms")) == "100"


def test_a_number_is_printed_on_its_side_of_the_bound_that_judges_it() -> None:
    gain = Column(id="gain", title="gain", unit="%", kind="interval", near=(1.0,))
    below = {"estimate": 1.46, "lower": 0.9996, "upper": 1.93}
    assert cell(below, gain) == "1.46 (0.9996\u20131.93)"
    assert cell(below, dataclasses.replace(gain, near=())) == "1.46 (1.00\u20131.93)"
    assert cell({"estimate": 1.46, "lower": 1.0, "upper": 1.93}, gain) == "1.46 (1.00\u20131.93)"

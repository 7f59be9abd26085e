"""The Internet-Draft of the committed edition becomes text and HTML by both tools without a warning, and its figures pass svgcheck."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.forms.test_draft import made, of_kramdown, words

pytestmark = pytest.mark.process

EDITION = Path(__file__).parents[2] / "docs" / "edition-2026"
DRAFT = EDITION / "forms" / "draft"


def source(suffix: str) -> str:
    """The skeleton of the draft for kramdown-rfc (.md) or in RFCXML (.xml)."""
    (path,) = DRAFT.glob(f"draft-*{suffix}")
    return path.read_text(encoding="utf-8")


def test_both_sources_of_the_editions_draft_give_the_same_text_with_its_answer(tmp_path: Path) -> None:
    content = json.loads((EDITION / "report.json").read_text(encoding="utf-8"))
    text, page = made(tmp_path, source(".xml"))
    again, _ = made(tmp_path, of_kramdown(tmp_path, source(".md")))
    assert sorted(words(again)) == sorted(words(text))
    assert content["answer"]["headline"] in " ".join(words(text))
    assert max(map(len, text.splitlines())) <= 72
    drawn = [one["id"] for section in content["sections"] for one in section["figures"] if one["rows"]]
    assert page.count("<svg") == len(drawn)


def test_every_black_and_white_figure_of_the_edition_passes_svgcheck() -> None:
    drawings = sorted((EDITION / "forms" / "figures").glob("*-monochrome.svg"))
    assert drawings
    for drawing in drawings:
        command = [str(Path(sys.executable).with_name("svgcheck")), "--no-network", str(drawing)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (drawing.name, done.stderr)
        assert "conforms to SVG requirements" in done.stdout + done.stderr, drawing.name

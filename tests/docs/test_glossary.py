"""docs/glossary.md has the terms of schema/glossary.py."""

from __future__ import annotations

from pathlib import Path

from schema.glossary import GLOSSARY

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_glossary_page_has_each_term_with_its_definition_in_order() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert rows[2:] == [f"| {term} | {meaning} |" for term, meaning in GLOSSARY.items()]

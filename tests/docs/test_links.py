"""Links of the documents to files of the project; those between pages of the
service are in tests/api/documents."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")


def test_every_link_to_a_file_leads_to_one() -> None:
    pages = [path for folder in ("docs", "studies") for path in (ROOT / folder).rglob("*.md")]
    pages = [path.resolve() for path in (*ROOT.glob("*.md"), *pages)]
    links = {(page, link) for page in pages for link in LINK.findall(page.read_text(encoding="utf-8"))}
    assert len(links) > 100
    assert [(str(page), link) for page, link in links if not (page.parent / link).exists()] == []


def test_every_file_that_the_tour_names_is_there() -> None:
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([\w/.-]+\.(?:py|c|toml))`", tour) if name[0] != "."]
    assert len(named) > 50
    # A name without a folder stands behind one that has it.
    assert [name for name in named if not any(ROOT.glob(name if "/" in name else f"[a-z]*/**/{name}"))] == []

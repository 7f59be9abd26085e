from pathlib import Path

from schema.glossary import GLOSSARY

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_glossary_page_has_every_term() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert GLOSSARY.keys() <= {line.split("|")[1].strip() for line in lines if line.startswith("|")}

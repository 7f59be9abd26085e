from pathlib import Path

from schema.vocabulary import METHOD_BREAKS

CHANGELOG = Path(__file__).parents[2] / "docs" / "data-changelog.md"


def test_the_breaks_are_those_of_the_data_changelog() -> None:
    documented: dict[str, tuple[str, ...]] = {}
    for line in CHANGELOG.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[5] == "yes":
            documented[cells[2]] = (*documented.get(cells[2], ()), cells[4])
    assert documented == METHOD_BREAKS

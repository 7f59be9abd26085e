"""Lines of plain text, at any width: a number, and a number with its unit, are never on two of them."""

import pytest

from releases.formatting import MINUS, NARROW, grouped, quantity
from reports.forms.typesetting import lines_of

WHOLE = ("1 234 567", "52 411", "62.1 %", "-2.45 pp", "(2.20-2.71)", "14.3 kB")
TEXT = (
    f"the top {grouped(1_234_567)} sites; {grouped(52_411)} responses of known size, {quantity(62.09, '%')} "
    f"of which fit, {MINUS}2.45{NARROW}pp (2.20\u20132.71) more, and 14.3{NARROW}kB a window"
)
WIDTHS = range(max(map(len, WHOLE)), 100)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_sentence_keeps_its_numbers_whole_and_all_its_words(width: int) -> None:
    lines = lines_of(TEXT, width)
    assert max(map(len, lines)) <= width
    assert all(whole in "\n".join(lines) for whole in WHOLE)
    assert " ".join(lines) == TEXT.replace(NARROW, " ").replace(MINUS, "-").replace("\u2013", "-")


def test_a_number_wider_than_the_line_is_broken_rather_than_the_line() -> None:
    assert lines_of(grouped(1_234_567), 5) == ["1 234", " 567"]

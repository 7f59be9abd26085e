"""Typesetting of a report's texts: numbers in sentences as everywhere, and lines of plain text that never break a number."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from releases.formatting import NARROW, apart, in_ascii

TYPED = ("query", "command")
"""Texts that readers run."""

NO_BREAK = f"{NARROW}\u00a0"
"""Spaces at which no line may end: between thousands, and between a number and its unit."""

TIE = "\u2060"
"""Word joiner: stands for a space of NO_BREAK while lines are made, for Python takes these for white space. `in_ascii` leaves none in a text."""

BETWEEN = re.compile(f"[{NO_BREAK}]")


def in_type(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """Plain data with the numbers of its sentences as everywhere (`apart`); what readers run stays as it is.

    >>> in_type({"note": "below -1 %", "query": "SELECT -1 %"}) == {"note": "below \u22121\u202f%", "query": "SELECT -1 %"}
    True
    """
    if isinstance(value, str):
        return apart(value)
    if isinstance(value, dict):
        return {key: inner if key in TYPED else in_type(inner) for key, inner in value.items()}
    return [in_type(inner) for inner in value] if isinstance(value, list) else value


def tied_ascii(text: str, tie: str = TIE) -> str:
    """The text in ASCII with `tie` in place of each space at which no line may end.

    >>> tied_ascii(f"12{NARROW}345 loads", tie="~")
    '12~345 loads'
    """
    return tie.join(map(in_ascii, BETWEEN.split(text)))


def lines_of(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most `width` characters of ASCII, broken at spaces, with `first` before the first and `rest` before the others.

    A number, and a number and its unit, stay on one line, unless they are wider than it.

    >>> lines_of(f"about 12{NARROW}345 loads", 8)
    ['about', '12 345', 'loads']
    """
    made = textwrap.wrap(
        tied_ascii(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace(TIE, " ") for line in made]


def widest_word(text: str) -> int:
    """Characters of the longest part of a text that stays on one line.

    >>> widest_word(f"about 12{NARROW}345 loads")
    6
    """
    return max(map(len, tied_ascii(text).split()), default=0)

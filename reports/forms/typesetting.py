"""Typesetting of a report's texts: numbers in sentences as everywhere, and lines that end within no number,
as in "IW 10" or "3 segments"."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from releases.formatting import NARROW, apart, in_ascii, tied

TYPED = ("query", "command")

NO_BREAK_SPACE = "\u00a0"

NUMBERED = re.compile(
    r"\b(?P<name>IW|RFC|Figure|Fig\.|Table) (?=\d)"
    r"|(?<=\d) (?=(?:segments?|bytes|datagrams?|packets?|rounds?|round "
    r"trips?|hours?|minutes?|seconds?|months?|years?)\b)"
)
"""Spaces between a name and its number, and between a number and what it counts."""

NO_BREAK = f"{NARROW}{NO_BREAK_SPACE}"
"""Spaces at which no line may end: between thousands, and between a number and its unit."""

TIE = "\u2060"
"""Word joiner: stands for a space of NO_BREAK while lines are made, for Python takes these for white space.

`in_ascii` leaves none in a text.
"""

BETWEEN = re.compile(f"[{NO_BREAK}]")


def in_type(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """Return plain data with the numbers of its sentences as everywhere (`apart`); what readers run stays as it is.

    >>> in_type({"note": "below -1 %", "query": "SELECT -1 %"}) == {"note": "below \u22121\u202f%", "query": "SELECT -1 %"}
    True
    """  # noqa: E501
    return each_text(value, apart)


def each_text(value: Any, set_: Callable[[str], str]) -> Any:  # noqa: ANN401  # JSON has any shape
    """Return plain data with `set_` of its texts, but for what readers run."""
    if isinstance(value, str):
        return set_(value)
    if isinstance(value, dict):
        return {key: inner if key in TYPED else each_text(inner, set_) for key, inner in value.items()}
    return [each_text(inner, set_) for inner in value] if isinstance(value, list | tuple) else value


def keep_unbroken(text: str) -> str:
    """Return the text for a page that breaks lines itself: none ends between a number and its unit,
    its name or what it counts.

    Forms in ASCII, JSON and CSV have plain spaces there.

    >>> keep_unbroken("3 pp at IW 10 of 12.3 Mbps, or 10 segments") == f"3{NARROW}pp at IW\u00a010 of 12.3{NARROW}Mbps, or 10\u00a0segments"
    True
    """  # noqa: E501
    return NUMBERED.sub(lambda match: f"{match['name'] or ''}{NO_BREAK_SPACE}", tied(text))


def tie_ascii(text: str, tie: str = TIE) -> str:
    """Return the text in ASCII with `tie` in place of each space at which no line may end.

    >>> tie_ascii(f"12{NARROW}345 loads", tie="~")
    '12~345 loads'
    """
    return tie.join(map(in_ascii, BETWEEN.split(text)))


def lines_of(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Return lines of at most `width` characters of ASCII, broken at spaces,
    with `first` before the first and `rest` before the others.

    A number, and a number and its unit, stay on one line, unless they are wider than it.

    >>> lines_of(f"about 12{NARROW}345 loads", 8)
    ['about', '12 345', 'loads']
    """
    lines = textwrap.wrap(
        tie_ascii(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace(TIE, " ") for line in lines]


def fold_commands(commands: Iterable[str], width: int) -> Iterator[str]:
    """Yield commands for a shell in lines of a width: a long one goes on after a backslash.

    >>> list(fold_commands(["firstflight verify release " + 40 * "x"], 66))[0]
    'firstflight verify release \\\\'
    """
    for command in commands:
        line = ""
        for word in command.split():
            if line and len(line) + len(word) > width - 2:
                yield f"{line} \\"
                line = f"    {word}"
            else:
                line = f"{line} {word}" if line else word
        yield line

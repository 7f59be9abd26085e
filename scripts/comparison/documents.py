"""Compares two reports as readers see them: their texts, and the data of their figures."""

from __future__ import annotations

import difflib
from html.parser import HTMLParser

from scripts.comparison.values import NUMBER, Findings, masked

UNREAD = ("style", "script", "title")
"""Elements whose text is not compared."""


class Reader(HTMLParser):
    """Takes an HTML document apart into lines of text and parts of figures."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.figures: list[str] = []
        """Each element of an SVG with its attributes, and each text in it."""
        self._open: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element of a figure, and the style of any other: tables draw bars by it."""
        if tag == "svg" or "svg" in self._open:
            self.figures += [tag, *(f"{tag} {name}: {value}" for name, value in attrs)]
            self._open.append(tag)
        elif tag in UNREAD:
            self._open.append(tag)
        else:
            self.lines += [f"{name}: {value}" for name, value in attrs if name == "style"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element that has no end."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and any within it that was not closed."""
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Keep a text that a reader sees."""
        text = " ".join(data.split())
        if text and "svg" in self._open:
            self.figures.append(f"text {text}")
        elif text and not self._open:
            self.lines.append(text)


def compare_pages(old: str, new: str, found: Findings) -> None:
    """Compare two HTML documents."""
    before, after = Reader(old), Reader(new)
    compare_lines(before.lines, after.lines, found)
    if len(before.figures) != len(after.figures):
        found.differences.append(f"figures: {len(before.figures)} parts are now {len(after.figures)}")
    for place, (one, other) in enumerate(zip(before.figures, after.figures, strict=False)):
        found.text(one, other, f"figures, part {place}")


def compare_lines(old: list[str], new: list[str], found: Findings) -> None:
    """Compare the lines of two texts; lines may be reworded as long as the numbers in them stay the same."""
    before, after = [masked(line) for line in old], [masked(line) for line in new]
    found.rows += len(before)
    found.values += len(before)
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        one, other = " / ".join(before[a:b]), " / ".join(after[c:d])
        is_same = NUMBER.findall(one) == NUMBER.findall(other)
        (found.reworded if is_same else found.differences).append(f"line {a + 1}: {one!r} is now {other!r}")

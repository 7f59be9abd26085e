"""Boxes of the texts of an SVG drawing by Vega, and the lines in it, in the drawing's pixels."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from figures.text import text_width

SVG = "{http://www.w3.org/2000/svg}"
ASCENT, DESCENT = 0.73, 0.2
"""Heights of capitals above the base line and of letters below it, as parts of the letters' size."""

TOUCH = 0.5
"""Pixels by which boxes may touch."""


class Spot(NamedTuple):
    """A place in pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class TextBox:
    """A line of text and where it stands."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "TextBox") -> bool:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide > TOUCH and high > TOUCH

    def is_crossed_by(self, start: Spot, end: Spot) -> bool:
        """Return whether a straight line passes through the box (Liang and Barsky)."""
        first, last = 0.0, 1.0
        for at, by, low, high in (
            (start.x, end.x - start.x, self.left + TOUCH, self.right - TOUCH),
            (start.y, end.y - start.y, self.top + TOUCH, self.bottom - TOUCH),
        ):
            if by == 0:
                if not low < at < high:
                    return False
                continue
            enters, leaves = sorted(((low - at) / by, (high - at) / by))
            first, last = max(first, enters), min(last, leaves)
        return first < last


Line = tuple[Spot, Spot]


def read_drawing(drawing: str) -> tuple[list[TextBox], list[Line]]:
    """Return the boxes of all texts of a drawing, and all straight parts of its lines."""
    texts: list[TextBox] = []
    lines: list[Line] = []
    for element, origin in _placed(ET.fromstring(drawing), Spot(0, 0), hidden=False):
        if element.tag == f"{SVG}text":
            texts += _boxes(element, origin)
        elif element.tag == f"{SVG}line":
            x, y = float(element.get("x2", 0)), float(element.get("y2", 0))
            lines.append((origin, Spot(origin.x + x, origin.y + y)))
        elif element.tag == f"{SVG}path" and element.get("stroke") and element.get("class") != "background":
            spots = [Spot(origin.x + at.x, origin.y + at.y) for at in _spots(element.get("d", ""))]
            lines += itertools.pairwise(spots)
    return texts, lines


def _placed(element: ET.Element, origin: Spot, *, hidden: bool) -> Iterator[tuple[ET.Element, Spot]]:
    """Yield each element that is shown, with the place of its own origin."""
    moved = re.match(r"translate\(([-\d.e]+),([-\d.e]+)\)", element.get("transform", ""))
    if moved:
        origin = Spot(origin.x + float(moved[1]), origin.y + float(moved[2]))
    hidden = hidden or element.get("opacity") == "0" or element.get("display") == "none"
    if not hidden:
        yield element, origin
    for part in element:
        yield from _placed(part, origin, hidden=hidden)


def _boxes(element: ET.Element, origin: Spot) -> Iterator[TextBox]:
    size = float(element.get("font-size", "11px").removesuffix("px"))
    is_bold = element.get("font-weight") == "bold"
    y = origin.y
    for line in [*element] or [element]:
        y += float(line.get("dy", 0)) if line is not element else 0
        text = "".join(line.itertext())
        wide = text_width(text, size, is_bold=is_bold)
        left = origin.x - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor", ""), 0)
        yield TextBox(text, left, y - ASCENT * size, left + wide, y + DESCENT * size)


def _spots(data: str) -> list[Spot]:
    """Return the corners of a path; of a curve, its end."""
    spots: list[Spot] = []
    at = Spot(0, 0)
    for command, given in re.findall(r"([MLHVCAZmlhvaz])([^MLHVCAZmlhvaz]*)", data):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", given)]
        if command in "Zz":
            spots.append(spots[0])
            continue
        x, y = (
            (numbers[-1], at.y)
            if command in "Hh"
            else (at.x, numbers[-1])
            if command in "Vv"
            else numbers[-2:]
        )
        if command.islower():
            x, y = (x + at.x * (command != "v"), y + at.y * (command != "h"))
        at = Spot(x, y)
        spots.append(at)
    return spots


def faults(drawing: str) -> list[str]:
    """Return which texts lie over each other, are crossed by a line or leave the drawing."""
    texts, lines = read_drawing(drawing)
    width, height = (
        float(re.findall(rf'<svg[^>]* {side}="([\d.]+)"', drawing)[0]) for side in ("width", "height")
    )
    found = [
        f"{one.text!r} lies over {other.text!r}"
        for at, one in enumerate(texts)
        for other in texts[at + 1 :]
        if one.covers(other)
    ]
    found += [
        f"{box.text!r} is crossed from {start} to {end}"
        for box in texts
        for start, end in lines
        if box.is_crossed_by(start, end)
    ]
    found += [
        f"{box.text!r} leaves the drawing"
        for box in texts
        if box.left < -1 or box.top < -1 or box.right > width + 1 or box.bottom > height + 1
    ]
    return found

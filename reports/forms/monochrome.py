"""Figures as black and white SVG of the profile that RFCs allow (RFC 7996), for Internet-Drafts."""

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from releases.formatting import in_ascii
from reports.forms.drawn import (
    Axis,
    Estimate,
    band_edges,
    curve_axes,
    curves,
    grouped_estimates,
    lines_of,
    measured_axis,
    measured_role,
    title_of,
)
from reports.forms.printed import Figure

WIDTH = 640
"""In CSS pixels, as all lengths here."""

PLOT = 300
"""Height of a plot of curves."""

ROW = 20
"""Height of an estimate's row."""

TOP, RIGHT, LINE = 32, 16, 16
"""Room above and right of the plot, and the height of a line of text."""

LEFT, LEFT_NAMES = 52, 190
"""Room left of curves, and of estimates with their names."""

LETTER = 7
"""Width of a letter, at most in the mean."""

DASHES = ("", "7,3", "2,2", "10,3,2,3", "1,3", "12,4", "4,2,1,2,1,2", "16,3")
"""Dashes that tell curves apart without colour."""

EDGE: dict[str, str | float] = {"stroke_width": 0.5, "stroke_dasharray": "1,2"}
"""Stroke of the edges of an interval band: thin dots, which no curve has."""

BAND = "between dotted lines: 95 % interval of the curve inside"
"""The band's line in the key."""

MARKERS = 6
"""Markers on each curve."""

NAMESPACE = "http://www.w3.org/2000/svg"


def monochrome_svg(figure: Figure) -> ET.Element:
    """The drawing as an element; the same figure gives the same bytes."""
    drawing = _Drawing(figure.title)
    if figure.marks:
        drawing.text(WIDTH - 4, 12, figure.marks, "end")
    if figure.facts["drawing"] == "lines":
        _curves(drawing, figure)
    else:
        _estimates(drawing, figure)
    return drawing.finished()


def svg_text(figure: Figure) -> str:
    """The drawing as a file."""
    return ET.tostring(monochrome_svg(figure), encoding="unicode") + "\n"


class _Drawing:
    """Elements of a drawing, and how far down it reaches."""

    def __init__(self, title: str) -> None:
        self.root = ET.Element("svg", {"xmlns": NAMESPACE})
        ET.SubElement(self.root, "title").text = in_ascii(title)
        self.bottom = 0.0

    def add(self, name: str, **attributes: str | float) -> ET.Element:
        """Add an element; underscores in names stand for hyphens."""
        texts = {
            key.replace("_", "-"): value if isinstance(value, str) else f"{value:g}"
            for key, value in attributes.items()
            if value != ""
        }
        return ET.SubElement(self.root, name, texts)

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: str | float) -> None:
        """A black line."""
        self.add(
            "line", **{"x1": round(x1, 1), "y1": round(y1, 1), "x2": round(x2, 1), "y2": round(y2, 1), "stroke": "black", **attributes}  # noqa: E501
        )  # fmt: skip

    def text(self, x: float, y: float, words: str, anchor: str = "start") -> None:
        """A line of text with its baseline at `y`."""
        made = self.add(
            "text", x=round(x, 1), y=round(y, 1), font_family="sans-serif", font_size=12.0, text_anchor=anchor
        )
        made.text = in_ascii(words)
        self.bottom = max(self.bottom, y)

    def finished(self) -> ET.Element:
        """The whole drawing, as high as its content."""
        height = round(self.bottom + 8)
        self.root.attrib |= {
            "width": f"{WIDTH}",
            "height": f"{height}",
            "viewBox": f"0 0 {WIDTH} {height}",
        }
        return self.root


def _curves(drawing: _Drawing, figure: Figure) -> None:
    across, up = curve_axes(figure)
    width = WIDTH - LEFT - RIGHT
    rules = list(lines_of(figure))
    top = TOP + LINE * len(rules)

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + across.place(x) * width, top + (1 - up.place(y)) * PLOT

    _rules(drawing, across, rules, left=LEFT, width=width, bottom=top + PLOT)
    for tick in up.ticks:
        _, y = place(across.low, tick)
        drawing.line(LEFT - 4, y, LEFT, y)
        drawing.text(LEFT - 7, y + 4, up.label(tick), "end")
    drawing.line(LEFT, top, LEFT, top + PLOT)
    _bottom_axis(drawing, across, title_of(figure, "x"), left=LEFT, width=width, y=top + PLOT)
    drawing.text(4, 12, title_of(figure, "y"))
    edges = band_edges(figure)
    for edge in edges:
        shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(x, y) for x, y in edge.points))
        drawing.add("polyline", points=shown, fill="none", stroke="black", **EDGE)
    for at, curve in enumerate(curves(figure)):
        path = [place(x, y) for x, y in curve.points]
        dash = DASHES[at % len(DASHES)]
        shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in _stepped(path))
        drawing.add(
            "polyline", points=shown, fill="none", stroke="black", stroke_width=1.5, stroke_dasharray=dash
        )
        for x, y in path[:: max(1, len(path) // MARKERS)]:
            _marker(drawing, at, x, y)
        y = drawing.bottom + LINE
        drawing.line(LEFT, y - 4, LEFT + 48, y - 4, stroke_width=1.5, stroke_dasharray=dash)
        _marker(drawing, at, LEFT + 24, y - 4)
        drawing.text(LEFT + 56, y, curve.name)
    if edges:
        y = drawing.bottom + LINE
        for above in (2, 7):
            drawing.line(LEFT, y - above, LEFT + 48, y - above, **EDGE)
        drawing.text(LEFT + 56, y, BAND)


def _stepped(path: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The path of a step function: each value holds until the next."""
    corners = [corner for (_, before), (x, y) in itertools.pairwise(path) for corner in ((x, before), (x, y))]
    return [*path[:1], *corners]


def _marker(drawing: _Drawing, at: int, x: float, y: float) -> None:
    """A circle, square, triangle or diamond, hollow for the second four curves."""
    fill = "black" if at // 4 % 2 == 0 else "white"
    shape = at % 4
    if shape == 0:
        drawing.add("circle", cx=round(x, 1), cy=round(y, 1), r=3.0, fill=fill, stroke="black")
        return
    corners = {
        1: ((-3, -3), (3, -3), (3, 3), (-3, 3)),
        2: ((0, -4), (4, 3), (-4, 3)),
        3: ((0, -4), (4, 0), (0, 4), (-4, 0)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    drawing.add("polygon", points=points, fill=fill, stroke="black")


def _estimates(drawing: _Drawing, figure: Figure) -> None:
    across = measured_axis(figure)
    width = WIDTH - LEFT_NAMES - RIGHT
    rules = list(lines_of(figure))
    top = TOP + LINE * len(rules)
    groups = list(grouped_estimates(figure))
    bottom = top + ROW * sum(len(some) + bool(group) for group, some in groups)
    _rules(drawing, across, rules, left=LEFT_NAMES, width=width, bottom=bottom)
    y = top + ROW / 2
    for group, some in groups:
        if group:
            drawing.text(4, y + 4, group)
            y += ROW
        for one in some:
            drawing.text(LEFT_NAMES - 8, y + 4, one.name, "end")
            _estimate(drawing, one, across, width, y, is_bar=figure.facts["drawing"] == "bars")
            y += ROW
    _bottom_axis(
        drawing, across, title_of(figure, measured_role(figure)), left=LEFT_NAMES, width=width, y=bottom
    )


def _estimate(
    drawing: _Drawing, one: Estimate, across: Axis, width: float, y: float, *, is_bar: bool
) -> None:
    """A bar from zero, or a marker with the line of its interval."""

    def x_of(value: float | None, otherwise: float) -> float:
        return LEFT_NAMES + across.place(otherwise if value is None else value) * width

    if is_bar:
        start, end = sorted((x_of(0.0, 0.0), x_of(one.value, 0.0)))
        drawing.add(
            "rect", x=round(start, 1), y=y - 6, width=round(end - start, 1), height=12.0, fill="black"
        )
        return
    if one.lower is not None or one.upper is not None:
        drawing.line(x_of(one.lower, across.low), y, x_of(one.upper, across.high), y, stroke_width=2.0)
    _marker(drawing, 0, x_of(one.value, one.value), y)


def _rules(
    drawing: _Drawing,
    across: Axis,
    rules: Sequence[tuple[float, str]],
    *,
    left: float,
    width: float,
    bottom: float,
) -> None:
    """Vertical lines with their labels above, each label on a line of its own."""
    for at, (value, label) in enumerate(sorted(rules)):
        # The first label is the highest, so that no other line crosses it.
        x, y = left + across.place(value) * width, 28 + LINE * at
        drawing.line(x, y - 8, x, bottom, stroke_dasharray="4,3")
        is_right = x + LETTER * len(label) > WIDTH
        drawing.text(x - 4 if is_right else x + 4, y, label, "end" if is_right else "start")


def _bottom_axis(drawing: _Drawing, across: Axis, title: str, *, left: float, width: float, y: float) -> None:
    drawing.line(left, y, left + width, y)
    for tick in across.ticks:
        x = left + across.place(tick) * width
        drawing.line(x, y, x, y + 4)
        drawing.text(x, y + 17, across.label(tick), "middle")
    drawing.text(left + width, y + 34, title, "end")

"""Waterfalls of page loads as parts of pages: a row for each response, with a bar for each phase of its time.

Places across are percentages, so that a waterfall takes any width while its letters keep their size.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from api.charts import element, round_axis, steps_between
from releases.formatting import visible_text

Spans = Mapping[str, tuple[int, int]]
"""Start and end of each phase in µs, by the class of its bar in the style sheet."""

AXIS_HEIGHT = 22

THINNEST = 0.2
"""Least width of a bar, in percent."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Where the parts of a row are, in CSS pixels from its top."""

    row_height: int
    label_y: int
    bar_y: int
    bar_height: int
    label_look: str | None
    gutter: int
    """Percent of the width that labels have left of the bars."""


LABELS_ABOVE = Layout(row_height=32, label_y=12, bar_y=17, bar_height=10, label_look=None, gutter=0)
NUMBERS_BESIDE = Layout(row_height=10, label_y=9, bar_y=1, bar_height=8, label_look="axis", gutter=12)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A response in a waterfall."""

    title: str
    """What a pointer at the row is told."""
    label: str
    """May be empty."""
    spans: Spans
    is_sent_again: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TimeAxis:
    """An axis of time from 0, which waterfalls side by side share."""

    step_ms: float
    end_ms: float

    @classmethod
    def holding(cls, last_ms: float, *, steps: int = 6) -> "TimeAxis":
        """The axis that holds a time, with at most `steps` steps."""
        step, _, end = round_axis(0, last_ms, steps=steps)
        return cls(step_ms=step, end_ms=end)

    def place(self, time_us: float, gutter: int = 0) -> float:
        """The place of a time, in percent of the width.

        >>> [TimeAxis(step_ms=100, end_ms=500).place(time_us, 12) for time_us in (0, 500_000)]
        [12.0, 100.0]
        """
        return round(gutter + (100 - gutter) * time_us / (1000 * self.end_ms), 3)


def draw_waterfall(
    rows: Sequence[Row], axis: TimeAxis, *, events: Mapping[str, int], layout: Layout, label: str
) -> Markup:
    """Draw rows on an axis, with an upright line at each of `events`, whose times are in µs."""
    height = AXIS_HEIGHT + layout.row_height * len(rows)
    return element(
        "svg",
        *_axis(axis, layout.gutter, height),
        *(
            _upright(axis.place(time_us, layout.gutter), height, "window", element("title", name))
            for name, time_us in events.items()
        ),
        *(_row(row, axis, layout, AXIS_HEIGHT + place * layout.row_height) for place, row in enumerate(rows)),
        height=height,
        role="img",
        aria_label=label,
    )


def _axis(axis: TimeAxis, gutter: int, height: int) -> Iterator[Markup]:
    times_ms = steps_between(axis.step_ms, 0, axis.end_ms)
    for time_ms in times_ms:
        x = axis.place(1000 * time_ms, gutter)
        yield _upright(x, height, "grid")
        anchor = {times_ms[0]: "start", times_ms[-1]: "end"}.get(time_ms, "middle")
        label = f"{time_ms / 1000:g} s"
        yield element("text", label, class_="axis", x=f"{x}%", y=13, text_anchor=anchor)


def _upright(x: float, height: int, look: str, *content: str) -> Markup:
    return element("line", *content, class_=look, x1=f"{x}%", x2=f"{x}%", y1=18, y2=height)


def _row(row: Row, axis: TimeAxis, layout: Layout, top: int) -> Markup:
    parts = [element("title", visible_text(row.title))]
    if row.label:
        words = visible_text(row.label)
        parts.append(element("text", words, class_=layout.label_look, x=0, y=top + layout.label_y))
    for phase, (start, end) in row.spans.items():
        left = axis.place(start, layout.gutter)
        width = max(THINNEST, round(axis.place(end, layout.gutter) - left, 3))
        at = {"x": f"{left}%", "y": top + layout.bar_y, "width": f"{width}%", "height": layout.bar_height}
        parts.append(element("rect", class_=phase, **at))
    if row.is_sent_again:
        last = axis.place(max(end for _, end in row.spans.values()), layout.gutter)
        parts.append(element("circle", class_="again", cx=f"{last}%", cy=top + layout.row_height // 2, r=2.5))
    return element("g", *parts)

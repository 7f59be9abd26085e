"""Colours, font and numbers of every chart, of the service and of reports."""

import dataclasses
from typing import Any

from releases.formatting import MINUS, NARROW
from schema.computed_tables import MEASURES

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
"""The first font is part of vl-convert, so a machine without fonts draws the same PNG."""

LOCALE: dict[str, Any] = {
    "number": {"decimal": ".", "thousands": NARROW, "grouping": [3], "currency": ["", ""], "minus": MINUS}
}
"""Locale of all figures (Vega-Lite's `locale`): numbers along axes are those of `releases.formatting`."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Colours of a figure."""

    id: str
    background: str
    ink: str
    faint: str
    palette: dict[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    """Dashes and colours of a measure; dashes tell curves apart in print and for colour-blind readers."""

    dash: tuple[int, ...]
    light: str
    dark: str


# Hues of Okabe and Ito, darkened or lightened to a contrast of at least 3:1 with the background.
CURVES = {
    "responses": Curve((1, 0), "#0066a4", "#56b4e9"),
    "responses_first": Curve((2, 2), "#0066a4", "#56b4e9"),
    "responses_iw_limited": Curve((7, 3), "#b34f00", "#f0a030"),
    "responses_incomplete": Curve((1, 3), "#b34f00", "#f0a030"),
    "responses_derived": Curve((10, 3, 2, 3), "#0066a4", "#56b4e9"),
    "responses_derived_bodies": Curve((1, 2), "#0066a4", "#56b4e9"),
    "first_flights": Curve((1, 0), "#007a58", "#2fc49a"),
    "first_flights_after_tls": Curve((7, 3), "#007a58", "#2fc49a"),
    "tls_flights": Curve((2, 2), "#6a6d00", "#d6cf3a"),
    "connections": Curve((10, 3, 2, 3), "#a8437c", "#e08bb9"),
    "hosts": Curve((2, 2), "#a8437c", "#e08bb9"),
    "pages": Curve((1, 0), "#3f444a", "#b4bac1"),
    "requests": Curve((7, 3), "#3f444a", "#b4bac1"),
}
assert CURVES.keys() == MEASURES.keys()

LIGHT = Theme(
    id="light",
    background="#ffffff",
    ink="#1c2024",
    faint="#d9dde2",
    palette={measure: curve.light for measure, curve in CURVES.items()},
)
DARK = Theme(
    id="dark",
    background="#14181b",
    ink="#e6e8ea",
    faint="#363b41",
    palette={measure: curve.dark for measure, curve in CURVES.items()},
)

HUES = tuple(
    (CURVES[name].light, CURVES[name].dark)
    for name in ("responses", "responses_iw_limited", "first_flights", "hosts", "tls_flights", "pages")
)
"""Colours of curves that are of no measure, on light and on dark ground."""


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """Colour on light ground, dashes and mark of a series, by which it is told apart without colours too."""

    colour: str
    dash: tuple[int, ...] = (1, 0)
    shape: str = "circle"


LOOKS = tuple(
    Look(light, dash, shape)
    for (light, _), dash, shape in zip(
        HUES,
        ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 4), (1, 3)),
        ("circle", "triangle-up", "square", "cross", "triangle-down", "diamond"),
        strict=True,
    )
)

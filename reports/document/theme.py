"""Colours and font of all figures, and their rendering: Altair charts, drawn offline by vl-convert."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import vl_convert

if TYPE_CHECKING:
    import altair as alt

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
"""The first font is part of vl-convert, so a machine without fonts draws the same PNG."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Colours of a figure."""

    id: str
    background: str
    ink: str
    faint: str
    palette: dict[str, str]


# Hues of Okabe and Ito, darkened or lightened to a contrast of at least 3:1 with the background.
LIGHT = Theme(
    id="light",
    background="#ffffff",
    ink="#1c2024",
    faint="#d9dde2",
    palette={
        "responses": "#0066a4",
        "responses_first": "#0066a4",
        "responses_iw_limited": "#b34f00",
        "first_flights": "#007a58",
        "first_flights_after_tls": "#007a58",
        "tls_flights": "#6a6d00",
        "connections": "#a8437c",
        "hosts": "#a8437c",
        "pages": "#3f444a",
    },
)
DARK = Theme(
    id="dark",
    background="#14171a",
    ink="#e6e8ea",
    faint="#363b41",
    palette={
        "responses": "#56b4e9",
        "responses_first": "#56b4e9",
        "responses_iw_limited": "#f0a030",
        "first_flights": "#2fc49a",
        "first_flights_after_tls": "#2fc49a",
        "tls_flights": "#d6cf3a",
        "connections": "#e08bb9",
        "hosts": "#e08bb9",
        "pages": "#b4bac1",
    },
)
THEMES = (LIGHT, DARK)


def svg(chart: alt.TopLevelMixin) -> str:
    """Render a chart as self-contained SVG; the same chart gives the same bytes."""
    drawn: str = vl_convert.vegalite_to_svg(chart.to_json(indent=None), allowed_base_urls=[])
    return drawn


def png(chart: alt.TopLevelMixin, *, scale: float = 2) -> bytes:
    """Render a chart as PNG with `scale` pixels for each CSS pixel."""
    drawn: bytes = vl_convert.vegalite_to_png(chart.to_json(indent=None), scale=scale, allowed_base_urls=[])
    return drawn

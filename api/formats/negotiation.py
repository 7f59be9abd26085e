"""The formats of answers that are cached and whose format the Accept header may choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.formats.offered import CSV, JSON, Format, by_accept
from api.http.problems import Problem

SVG = Format(suffix="svg", media_type="image/svg+xml", is_bulk=False, means="the figure")
PNG = Format(suffix="png", media_type="image/png", is_bulk=False, means="the figure in pixels")
VEGA_LITE = Format(
    suffix="vl.json", media_type=JSON.media_type, is_bulk=False, means="the figure for Vega-Lite"
)
FIRST_FLIGHT = {one.suffix: one for one in (JSON, CSV, SVG, PNG, VEGA_LITE)}
"""Formats of a first flight by suffix, the preferred first: JSON by its media type is the answer in numbers."""

NEGOTIATED = {"/v1/first-flight": FIRST_FLIGHT}
"""Formats that the Accept header chooses among, by path."""


def accepted(scope: Mapping[str, Any]) -> str:
    """The Accept header of a request; several are one list (RFC 9110 §5.3)."""
    return ",".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"accept")


def chosen(scope: Mapping[str, Any]) -> str:
    """Suffix of the format that the Accept header chooses; empty where it chooses none, or accepts none."""
    offered = NEGOTIATED.get(scope["path"])
    if offered is None:
        return ""
    try:
        return by_accept(accepted(scope), offered).suffix
    except Problem:
        return ""

"""The formats of answers that are cached, and the choice among them by the
Accept header (RFC 9110 §12.5.1)."""

from collections.abc import Mapping
from typing import Any

from api.formats.offered import CSV, FORMATS, JSON, Format, by_accept
from api.http.problems import Problem

SVG = Format(suffix="svg", media_type="image/svg+xml", is_bulk=False, means="the figure")
PNG = Format(suffix="png", media_type="image/png", is_bulk=False, means="the figure in pixels")
FIRST_FLIGHT = {one.suffix: one for one in (JSON, CSV, SVG, PNG)}
"""Formats of a first flight by suffix, the preferred first."""
SERIES = {one.suffix: one for one in (JSON, CSV)}
JSON_ALONE = {JSON.suffix: JSON}

OFFERED = {"/v1/first-flight": FIRST_FLIGHT, "/v1/sites": FORMATS} | dict.fromkeys(
    ("/v1/series", "/v1/changes", "/v1/outside-series"), SERIES
)
"""Formats by path; at other paths of the API answers are JSON alone."""
API = "/v1/"

IN_CSV: dict[int | str, dict[str, Any]] = {200: {"content": {CSV.media_type: {"schema": {"type": "string"}}}}}
"""OpenAPI's answer of an address that offers CSV, beside what it answers else."""


def offered(path: str) -> Mapping[str, Format] | None:
    """Formats among which the Accept header chooses at a path; None for pages, and where a suffix has chosen.

    >>> offered("/v1/first-flight.csv"), offered("/explore")
    (None, None)
    >>> list(offered("/v1/series")), list(offered("/v1/sites/www.example.com"))
    (['json', 'csv'], ['json'])
    """
    rest = path.removeprefix(API)
    has_suffix = "." in rest and "/" not in rest  # names of hosts have dots, and a folder before them
    if rest == path or has_suffix:
        return None
    return OFFERED.get(path, JSON_ALONE)


def accepted(scope: Mapping[str, Any]) -> str:
    """The Accept header of a request; several are one list (RFC 9110 §5.3)."""
    return ",".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"accept")


def choose(scope: Mapping[str, Any]) -> Format | None:
    """The format that the Accept header chooses, None where it has no choice.

    Problem if it accepts none that is offered.
    """
    among = offered(scope["path"])
    return None if among is None else by_accept(accepted(scope), among)


def chosen(scope: Mapping[str, Any]) -> str:
    """Suffix of the format that the Accept header chooses; empty where it chooses none, or accepts none."""
    try:
        found = choose(scope)
    except Problem:
        return ""
    return "" if found is None else found.suffix

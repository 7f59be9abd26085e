"""Renders a report's content as an HTML page. Every string in the content is treated as hostile."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from releases.formatting import (
    grouped,
    quantity,
    range_text,
    significant,
    size,
    stated,
    visible_text,
    wholes,
)
from reports.document.illustrative import marks
from reports.document.theme import recolouring
from reports.forms.brief import Brief
from reports.forms.cells import bounds_near, cell
from reports.forms.provenance import parameters, provenance
from reports.forms.typesetting import unbroken

TEMPLATES = Path(__file__).with_name("templates")


def render_html(
    content: Mapping[str, Any], *, figures: Mapping[str, str], narrow: Mapping[str, str] | None = None
) -> str:
    """Render the self-contained page.

    `figures` are our own SVG drawings by name, `narrow` those of wide ones for phones.
    """
    drawn, for_phones = (
        {name: Markup(svg) for name, svg in some.items()}  # noqa: S704  # drawn by us
        for some in (figures, narrow or {})
    )
    return (
        _environment()
        .get_template("report.html.j2")
        .render(**standing(content), figures=drawn, narrow=for_phones, recolouring=recolouring())
    )


def render_brief(brief: Brief, *, wide: str, narrow: str) -> str:
    """Render the brief as a self-contained page. `wide` and `narrow` are our own SVG drawings."""
    figures = {"wide": Markup(wide), "narrow": Markup(narrow)}  # noqa: S704  # drawn by us
    template = _environment().get_template("brief.html.j2")
    return template.render(brief=brief, marks=brief.marks, recolouring=recolouring(), **figures)


def standing(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with what every template takes: labels, and the words that mark every number."""
    return {
        "recorded_pages": None,
        **content,
        "marks": marks(content),
        "provenance": provenance(content),
        "parameters": parameters(content),
    }


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "cell": cell,
        "bounds_near": bounds_near,
        "wholes": wholes,
        "grouped": grouped,
        "size": size,
        "quantity": quantity,
        "significant": significant,
        "range": range_text,
        "css": css_text,
        "stated": stated,
        "typed": as_typed,
    }
    return environment


def visible(value: Any) -> Any:  # noqa: ANN401  # a template prints any type
    """Replace invisible characters, which could make a name look like another,
    and keep a number and its unit on one line."""
    if not isinstance(value, str):
        return value
    if isinstance(value, Markup):
        return Markup(visible_text(value))  # noqa: S704  # it was Markup
    return unbroken(visible_text(value))


def as_typed(value: str) -> Markup:
    """Text that readers run, with its spaces as they are."""
    return escape(visible_text(value))


def css_text(value: str) -> str:
    """Text for a string of a style sheet: letters, digits and plain punctuation; all else is left out.

    >>> css_text('IW 16 is recommended'), css_text('"} </style>')
    ('IW 16 is recommended', ' style')
    """
    return "".join(one for one in value if one.isalnum() or one in " .,:-_")

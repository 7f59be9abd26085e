"""Renders a report's content as an HTML page. Every string in the content is treated as hostile."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from figures.rendering import pair_colours
from releases.formatting import grouped, quantity, range_text, significant, size, stated, wholes
from reports.content import Published
from reports.document.method import pattern_of
from reports.forms.brief import Brief
from reports.forms.cells import bounds_near, cell
from reports.forms.provenance import parameters, provenance
from reports.forms.typesetting import keep_unbroken
from reports.references import Reference, parts_of, reference_text

TEMPLATES = Path(__file__).with_name("templates")


def render_html(report: Published, *, figures: Mapping[str, str]) -> str:
    drawn = {name: Markup(svg) for name, svg in figures.items()}  # noqa: S704  # drawn by us
    template = _environment().get_template("report.html.j2")
    return template.render(
        **{field.name: getattr(report, field.name) for field in dataclasses.fields(report)},
        marks=report.marks,
        licence=report.licence,
        provenance=provenance(report),
        parameters=parameters(report),
        figures=drawn,
        recolouring=pair_colours(),
    )


def render_brief(brief: Brief, *, wide: str, narrow: str) -> str:
    figures = {"wide": Markup(wide), "narrow": Markup(narrow)}  # noqa: S704  # drawn by us
    template = _environment().get_template("brief.html.j2")
    return template.render(brief=brief, marks=brief.marks, recolouring=pair_colours(), **figures)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=unbroken,
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
        "linked": link_terms,
        "anchor": anchor,
        "reference": reference_text,
        "reference_id": reference_id,
    }
    return environment


def unbroken(value: Any) -> Any:  # noqa: ANN401  # a template prints any type
    """Keep a number and its unit on one line."""
    return keep_unbroken(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def link_terms(text: str, glossary: Mapping[str, str], references: Iterable[Reference] = ()) -> Markup:
    """Return a text in which each term leads to its meaning the first time, each citation to its reference,
    and a command between backticks is code.

    >>> print(link_terms("no back-cast: run `firstflight demo` & read", {"back-cast": "of 2010"}))
    no <a class="term" href="#term-back-cast">back-cast</a>: run <code>firstflight demo</code> &amp; read
    """
    known = {reference.anchor: reference for reference in references}
    marked_up = "".join(
        re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(unbroken(part)))) + (_citation(to) if to else "")
        for part, to in parts_of(text, known)
    )
    for term in sorted(glossary, key=len, reverse=True):
        marked_up = _link_first(marked_up, term)
    return Markup(marked_up)  # noqa: S704  # escaped above; terms and anchors are ours


def _citation(reference: Reference) -> str:
    return f'<a href="#{reference_id(reference.anchor)}">[{escape(reference.anchor)}]</a>'


def reference_id(name: str) -> str:
    """Return the anchor of a reference.

    >>> reference_id("RFC6928")
    'ref-rfc6928'
    """
    return "ref-" + "-".join(re.findall("[a-z0-9]+", name.lower()))


def _link_first(text: str, term: str) -> str:
    parts = re.split(r"(<a .*?</a>)", text)
    for at, part in enumerate(parts):
        if match := None if part.startswith("<a ") else pattern_of(term).search(part):
            link = f'<a class="term" href="#{anchor(term)}">{match[0]}</a>'
            return "".join([*parts[:at], part[: match.start()], link, part[match.end() :], *parts[at + 1 :]])
    return text


def anchor(term: str) -> str:
    """Return the anchor of a term.

    >>> anchor("initial window (IW)")
    'term-initial-window-iw'
    """
    return "term-" + "-".join(re.findall("[a-z0-9]+", term.lower()))


def as_typed(value: str) -> Markup:
    return escape(value)


def css_text(value: str) -> str:
    """Return letters, digits and plain punctuation, for a string of a style sheet.

    >>> css_text('IW 16 is recommended'), css_text('"} </style>')
    ('IW 16 is recommended', ' style')
    """
    return "".join(character for character in value if character.isalnum() or character in " .,:-_")

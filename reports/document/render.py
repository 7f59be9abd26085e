"""A report's facts as a page and as plain text. Every string in the facts is taken for hostile."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from releases.formatting import UNKNOWN, grouped, number, size
from reports.document.figures import DARK, LIGHT, SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATES = Path(__file__).with_name("templates")


def render_html(facts: Mapping[str, Any], *, figures: Mapping[str, str]) -> str:
    """The self-contained page; `figures` are SVG that we drew ourselves, by their names."""
    drawn = {name: Markup(svg) for name, svg in figures.items()}  # noqa: S704  # our own drawing, see above
    return (
        _environment()
        .get_template("report.html.j2")
        .render(**facts, figures=drawn, recolouring=recolouring(), shown=SHOWN)
    )


def recolouring() -> list[tuple[str, str]]:
    """The figures' colours on light ground, each with the one that takes its place on dark."""
    pairs = {LIGHT.ink: DARK.ink, LIGHT.faint: DARK.faint}
    pairs |= {colour: DARK.palette[measure] for measure, colour in LIGHT.palette.items()}
    return sorted(pairs.items())


def render_text(facts: Mapping[str, Any]) -> str:
    """The summary for a terminal."""
    return _environment(escape=False).get_template("summary.txt.j2").render(**facts, shown=SHOWN)


def _environment(*, escape: bool = True) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=escape,  # noqa: S701  # off for plain text alone
        undefined=jinja2.StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": number,
        "interval": interval,
        "grouped": grouped,
        "size": size,
        "p": p_value,
        "tied": tied,
    }
    return environment


def visible(value: Any) -> Any:  # noqa: ANN401  # jinja2 asks for whatever a template prints
    """Text without what a reader cannot see: controls and marks of direction could make a name look like another."""
    if not isinstance(value, str):
        return value
    shown = "".join("\ufffd" if unicodedata.category(c) in _UNSEEN and c != "\n" else c for c in value)
    return Markup(shown) if isinstance(value, Markup) else shown  # noqa: S704  # it was markup before


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def interval(value: Mapping[str, float] | None, digits: int = 2) -> str:
    """An estimate with its ends; a dash where it is unknown."""
    if value is None:
        return UNKNOWN
    ends = f"{number(value['lower'], digits)}, {number(value['upper'], digits)}"
    return f"{number(value['estimate'], digits)} [{ends}]"


def tied(sentence: str) -> str:
    """A sentence whose numbers keep their units beside them, and whose windows keep their size."""
    for unit in ("%", "pp"):
        sentence = sentence.replace(f" {unit}", f"\u00a0{unit}")
    return sentence.replace("IW ", "IW\u00a0")


def p_value(value: float | None) -> str:
    """A p-value; the smallest as a bound."""
    if value is None:
        return UNKNOWN
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"

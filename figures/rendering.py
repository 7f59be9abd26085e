"""Rendering of all figures: an Altair chart as Vega-Lite for browsers, and drawn offline by vl-convert as SVG
and PNG.

Charts have the colours of light ground. Those of dark ground stand in their place, one by one.
"""

from __future__ import annotations

import html
import io
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any, Literal

import vl_convert
from PIL import Image

from figures.text import text_width
from figures.theme import DARK, FONT, LIGHT, Theme

if TYPE_CHECKING:
    import altair as alt

LABELS: dict[str, Any] = {"labelFontSize": 11}
"""Labels of axes and legends in CSS pixels; Vega's 10 is too small on a phone."""

AXIS: dict[str, Any] = {
    "gridColor": LIGHT.faint,
    "labelColor": LIGHT.ink,
    "titleColor": LIGHT.ink,
    "titleFontWeight": "normal",
    **LABELS,
}
LEGEND: dict[str, Any] = {"orient": "bottom", "title": None, "labelColor": LIGHT.ink, **LABELS}

CLIP = re.compile(r"(?<=\bid=\"clip)\d+(?=\")|(?<=url\(#clip)\d+(?=\))")
"""Numbers of clip paths, which Vega counts over all drawings of a process."""

PLACES = re.compile(r'\s(?:d|transform|[xy][12]?)="[^"]*"')
LONG = re.compile(r"-?\d+\.\d{3,}(?![\de])")
"""Coordinates, and those with more decimal places than a hundredth of a pixel."""

SIDES = {side: re.compile(rf'<svg[^>]* {side}="([\d.]+)"') for side in ("width", "height")}

COLOURS = 128

PNG_WIDTH = 1920

Scheme = Literal["light", "dark"]
SCHEMES: dict[Scheme, Theme] = {"light": LIGHT, "dark": DARK}

SVG = "http://www.w3.org/2000/svg"
GROUP = f"{{{SVG}}}g"

UNPAINTED = re.compile(
    r'<path class="(?:back|fore)ground" aria-hidden="true" d="[^"]*"(?: '
    r'pointer-events="none")?(?: display="none")?/>'
)
"""Paths of Vega's groups without colour or line."""

TEXTS = re.compile(r'<text [^>]*font-size="([\d.]+)px"[^>]*>.*?</text>')
LETTERS = re.compile(r"<(text|tspan)((?: [^<>]*)?)>([^<]+)</")
"""Texts with their size, and their lines."""

TAG = re.compile(r"<[a-z][^<>]*>")

NOT_DRAWN = re.compile(
    r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"| (?:x2|y2)="0"| '
    r'font-weight="normal"| transform="translate\(0,0\)"'
)
"""Attributes that describe marks to programs, and those that say what holds without them."""

INHERITED = ("fill", "stroke", "stroke-dasharray", "stroke-width", "font-size", "font-weight", "text-anchor")
"""Attributes that parts have from their group unless they have their own (SVG 2, section 6.2)."""


def svg(chart: alt.TopLevelMixin | str, scheme: Scheme = "light") -> str:
    """Render a chart as self-contained SVG on no ground, the same bytes for the same chart."""
    drawn: str = vl_convert.vegalite_to_svg(vega_lite(chart, scheme), allowed_base_urls=[])
    # Each text names its font; said once for all, it makes the drawing a seventh smaller.
    family = f' font-family="{FONT}"'
    whole = drawn.replace(family, "").replace("<svg ", f"<svg{family} ", 1)
    clips: dict[str, str] = {}
    whole = CLIP.sub(lambda number: clips.setdefault(number[0], str(len(clips))), whole)
    return PLACES.sub(lambda place: LONG.sub(lambda number: f"{float(number[0]):.2f}", place[0]), whole)


def page_svg(chart: alt.TopLevelMixin | str) -> str:
    """Render a chart for a page: in half its size, with the widths of its texts."""
    return bare(with_widths(svg(chart)))


def with_widths(drawing: str) -> str:
    """Return a drawing whose texts have their widths, so that none is cut or covers another on a machine
    without its font, whose letters are wider.

    >>> with_widths('<text font-size="10px">IW 10</text>')
    '<text font-size="10px" textLength="26.12" lengthAdjust="spacingAndGlyphs">IW 10</text>'
    """
    return TEXTS.sub(_with_widths, drawing)


def _with_widths(text: re.Match[str]) -> str:
    size, is_bold = float(text[1]), 'font-weight="bold"' in text[0].partition(">")[0]

    def with_width(line: re.Match[str]) -> str:
        width = text_width(html.unescape(line[3]), size, is_bold=is_bold)
        return f'<{line[1]}{line[2]} textLength="{width:g}" lengthAdjust="spacingAndGlyphs">{line[3]}</'

    return LETTERS.sub(with_width, text[0])


def bare(drawing: str) -> str:
    """Return the same picture in half its size, for a figure that has a name and a table of its data beside
    it.

    >>> line = '<line aria-label="IW 3: 0.6" x2="0" y2="5" stroke="#1c2024" opacity="1"/>'
    >>> bare(f'<svg xmlns="{SVG}"><g class="axis"><g>{line}{line}</g><g></g></g></svg>').partition(">")[2]
    '<g stroke="#1c2024"><line y2="5"/><line y2="5"/></g></svg>'
    """
    root = ET.fromstring(  # noqa: S314 - drawn by this process
        TAG.sub(lambda tag: NOT_DRAWN.sub("", tag[0]), UNPAINTED.sub("", drawing))
    )
    _simplify(root)
    ET.register_namespace("", SVG)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _simplify(group: ET.Element) -> None:
    """Leave out empty groups, unwrap those that say nothing, and say once what parts share."""
    parts: list[ET.Element] = []
    for part in list(group):
        _simplify(part)
        if part.tag != GROUP or (part.attrib and len(part)):
            parts.append(part)
        elif not part.attrib:
            parts += part
        group.remove(part)
    group.extend(parts)
    if group.tag != GROUP or len(parts) < 2:
        return
    for name in INHERITED:
        first = parts[0].get(name)
        if first is not None and all(part.get(name) == first for part in parts):
            group.set(name, first)
            for part in parts:
                del part.attrib[name]


def pair_colours() -> list[tuple[str, str]]:
    """Return the colours on light ground, with those on dark."""
    pairs = {LIGHT.ink: DARK.ink, LIGHT.faint: DARK.faint, LIGHT.background: DARK.background}
    pairs |= {colour: DARK.palette[measure] for measure, colour in LIGHT.palette.items()}
    return sorted(pairs.items())


def for_both_schemes(drawing: str) -> str:
    """Return a drawing as a file of its own: whole on a narrow screen,
    with dark ground and light colours on a dark one.

    >>> for_both_schemes("<svg></svg>").partition("(prefers-color-scheme:dark){")[2].startswith("svg{background:#14181b}")
    True
    """  # noqa: E501
    rules = (
        f'[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in pair_colours()
        for name in ("fill", "stroke")
        if f'{name}="{light}"' in drawing
    )
    style = (
        "svg{max-width:100%;height:auto}@media screen and "
        f"(prefers-color-scheme:dark){{svg{{background:{DARK.background}}}{''.join(rules)}}}"
    )
    return re.sub(r"<svg[^>]*>", lambda root: f"{root[0]}<style>{style}</style>", drawing, count=1)


def png(chart: alt.TopLevelMixin | str, *, width: int = PNG_WIDTH, scheme: Scheme = "light") -> bytes:
    """Render a chart as PNG of `width` pixels, on the ground of the scheme."""
    return rasterise(svg(chart, scheme), width=width, scheme=scheme)


def rasterise(drawing: str, *, width: int = PNG_WIDTH, scheme: Scheme = "light") -> bytes:
    """Return a drawing as PNG; few colours make it less than half as large."""
    scale = width / float(SIDES["width"].findall(drawing)[0])
    drawn: bytes = vl_convert.svg_to_png(drawing, scale=scale)
    with Image.open(io.BytesIO(drawn)) as opened:
        ground = Image.new("RGBA", opened.size, SCHEMES[scheme].background)
        whole = Image.alpha_composite(ground, opened.convert("RGBA")).convert("RGB")
    written = io.BytesIO()
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def fit_slide(drawing: str, width: int, height: int) -> str:
    """Return a drawing in a slide of this size on white ground: in the middle, smaller if it is higher.

    >>> fit_slide('<svg width="960" height="270" viewBox="0 0 960 270"></svg>', 960, 540)
    '<svg width="960" height="540" viewBox="0 -135.0 960.0 540.0" style="background:#ffffff"></svg>'
    """
    own_width, own_height = (float(SIDES[side].findall(drawing)[0]) for side in ("width", "height"))
    times = max(own_width / width, own_height / height)
    x, y = ((own - times * whole) / 2 for own, whole in ((own_width, width), (own_height, height)))
    view = f"{x:g} {y} {times * width} {times * height}"
    root = f'width="{width}" height="{height}" viewBox="{view}" style="background:{LIGHT.background}"'
    old = re.compile(r'(?<= )width="[^"]*" height="[^"]*" viewBox="[^"]*"')
    return old.sub(root, drawing, count=1)


def vega_lite(chart: alt.TopLevelMixin | str, scheme: Scheme = "light") -> str:
    """Return the Vega-Lite of a chart as a file.

    Altair's check takes a fifth of a report's time; the tests make it.
    """
    if isinstance(chart, str):
        text = chart
    else:
        text = chart.to_json(indent=None, separators=(",", ":"), validate=False) + "\n"
    if scheme == "dark":
        for light, dark in pair_colours():
            text = text.replace(f'"{light}"', f'"{dark}"')
    return text

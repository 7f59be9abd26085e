"""Drawings without what is not drawn, and with what a group's parts share said once, of the group."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
GROUP = f"{{{SVG}}}g"

UNPAINTED = re.compile(
    r'<path class="(?:back|fore)ground" aria-hidden="true" d="[^"]*"(?: pointer-events="none")?(?: display="none")?/>'
)
"""Paths of Vega's groups that have neither a colour nor a line."""

TAG = re.compile(r"<[a-z][^<>]*>")

NOT_DRAWN = re.compile(
    r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"| (?:x2|y2)="0"| font-weight="normal"| transform="translate\(0,0\)"'
)
"""Attributes by which Vega describes marks and axes to programs, and those that say what holds without them."""

INHERITED = ("fill", "stroke", "stroke-dasharray", "stroke-width", "font-size", "font-weight", "text-anchor")
"""Attributes that the parts of a group have from it unless they have their own (SVG 2, section 6.2)."""


def bare(drawing: str) -> str:
    """The same picture in half its size, for a figure that has a name and a table of its data beside it.

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
    """Leave out empty groups, put the parts of groups that say nothing in their place, and say once what all parts share."""
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

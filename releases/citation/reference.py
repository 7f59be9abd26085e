"""References of Internet-Drafts, complete, so that nothing is fetched:
for kramdown-rfc and in RFCXML (RFC 7991)."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from typing import Any

from releases.formatting import in_ascii


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An entry of the list of references, complete, so that nothing is fetched."""

    anchor: str
    title: str
    authors: tuple[tuple[str, str], ...]
    """Initials and surnames; a body has no initials."""
    year: int
    month: str = ""
    target: str = ""
    series: tuple[tuple[str, str], ...] = ()
    content: str = ""


def reference_block(one: Reference) -> str:
    """A reference for the front matter."""
    return f"  {one.anchor}: {json.dumps(reference_facts(one))}"


def reference_facts(one: Reference) -> dict[str, Any]:
    """A reference in full; `override` tells kramdown-rfc not to look for its own."""
    authors = [
        {"name": f"{initials} {surname}", "ins": f"{initials} {surname}"} if initials else {"org": surname}
        for initials, surname in one.authors
    ]
    series = {"seriesinfo": dict(one.series)} if one.series else {}
    return {
        "title": in_ascii(one.title),
        "author": authors,
        "date": f"{one.month} {one.year}".strip(),
        **({"target": one.target} if one.target else {}),
        **series,
        **({"refcontent": in_ascii(one.content)} if one.content else {}),
        **({"override": True} if one.anchor.startswith("RFC") else {}),
    }


def reference_element(one: Reference) -> ET.Element:
    """A reference block."""
    made = ET.Element("reference", {"anchor": one.anchor, **({"target": one.target} if one.target else {})})
    front = ET.SubElement(made, "front")
    text_element(front, "title", one.title)
    for initials, surname in one.authors:
        if initials:
            names = {"fullname": f"{initials} {surname}", "initials": initials, "surname": surname}
            ET.SubElement(front, "author", names)
        else:
            text_element(ET.SubElement(front, "author"), "organization", surname)
    ET.SubElement(front, "date", {**({"month": one.month} if one.month else {}), "year": f"{one.year}"})
    for name, value in one.series:
        ET.SubElement(made, "seriesInfo", {"name": name, "value": value})
    if one.content:
        text_element(made, "refcontent", one.content)
    return made


def written(element: ET.Element) -> str:
    """An element as indented text."""
    ET.indent(element)
    return ET.tostring(element, encoding="unicode") + "\n"


def text_element(parent: ET.Element, name: str, text: str) -> ET.Element:
    """Add a child that holds text, in ASCII."""
    made = ET.SubElement(parent, name)
    made.text = in_ascii(text)
    return made

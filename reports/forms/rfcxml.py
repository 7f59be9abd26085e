"""Blocks and a skeleton of an Internet-Draft in RFCXML version 3 (RFC 7991), with nothing to fetch."""

import xml.etree.ElementTree as ET

from releases.citation.reference import reference_element, text_element, written
from reports.forms.ascii_figure import ascii_figure
from reports.forms.draft import (
    AUTHOR,
    EMAIL,
    ORGANIZATION,
    abstract,
    anchor,
    anchor_of,
    draft_name,
    references,
    sections,
)
from reports.forms.monochrome import monochrome_svg
from reports.forms.printed import Figure, Printed, Section, Table
from reports.forms.typesetting import tied_ascii

HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'


def draft_xml(report: Printed) -> str:
    """The whole skeleton."""
    root = ET.Element(
        "rfc",
        {
            "version": "3",
            "ipr": "trust200902",
            "docName": draft_name(report.year),
            "submissionType": "IETF",
            "category": "info",
            "consensus": "true",
            "xml:lang": "en",
            "tocInclude": "true",
            "symRefs": "true",
            "sortRefs": "true",
        },
    )
    root.append(_front(report))
    middle = ET.SubElement(root, "middle")
    for section in sections(report):
        middle.append(_section(report, section))
    listed = ET.SubElement(ET.SubElement(root, "back"), "references")
    text_element(listed, "name", "Informative References")
    listed.extend(reference_element(one) for one in references(report))
    return HEADER + written(root)


def _front(report: Printed) -> ET.Element:
    front = ET.Element("front")
    title = text_element(front, "title", f"Evidence on TCP's Initial Window in {report.year}")
    title.set("abbrev", f"IW Evidence {report.year}")
    ET.SubElement(front, "seriesInfo", {"name": "Internet-Draft", "value": draft_name(report.year)})
    author = ET.SubElement(front, "author", AUTHOR)
    text_element(author, "organization", ORGANIZATION)
    text_element(ET.SubElement(author, "address"), "email", EMAIL)
    ET.SubElement(front, "date")  # the day on which the draft is made
    text_element(front, "area", "WIT")
    text_element(front, "workgroup", "tcpm")
    sentence(ET.SubElement(front, "abstract"), "t", abstract(report))
    return front


def _section(report: Printed, section: Section) -> ET.Element:
    made = ET.Element("section", {"anchor": anchor(f"about-{section.id}")})
    text_element(made, "name", section.title)
    for paragraph in section.paragraphs:
        sentence(made, "t", paragraph)
    for command in section.commands:
        text_element(ET.SubElement(made, "t"), "tt", command)
    if section.items:
        items = ET.SubElement(made, "ul")
        for item in section.items:
            sentence(items, "li", item)
    if section.id == "introduction":
        made.append(_cited(report))
    for figure in section.figures:
        made.append(figure_element(figure))
        made.append(_again(figure.table))
    for table in section.tables:
        made.append(table_element(table))
        for note in table.notes:
            sentence(made, "t", note)
        if table.command:
            made.append(_again(table))
    return made


def _cited(report: Printed) -> ET.Element:
    """The sentence that cites every reference."""
    made = ET.Element("t")
    made.text = "The report is "
    for name, tail in (
        (anchor_of(report), "; the window of 10 segments is that of "),
        ("RFC6928", ", its evidence that of "),
        ("IW10-2010", ", and a window that adapts that of "),
        ("RFC9040", "."),
    ):
        ET.SubElement(made, "xref", {"target": name}).tail = tail
    return made


def _again(table: Table) -> ET.Element:
    made = ET.Element("t")
    ET.SubElement(made, "xref", {"target": anchor(table.id)}).tail = " is computed again by "
    made.text = ""
    told = f" (source: {table.source})." if table.source else "."
    text_element(made, "tt", table.command).tail = tied_ascii(told, tie="\u00a0")
    return made


def sentence(parent: ET.Element, name: str, text: str) -> ET.Element:
    """Add a child that holds text in ASCII, but for the no-break spaces within
    numbers and before their units."""
    made = ET.SubElement(parent, name)
    made.text = tied_ascii(text, tie="\u00a0")
    return made


def table_element(table: Table) -> ET.Element:
    """A table block."""
    made = ET.Element("table", {"anchor": anchor(table.id)})
    text_element(made, "name", table.title)
    for part, rows, cell in (("thead", [table.headings], "th"), ("tbody", table.rows, "td")):
        within = ET.SubElement(made, part)
        for row in rows:
            line = ET.SubElement(within, "tr")
            for text, right in zip(row, table.is_number, strict=True):
                sentence(line, cell, text).set("align", "right" if right else "left")
    return made


def figure_element(figure: Figure) -> ET.Element:
    """A figure block: the drawing in black and white, and the same in ASCII for the text."""
    made = ET.Element("figure", {"anchor": anchor(figure.id)})
    text_element(made, "name", figure.title.rstrip("."))
    artwork = ET.SubElement(made, "artset")
    ET.SubElement(artwork, "artwork", {"type": "svg"}).append(monochrome_svg(figure))
    drawn = "\n".join(["", *ascii_figure(figure), ""])
    ET.SubElement(artwork, "artwork", {"type": "ascii-art"}).text = drawn
    return made

"""Search over the words of the documents and the measures, in memory and without an index of its own."""

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence

from api.documents import shelved
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary

MOST_FOUND = 20
"""Sections of documents that a search shows."""

AROUND = 90
"""Characters of a section's text on each side of the first word that was found."""

HEADING = re.compile(r"^(#{1,4}) +(.+?) *$", re.MULTILINE)
MARKUP = re.compile(r"`|\*\*|\]\([^)]*\)|\[|^\s*\|?[-|: ]+\|?$|\|", re.MULTILINE)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section of a document, by its heading."""

    document: str
    title: str
    """Title of the document."""
    heading: str
    """Empty for what precedes the first heading below the title."""
    anchor: str
    text: str


def search_documents(words: Sequence[str]) -> list[tuple[Section, str]]:
    """Sections that have every word, with an excerpt: first those that have one in their heading."""
    found = [
        section for section in sections() if _has(words, f"{section.title} {section.heading} {section.text}")
    ]
    found.sort(key=lambda one: (not _has(words, f"{one.heading or one.title}"), one.document.count("/")))
    return [(one, _excerpt(one.text, words)) for one in found[:MOST_FOUND]]


def search_measures(words: Sequence[str]) -> list[tuple[str, str]]:
    """Names and definitions of the measures that have every word."""
    return [
        (name, text)
        for name, text in MEASURES.items()
        if _has(words, f"{name} {name.replace('_', ' ')} {text}")
    ]


def search_columns(words: Sequence[str]) -> list[tuple[str, str, str]]:
    """Table, name and definition of the columns that have every word in their name."""
    return [
        (table, column["name"], column["comment"])
        for table, facts in dictionary().items()
        for column in facts["columns"]
        if _has(words, f"{table}.{column['name']} {column['name'].replace('_', ' ')}")
    ]


def _has(words: Iterable[str], text: str) -> bool:
    lowered = text.lower()
    return all(word in lowered for word in words)


def _excerpt(text: str, words: Sequence[str]) -> str:
    """The text around the first place of any of the words."""
    plain = " ".join(MARKUP.sub(" ", text).split())
    places = [place for word in words if (place := plain.lower().find(word)) >= 0]
    begin = plain.rfind(" ", 0, max(0, min(places, default=0) - AROUND)) + 1
    end = begin + 2 * AROUND
    return f"{'… ' if begin else ''}{plain[begin:end]}{' …' if end < len(plain) else ''}"


@functools.cache
def sections() -> tuple[Section, ...]:
    """Every section of every document."""
    return tuple(
        section for name in shelved.sources() if name for section in _sections(name, shelved.text(name))
    )


def _sections(name: str, text: str) -> Iterable[Section]:
    from mdit_py_plugins.anchors.index import slugify  # its library is loaded where documents are read

    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = list(HEADING.finditer(text))
    title = MARKUP.sub("", headings[0][2]) if headings else name
    taken: dict[str, int] = {}
    for place, heading in enumerate(headings):
        end = headings[place + 1].start() if place + 1 < len(headings) else len(text)
        said = MARKUP.sub("", heading[2])
        slug = slugify(said)
        again = taken[slug] = taken.get(slug, -1) + 1
        yield Section(
            document=name,
            title=title,
            heading=said if place else "",
            anchor=(f"{slug}-{again}" if again else slug) if place else "",
            text=text[heading.end() : end],
        )

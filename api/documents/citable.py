"""Documents of the method as works that are cited, by the version of the code and the checksum of their text."""

from __future__ import annotations

import datetime
import functools
import hashlib
import json
import re

from api.documents.shelved import text
from releases.citation.work import Work, of_method
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary

DICTIONARY = "dictionary"
"""Name of the data dictionary, which is a document without a file."""

LICENCE = "MIT"
"""Licence of the documents, by its SPDX identifier: that of the code."""

RELEASED = re.compile(r"^## (?P<version>[0-9.]+), (?P<date>[0-9-]{10})$", re.MULTILINE)
"""Heading of a version in the changelog."""

NEXT = re.compile(r"^## Unreleased\s+-", re.MULTILINE)
"""Beginning of the changelog of code that is later than the last version."""


def document_text(name: str) -> str:
    """The text of a document; that of the dictionary is JSON. KeyError if there is none of that name."""
    if name == DICTIONARY:
        return json.dumps({"measures": MEASURES, "tables": dictionary()}, indent=2, ensure_ascii=False)
    return text(name)


def document_work(name: str, *, title: str, url: str | None) -> Work:
    """A document as it is cited, at the address of its page."""
    version, day = edition(text("changelog"))
    return of_method(
        name or "documents",
        title=title,
        version=version,
        year=day.year if day else datetime.datetime.now(datetime.UTC).year,
        date=day.isoformat() if day and not version.startswith("after") else None,
        checksum=hashlib.sha256(document_text(name).encode()).hexdigest(),
        licence=LICENCE,
        url=url,
    )


@functools.cache
def edition(changelog: str) -> tuple[str, datetime.date | None]:
    """The version of the code and the day of its release; of code that is later, the version that it comes after.

    >>> edition("## Unreleased\\n\\n## 0.2.0, 2026-11-22\\n"), edition("## Unreleased\\n\\n- New.\\n\\n## 0.2.0, 2026-11-22\\n")[0]
    (('0.2.0', datetime.date(2026, 11, 22)), 'after 0.2.0')
    >>> edition("## Unreleased\\n\\n- New.\\n")
    ('unreleased', None)
    """
    last = RELEASED.search(changelog)
    if last is None:
        return "unreleased", None
    after = "after " if NEXT.search(changelog) else ""
    return after + last["version"], datetime.date.fromisoformat(last["date"])

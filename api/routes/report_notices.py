"""How files other than pages say that their version of a report is superseded or withdrawn."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import PurePosixPath

from api.routes.provenance import standing
from api.stored.shelf import Report, Shelf
from releases.formatting import in_ascii

WIDTH = 72
"""Columns of a notice, as of the text below it."""

INDENT = "    "
"""What begins each line: Markdown takes such lines as they are, so that nothing in a reason can act."""


def bears_notice(name: str) -> bool:
    """True for a text that may have a notice on top: not a draft's source, whose beginning is for its tools.

    >>> bears_notice("forms/report.md"), bears_notice("forms/draft/draft-you-00.md"), bears_notice("report.json")
    (True, False, False)
    """
    path = PurePosixPath(name)
    return path.suffix in {".txt", ".md"} and "draft" not in path.parts


def notice(shelf: Shelf, report: Report) -> str:
    """ASCII lines that say how a version stands that is not the newest, and a blank line."""
    lines = (
        line
        for sentence in _sentences(shelf, report)
        for line in textwrap.wrap(sentence, WIDTH - len(INDENT))
    )
    return "".join(f"{INDENT}{in_ascii(line)}\n" for line in lines) + "\n"


def _sentences(shelf: Shelf, report: Report) -> Iterator[str]:
    which = f"version {report.version} of the report for {report.year}"
    newest = shelf.report(report.year)
    if report.withdrawal is not None:
        day = f" ON {report.withdrawal.date}" if report.withdrawal.date else ""
        yield f"WITHDRAWN{day}: {report.withdrawal.reason.rstrip('. ')}."
        yield f"Do not use {which}."
    else:
        yield f"SUPERSEDED: this is {which}."
    if newest.withdrawal is None:
        yield f"The newest is version {newest.version}: /reports/{report.year}/v{newest.version}/"
    for one in reversed(shelf.report_versions(report.year)):
        if one.version > report.version and one.publication.reason and one.withdrawal is None:
            made = one.publication.reason.rstrip(". ")
            yield f"Version {one.version} was made because: {made}. It corrects: {(one.publication.corrects or 'unknown').rstrip('. ')}."
    yield f"All versions: /reports/{report.year}/errata"


def saved_name(shelf: Shelf, report: Report, name: str) -> str:
    """Name under which a browser saves a file of a version: it says which version, and how the version stands.

    The name is the one thing about a published file that can change, and goes with the copy.
    """
    stands = standing(shelf, report)
    prefix = "" if stands == "newest" else f"{stands}-"
    return f"{prefix}{report.year}-v{report.version}-{PurePosixPath(name).name}"

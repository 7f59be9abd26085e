"""The summary as plain text: 72 columns of ASCII, as a mailing list wants it."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.formatting import in_ascii
from reports.forms.cells import key_number, visible_content
from reports.forms.typesetting import lines_of

WIDTH = 72
"""Columns of a line in a mail (RFC 3676 §4.2 asks for at most 78, and quoting adds some)."""

Data = Mapping[str, Any]


def summary_text(content: Data, *, marks: str) -> str:
    """Return the answer, the numbers that matter, and how to cite the report.

    `marks` are the words that mark its numbers.
    """
    return "\n".join(_lines(visible_content(content), marks)) + "\n"


def _wrap(text: str, *, indent: str = "", hang: str = "") -> list[str]:
    return lines_of(text, WIDTH, first=indent, rest=hang)


def _lines(content: Data, marks: str) -> Iterator[str]:
    answer, deciding = content["answer"], content["answer"]["deciding"]
    yield from _wrap(f"First flights in {content['year']}, version {content['publication']['version']}")
    if marks:
        yield from _wrap(f"Every number is {marks}.".upper())
    yield ""
    if answer["first_line"]:
        yield from [*_wrap(answer["first_line"]), ""]
    yield from _wrap(answer["headline"].upper())
    confidence = f"Confidence: {answer['confidence']['level']}; {answer['confidence']['because']}"
    for paragraph in (answer["sentence"], answer["limits"] or "", confidence):
        yield from _wrap(paragraph)
    if deciding:
        yield from _wrap(deciding["what"])
        yield f"  {in_ascii(deciding['command'])}"
    for reason in answer["reasons"]:
        yield from _wrap(reason, indent="- ", hang="  ")
    yield ""
    for number in answer["numbers"]:
        note = f"; {number['note']}" if number["note"] else ""
        yield from _wrap(f"{key_number(number)} {number['label']}{note}", indent="- ", hang="  ")
    # The checksum has a line of its own: it would not fit beside a word.
    sha256 = content["citation"]["data"].rpartition("sha256:")[2]
    line = content["citation"]["line"].replace(f", sha256:{sha256}", "")
    yield from ["", *_wrap(line, hang="  "), "SHA-256 of the release's data:", f"  {sha256}"]

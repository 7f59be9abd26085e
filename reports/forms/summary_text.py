"""The summary as plain text: 72 columns of ASCII, as a mailing list wants it."""

from collections.abc import Iterable, Iterator

from releases.formatting import in_ascii
from reports.forms.ascii_table import ascii_table
from reports.forms.printed import Printed
from reports.forms.typesetting import lines_of

WIDTH = 72
"""Columns of a line in a mail (RFC 3676 §4.2 asks for at most 78, and quoting adds some)."""

INDENT = "  "
"""Before commands and figures, which are no sentences."""


def summary_text(report: Printed) -> str:
    """The answer, the numbers that matter, and how to cite the report."""
    return "\n".join([*opening(report), "", *closing(report)]) + "\n"


def wrapped(text: str, *, indent: str = "", hang: str | None = None) -> list[str]:
    """Lines of at most WIDTH characters of ASCII, broken at spaces, with `hang` before all but the first."""
    return lines_of(text, WIDTH, first=indent, rest=indent if hang is None else hang)


def opening(report: Printed) -> list[str]:
    """Lines of the answer and the numbers that matter."""
    return list(_opening(report))


def closing(report: Printed) -> list[str]:
    """Lines that say how to cite the report."""
    # The checksum has a line of its own: it would not fit beside a word.
    citation = report.citation.replace(f", sha256:{report.sha256}", "")
    return [
        *wrapped(citation, hang="  "),
        "SHA-256 of the release's SHA256SUMS:",
        f"  {report.sha256}",
    ]


def _opening(report: Printed) -> Iterator[str]:
    yield from wrapped(f"{report.title}, version {report.version}")
    if report.marks:
        yield from wrapped(f"Every number is {report.marks}.".upper())
    yield ""
    if report.warning:
        yield from wrapped(report.warning)
        yield ""
    yield from wrapped(report.headline.upper())
    for told in (report.sentence, report.limits, report.confidence, report.deciding):
        yield from wrapped(told)
    if report.deciding:
        yield from command_lines([report.deciding_command])
    for reason in report.reasons:
        yield from wrapped(reason, indent="- ", hang="  ")
    if report.numbers:
        yield ""
        rows = [(one.label, one.value, one.note) for one in report.numbers]
        yield from ascii_table(("number", "value", ""), (False, False, False), rows, width=WIDTH)


def command_lines(commands: Iterable[str]) -> Iterator[str]:
    """Commands as a shell takes them: a long one goes on after a backslash."""
    for command in commands:
        line = INDENT
        for word in in_ascii(command).split():
            if len(line) + len(word) > WIDTH - len(" \\") and line.strip():
                yield f"{line.rstrip()} \\"
                line = INDENT * 2
            line += f"{word} "
        yield line.rstrip()

"""Reproductions as a Markdown page, with a verdict and a paragraph each, and as tables in CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from replay.published.reproduction import Reproduction, Row

FOLDER = "reproduction"
"""Folder of the tables, beside the page."""

CHECKS = "checks.csv"
"""The table with the checks of all results."""

HEAD = """# Published results, measured again

Seven published results about the initial window, measured again with the replay's arithmetic and its Linux kernel. A result is
*reproduced* if it passes all its checks, whose bounds are in the code; a paragraph says where a check was added after
values had been seen. [{checks}]({folder}/{checks}) has every check with its bound, and a table for each result the published values beside ours.

`firstflight replay reproduce all --document docs/reproduction.md` writes this page and its tables; these are of commit `{commit}`.
"""  # noqa: E501


def document(found: Sequence[Reproduction], *, commit: str, figures: Mapping[str, str]) -> str:
    """The page; `figures` are paths by reproduction id."""
    lines = [
        HEAD.format(commit=commit[:12], folder=FOLDER, checks=CHECKS),
        "| result | what | verdict |",
        "|---|---|---|",
    ]
    lines += [f"| `{one.id}` | {one.title} | {verdict(one)} |" for one in found]
    for one in found:
        lines += ["", *section(one, figures.get(one.id))]
    return "\n".join(lines) + "\n"


def tables(found: Sequence[Reproduction]) -> dict[str, str]:
    """The tables as CSV, by their names: the values of each result, and the checks of all."""
    checks = (
        (
            one.id,
            criterion.what,
            f"{criterion.measured:.4g}",
            "at most" if criterion.at_most else "at least",
            f"{criterion.bound:g}",
            "passed" if criterion.passed else "failed",
        )
        for one in found
        for criterion in one.criteria
    )
    values = {
        f"{one.id}.csv": table(("value", "unit", "published", "ours", "difference"), map(cells, one.rows))
        for one in found
    }
    return {CHECKS: table(("result", "check", "measured", "is", "bound", "verdict"), checks), **values}


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([names, *rows])
    return written.getvalue()


def cells(row: Row) -> tuple[str, ...]:
    """A value as a row of the table; what is unknown is empty."""
    published = "" if row.published is None else f"{row.published:.5g}"
    difference = "" if row.difference is None else f"{row.difference:+.1%}"
    return row.what, row.unit, published, f"{row.ours:.5g}", difference


def verdict(one: Reproduction) -> str:
    """The verdict in words, with the number of failed criteria."""
    failed = sum(not criterion.passed for criterion in one.criteria)
    return (
        "reproduced" if one.reproduced else f"not reproduced: {failed} of {len(one.criteria)} checks failed"
    )


def section(one: Reproduction, figure: str | None) -> Iterator[str]:
    """Yield the lines of one reproduction."""
    yield f"## `{one.id}`: {one.title}"
    yield ""
    yield f"**{verdict(one).capitalize()}.** {one.reading}"
    if figure:
        yield ""
        yield f"![{one.title}: published values beside ours]({figure})"
    if failed := [criterion for criterion in one.criteria if not criterion.passed]:
        yield ""
        yield "| failed check | measured | bound |"
        yield "|---|---|---|"
        for criterion in failed:
            sign = "≤" if criterion.at_most else "≥"
            yield f"| {criterion.what} | {criterion.measured:.4g} | {sign} {criterion.bound:g} |"
    yield ""
    yield f"Source: {one.source}."
    yield f"Method: {one.method}"
    yield f"Values: [{one.id}.csv]({FOLDER}/{one.id}.csv)."

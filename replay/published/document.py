"""All reproductions, as a Markdown page with a verdict and a paragraph each, and as tables in CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from replay.lab.guest_process import Lab
from replay.published import baidu, cs244, dukkipati, fld, ietf77, linkedin, rfc6928
from replay.published.reproduction import ComparedValue, Reproduction

REPRODUCTIONS: dict[str, Callable[[Lab], Reproduction]] = {
    "rfc6928-rounds": rfc6928.run,
    "cs244-2017": cs244.run,
    "dukkipati-2010": dukkipati.run,
    "baidu-2018": baidu.run,
    "fld-2012": fld.run,
    "linkedin-2016": linkedin.run,
    "ietf77": ietf77.run,
}

FOLDER = "reproduction"

CHECKS = "checks.csv"

HEAD = """# Published results, measured again

Seven published results about the initial window, measured again with the replay's arithmetic and its Linux kernel. A result is
*reproduced* if it passes all its checks, whose bounds are in the code; a paragraph says where a check was added after
values had been seen. [{checks}]({folder}/{checks}) has every check with its bound, and a table for each result the published values beside ours.

`firstflight replay reproduce all --document docs/reproduction.md` writes this page and its tables; these are of commit `{commit}`.
"""  # noqa: E501


def document(reproductions: Sequence[Reproduction], *, commit: str, figures: Mapping[str, str]) -> str:
    lines = [
        HEAD.format(commit=commit[:12], folder=FOLDER, checks=CHECKS),
        "| result | what | verdict |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{reproduction.id}` | {reproduction.title} | {verdict(reproduction)} |"
        for reproduction in reproductions
    ]
    for reproduction in reproductions:
        lines += ["", *section(reproduction, figures.get(reproduction.id))]
    return "\n".join(lines) + "\n"


def tables(reproductions: Sequence[Reproduction]) -> dict[str, str]:
    checks = (
        (
            reproduction.id,
            criterion.what,
            f"{criterion.measured:.4g}",
            "at most" if criterion.at_most else "at least",
            f"{criterion.bound:g}",
            "passed" if criterion.passed else "failed",
        )
        for reproduction in reproductions
        for criterion in reproduction.criteria
    )
    values = {
        f"{reproduction.id}.csv": table(
            ("value", "unit", "published", "ours", "difference"), map(cells, reproduction.rows)
        )
        for reproduction in reproductions
    }
    return {CHECKS: table(("result", "check", "measured", "is", "bound", "verdict"), checks), **values}


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([names, *rows])
    return written.getvalue()


def cells(row: ComparedValue) -> tuple[str, ...]:
    published = "" if row.published is None else f"{row.published:.5g}"
    difference = "" if row.difference is None else f"{row.difference:+.1%}"
    return row.what, row.unit, published, f"{row.ours:.5g}", difference


def verdict(reproduction: Reproduction) -> str:
    failed = sum(not criterion.passed for criterion in reproduction.criteria)
    return (
        "reproduced"
        if reproduction.reproduced
        else f"not reproduced: {failed} of {len(reproduction.criteria)} checks failed"
    )


def section(reproduction: Reproduction, figure: str | None) -> Iterator[str]:
    yield f"## `{reproduction.id}`: {reproduction.title}"
    yield ""
    yield f"**{verdict(reproduction).capitalize()}.** {reproduction.reading}"
    if figure:
        yield ""
        yield f"![{reproduction.title}: published values beside ours]({figure})"
    if failed := [criterion for criterion in reproduction.criteria if not criterion.passed]:
        yield ""
        yield "| failed check | measured | bound |"
        yield "|---|---|---|"
        for criterion in failed:
            sign = "≤" if criterion.at_most else "≥"
            yield f"| {criterion.what} | {criterion.measured:.4g} | {sign} {criterion.bound:g} |"
    yield ""
    yield f"Source: {reproduction.source}."
    yield f"Method: {reproduction.method}"
    yield f"Values: [{reproduction.id}.csv]({FOLDER}/{reproduction.id}.csv)."

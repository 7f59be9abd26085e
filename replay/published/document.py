"""Reproductions as a Markdown page: verdicts, then the criteria, values and defects of each."""

from collections.abc import Iterator, Mapping, Sequence

from replay.published.reproduction import Reproduction, Row

HEAD = """# Published results, measured again

Made by `firstflight replay reproduce`, commit {commit}. A verdict is the sum of its checks, whose bounds were fixed before
the first run; where a check was added later, that stands below it. "Not reproduced" is a result, and its reason stands below it too.
"""  # noqa: E501


def document(found: Sequence[Reproduction], *, commit: str, figures: Mapping[str, str]) -> str:
    """The page; `figures` are paths by reproduction id."""
    lines = [HEAD.format(commit=commit), "| name | what | verdict |", "|---|---|---|"]
    lines += [f"| `{one.id}` | {one.title} | {verdict(one)} |" for one in found]
    for one in found:
        lines += ["", *section(one, figures.get(one.id))]
    return "\n".join(lines) + "\n"


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
    yield f"Source: {one.source}."
    yield f"Method: {one.method}"
    yield ""
    yield "| check | measured | bound | |"
    yield "|---|---|---|---|"
    for criterion in one.criteria:
        sign = "≤" if criterion.at_most else "≥"
        yield (
            f"| {criterion.what} | {criterion.measured:.4g} | {sign} {criterion.bound:g} | "
            f"{'passed' if criterion.passed else 'failed'} |"
        )
    yield ""
    yield from (f"- {defect}" for defect in one.defects)
    if figure:
        yield ""
        yield f"![{one.title}: published values beside ours]({figure})"
    yield ""
    yield "| value | published | ours | difference |"
    yield "|---|---|---|---|"
    yield from map(table_row, one.rows)


def table_row(row: Row) -> str:
    """A row of the table of values."""
    published = "-" if row.published is None else f"{row.published:.5g} {row.unit}"
    difference = "-" if row.difference is None else f"{row.difference:+.1%}"
    return f"| {row.what} | {published} | {row.ours:.5g} {row.unit} | {difference} |"

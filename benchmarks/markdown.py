"""Parts of docs/performance.md: tables, ranges, and where a section was measured."""

from collections.abc import Sequence
from typing import Any


def describe_measurement(facts: dict[str, Any]) -> str:
    machine = facts["machine"]
    return (
        f"Measured on {facts['measured_at'][:10]} at commit `{facts['commit'][:12]}`"
        f"{' with changes' if facts['commit'].endswith('-dirty') else ''}, on {machine['cpus']} cores.\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown.

    >>> print(table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---:|
    | 1 | 2 |
    """
    lines = [
        " | ".join(head),
        "|".join(["---", *["---:"] * (len(head) - 1)]),
        *(" | ".join(row) for row in rows),
    ]
    return "".join(f"|{line}|\n" if line.startswith("---") else f"| {line} |\n" for line in lines)


def format_range(spread: dict[str, float], digits: int = 0) -> str:
    """Return the median, with the range in brackets.

    >>> format_range({"median": 1234.5, "min": 1.0, "max": 2000.0})
    '1,234 (1 to 2,000)'
    """
    return f"{spread['median']:,.{digits}f} ({spread['min']:,.{digits}f} to {spread['max']:,.{digits}f})"

"""The zoo's table, docs/zoo/cases.csv, and its totals in docs/zoo.md: `python -m tests.zoo.table` writes
both from the result of the last test run.

No value in them differs between runs.
"""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from tests.zoo.case import PROTOCOLS, Case
from tests.zoo.comparing import Visited
from tests.zoo.pages import PAGES

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "build" / "zoo.json"
PAGE = ROOT / "docs" / "zoo.md"
TABLE = ROOT / "docs" / "zoo" / "cases.csv"
BEGIN, END = "<!-- zoo: begin -->\n", "<!-- zoo: end -->\n"

TITLES = {"h1": "HTTP/1.1, clear", "h1tls": "HTTP/1.1, TLS", "h2": "HTTP/2", "h3": "HTTP/3"}

Result: TypeAlias = "dict[str, dict[str, dict[str, Any]]]"
"""By case and protocol: `equal`, `of`, and `unknown` by reason; or `bounded` alone."""


def result(visits: Iterable[Visited]) -> Result:
    result: Result = {}
    for visited in visits:
        for case in visited.cases.values():
            equal, of = visited.equal(case.id)
            cell = (
                {"bounded": True}
                if case.bounded
                else {"equal": equal, "of": of, "unknown": visited.unknown(case.id)}
            )
            result.setdefault(case.id, {})[visited.protocol] = cell
    return result


def table(result: Result) -> str:
    """Return the table as CSV: a row for each case, with its cells and what is to be said of them."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["case", *(TITLES[name] for name in PROTOCOLS), "note"])
    for page in PAGES:
        for case in page.cases:
            cells = (_cell(result.get(case.id, {}).get(name)) for name in PROTOCOLS)
            rows.writerow([case.id, *cells, _note(case)])
    return written.getvalue()


def _note(case: Case) -> str:
    """Why a cell is a bound, why the connection's end is unread, and why a protocol does not apply."""
    notes = [f"at most what was sent: {case.bounded}"] if case.bounded else []
    notes += [f"exact, but for the end of the connection: {case.unread_end}"] if case.unread_end else []
    for reason in dict.fromkeys(case.apart.values()):
        where = ", ".join(TITLES[name] for name, why in case.apart.items() if why == reason)
        notes.append(f"not over {where}: {reason}")
    return "; ".join(notes)


def totals(result: Result) -> str:
    """Return the numbers of all responses by protocol, in a line of Markdown."""
    return f"In all: {', '.join(_total(result, name) for name in PROTOCOLS)}.\n"


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    if cell.get("bounded"):
        return "≤"
    unknown = "".join(f", {count} {reason}" for reason, count in sorted(cell["unknown"].items()))
    return f"{cell['equal']} of {cell['of']}{unknown}"


def _total(result: Result, protocol: str) -> str:
    cells = [cells[protocol] for cells in result.values() if "equal" in cells.get(protocol, {})]
    return f"{TITLES[protocol]} {sum(cell['equal'] for cell in cells)} of {sum(cell['of'] for cell in cells)}"


def save(result: Result) -> None:
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


def main() -> None:
    if not RESULT.exists():
        raise SystemExit(f"no {RESULT.relative_to(ROOT)}: run pytest tests/crawler/visit/test_zoo.py first")
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    result = json.loads(RESULT.read_text())
    PAGE.write_text(before + begin + totals(result) + END + after)
    TABLE.write_text(table(result))


if __name__ == "__main__":
    main()

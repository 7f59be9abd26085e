"""The zoo's table in docs/zoo.md: `python -m tests.zoo.table` writes it from
the result of the last test run.

It has no value that differs between runs.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from tests.zoo.case import PROTOCOLS
from tests.zoo.comparing import Visited
from tests.zoo.pages import PAGES

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "build" / "zoo.json"
PAGE = ROOT / "docs" / "zoo.md"
BEGIN, END = "<!-- zoo: begin -->\n", "<!-- zoo: end -->\n"

TITLES = {"h1": "HTTP/1.1, clear", "h1tls": "HTTP/1.1, TLS", "h2": "HTTP/2", "h3": "HTTP/3"}

Result: TypeAlias = "dict[str, dict[str, dict[str, Any]]]"
"""By case and protocol: `equal`, `of`, and `unknown` by reason; or `bounded` alone."""


def result(visits: Iterable[Visited]) -> Result:
    """Return the result of a run."""
    found: Result = {}
    for visited in visits:
        for case in visited.cases.values():
            equal, of = visited.equal(case.id)
            cell = (
                {"bounded": True}
                if case.bounded
                else {"equal": equal, "of": of, "unknown": visited.unknown(case.id)}
            )
            found.setdefault(case.id, {})[visited.protocol] = cell
    return found


def markdown(found: Result) -> str:
    """Return the table and its notes."""
    head = ["case", *(TITLES[name] for name in PROTOCOLS)]
    rows = [head, ["---"] * len(head)]
    cases = [case for page in PAGES for case in page.cases]
    rows += [[case.id, *(_cell(found.get(case.id, {}).get(name)) for name in PROTOCOLS)] for case in cases]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", f"In all: {', '.join(_total(found, name) for name in PROTOCOLS)}.", ""]
    lines += ["`≤`: at most what was sent, because", ""]
    lines += [f"- {case.id}: {case.bounded}" for case in cases if case.bounded]
    lines += ["", "Exact, but for the end of the connection:", ""]
    lines += [f"- {case.id}: {case.unread_end}" for case in cases if case.unread_end]
    lines += ["", "`-`: does not apply, because", ""]
    for case in cases:
        for reason in dict.fromkeys(case.apart.values()):
            where = ", ".join(TITLES[name] for name, why in case.apart.items() if why == reason)
            lines.append(f"- {case.id} over {where}: {reason}")
    return "\n".join(lines) + "\n"


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    if cell.get("bounded"):
        return "≤"
    unknown = "".join(f", {count} {reason}" for reason, count in sorted(cell["unknown"].items()))
    return f"{cell['equal']} of {cell['of']}{unknown}"


def _total(found: Result, protocol: str) -> str:
    cells = [cells[protocol] for cells in found.values() if "equal" in cells.get(protocol, {})]
    return f"{TITLES[protocol]} {sum(one['equal'] for one in cells)} of {sum(one['of'] for one in cells)}"


def save(found: Result) -> None:
    """Save the result for the table."""
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Write the table."""
    if not RESULT.exists():
        raise SystemExit(f"no {RESULT.relative_to(ROOT)}: run pytest tests/crawler/visit/test_zoo.py first")
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + begin + markdown(json.loads(RESULT.read_text())) + END + after)


if __name__ == "__main__":
    main()

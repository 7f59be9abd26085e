"""The parts of a report that can be computed again, by id: figures and tables as CSV, numbers as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reports.forms.figure_files import band_columns, csv_text
from reports.forms.printed import tables_of

Data = Mapping[str, Any]


def items(content: Data) -> dict[str, str]:
    """The text of every item of a report's content, by id: its data with all digits that are published."""
    return dict(_items(content))


def _items(content: Data) -> Iterator[tuple[str, str]]:
    for number in content["answer"]["numbers"]:
        written = json.dumps(number, indent=2, sort_keys=True, ensure_ascii=False)
        yield f"number-{number['id']}", f"{written}\n"
    figures = (one for section in content["sections"] for one in section["figures"])
    for one in (*figures, *tables_of(content)):
        yield one["id"], csv_text(one["columns"], one["rows"])
        if one.get("bands"):
            yield f"{one['id']}-bands", csv_text(band_columns(one), one["bands"])


def differences(stored: str, again: str) -> tuple[str, ...]:
    """Lines that differ, as stored and as computed again; empty if all digits are equal.

    >>> differences("iw,ms\\n10,1.5\\n", "iw,ms\\n10,1.6\\n")
    ('- 10,1.5', '+ 10,1.6')
    """
    before, now = stored.splitlines(), again.splitlines()
    found: list[str] = []
    for at in range(max(len(before), len(now))):
        pair = [lines[at] if at < len(lines) else None for lines in (before, now)]
        if pair[0] != pair[1]:
            found += [f"{sign} {line}" for sign, line in zip("-+", pair, strict=True) if line is not None]
    return tuple(found)

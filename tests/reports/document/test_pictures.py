"""The titles of pictures claim no more than the intervals of their data."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from releases.formatting import in_ascii
from reports.content import Published, parse_content
from reports.document.pictures import draw_pictures

EDITION = Path(__file__).parents[3] / "editions" / "2026" / "report.json"


def rows_of(content: Any, table: str) -> Iterator[dict[str, Any]]:
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for part in parts:
        if isinstance(part, dict) and part.get("id") == table:
            yield from part["rows"]
        yield from rows_of(part, table)


def title_of_same_sites(content: dict[str, Any]) -> str:
    pictures = draw_pictures(parse_content(Published, content))
    (chart,) = (picture.chart for picture in pictures if picture.id == "same-sites")
    return in_ascii(" ".join(chart.to_dict()["title"]["text"]))


def test_a_window_is_named_only_if_every_way_of_counting_headers_shows_its_change() -> None:
    content = json.loads(EDITION.read_text(encoding="utf-8"))
    begin, end = "On the same 28 sites fewer responses fit into", "segments than in 2019"
    assert title_of_same_sites(content) == f"{begin} 3, 16 and 30 {end}"
    for row in rows_of(content, "same-sites-shares"):
        if (row["window"], row["sizes"]) == ("IW 30", "bodies alone"):
            row["change"]["upper"] = 0.1
    assert title_of_same_sites(content) == f"{begin} 3 and 16 {end}"

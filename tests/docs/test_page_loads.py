"""The tables of docs/methods.md beside Chromium follow from the times that are kept by page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.page_loads import page_times, table
from benchmarks.page_loads.comparing import compare


def test_the_tables_beside_chromium_follow_from_the_times_of_each_page() -> None:
    text = Path("docs/methods.md").read_text(encoding="utf-8")
    shown = text.partition(table.BEGIN)[2].partition(table.END)[0]
    introduction = shown.splitlines()[0]
    assert shown == table.markdown(compare(page_times.read(page_times.KEPT)), introduction)


def test_every_page_has_a_time_at_every_window_in_every_row() -> None:
    for (network, measure), (real, _) in page_times.read(page_times.KEPT).items():
        assert len({iw for _, iw in real}) * len({page for page, _ in real}) == len(real), (network, measure)

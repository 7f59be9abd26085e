"""RFC 9040's step, year by year."""

from typing import Any

import pytest

from reports.answer.shape import Findings
from reports.sections.method import rfc9040_section


def findings(*, iw: int | None) -> Findings:
    nothing: dict[str, Any] = {
        "reasons": (),
        "rows": (),
        "deciding": None,
        "loads": 0,
        "pages": 0,
        "networks": 0,
    }
    return Findings(incumbent=10, windows=(6, 12, 16), iw=iw, is_decided=True, is_sound=True, **nothing)


@pytest.mark.parametrize(
    ("iw", "windows"),
    [(None, [12, 14, 16]), (12, [12])],
    ids=["the largest candidate where the rule chooses none", "the rule's window"],
)
def test_the_step_is_shown_year_by_year_as_a_table_and_a_figure(iw: int | None, windows: list[int]) -> None:
    section = rfc9040_section(findings(iw=iw), step=2, year=2026)
    (table,), (figure,) = section.tables, section.figures
    assert table.rows == figure.rows
    assert [row["window"] for row in table.rows] == windows
    assert [row["year"] for row in table.rows] == [str(2026 + at) for at in range(len(windows))]
    assert (table.rows[0]["candidates"], table.rows[-1]["candidates"]) == ("IW 12", f"IW {windows[-1]}")

"""The sections of a report: their numbers are those of the cells and sizes."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from figures.frame import PHONE
from figures.rendering import svg
from reports.document.charts import draw_figure
from reports.forms.typesetting import in_type
from tests.factories.made_up_report import GAINS, crawl, published

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def content(built: tuple[Path, dict[str, Any]]) -> dict[str, Any]:
    return built[1]


@pytest.fixture(scope="module")
def sections(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {section["id"]: section for section in content["sections"]}


def table(section: dict[str, Any], name: str) -> list[dict[str, Any]]:
    (table,) = (each for each in section["tables"] if each["id"] == name)
    rows: list[dict[str, Any]] = table["rows"]
    return rows


def figure(section: dict[str, Any], name: str) -> dict[str, Any]:
    figure: dict[str, Any]
    (figure,) = (each for each in section["figures"] if each["id"] == name)
    return figure


def test_the_sections_argue_from_what_fits_to_what_can_be_believed(content: dict[str, Any]) -> None:
    assert [section["id"] for section in content["sections"]] == [
        "sizes",
        "policies",
        "round-trips",
        "otherwise",
        "instrument",
        "related",
    ]
    assert "experiment of 2010" in content["fuller"]
    assert all(figure["rows"] for section in content["sections"] for figure in section["figures"])


def test_nine_tenths_of_web_searchs_responses_of_2010_fit_into_ten_segments(
    sections: dict[str, dict[str, Any]],
) -> None:
    """Dukkipati et al. 2010, §2: about 90 % of HTTP Web search responses fit within 10 segments."""
    rows = {row["curve"]: row for row in table(sections["sizes"], "fits-2010")}
    assert rows["search, 2010"]["iw10"] == pytest.approx(90, abs=3)
    sizes = [row["wire_bytes"] for row in crawl().response]
    assert rows["pages, 2026"]["iw10"] == pytest.approx(
        100 * sum(size <= 14_300 for size in sizes) / len(sizes), abs=0.01
    )


def test_the_curves_have_bands_that_hold_the_shares_of_the_table(sections: dict[str, dict[str, Any]]) -> None:
    drawn = figure(sections["sizes"], "cdf")
    assert [line["label"] for line in drawn["lines"]] == ["IW 3", "IW 10", "IW 30"]
    shares = {row["measure"]: row for row in table(sections["sizes"], "shares")}
    assert {row["measure"] for row in drawn["bands"]} == {row["measure"] for row in drawn["rows"]}
    for row in drawn["bands"]:
        assert row["size"] >= min(
            point["size"] for point in drawn["rows"] if point["measure"] == row["measure"]
        )
        assert row["percent"]["lower"] <= row["percent"]["estimate"] <= row["percent"]["upper"]
        if row["size"] == 14_300:
            assert row["percent"] == pytest.approx(shares[row["measure"]]["iw10"], rel=1e-4)


def test_shares_by_protocol_are_counts_over_its_responses(sections: dict[str, dict[str, Any]]) -> None:
    protocols = {connection["id"]: connection["protocol"] for connection in crawl().connection}
    names = {"h2": "HTTP/2", "h3": "HTTP/3", "http/1.1": "HTTP/1.1"}
    sizes: dict[str, list[int]] = {}
    for response in crawl().response:
        sizes.setdefault(names[protocols[response["connection_id"]]], []).append(response["wire_bytes"])
    rows = {row["kind"]: row for row in table(sections["sizes"], "kinds") if row["by"] == "protocol"}
    assert rows.keys() == sizes.keys()
    for name, some in sizes.items():
        share = 100 * sum(size <= 14_300 for size in some) / len(some)
        assert rows[name]["known"] == len(some)
        assert rows[name]["share"]["estimate"] == pytest.approx(share, abs=0.001)
        assert rows[name]["share"]["lower"] <= share <= rows[name]["share"]["upper"]


def test_the_table_of_policies_has_the_gains_of_the_cells(sections: dict[str, dict[str, Any]]) -> None:
    rows = {row["policy"]: row for row in table(sections["policies"], "policies")}
    assert {policy: row["standing"] for policy, row in rows.items()} == {
        "3 at once": "shown alone",
        "16 at once": "worth it",
        "30 at once": "worth it",
    }
    for policy, row in rows.items():
        gain = GAINS[int(policy.removesuffix(" at once"))]
        for unit in ("gain", "gain_in_sum"):
            assert row[unit]["lower"] - 0.1 < gain < row[unit]["upper"] + 0.1
        assert (row["milliseconds"]["estimate"] > 0) == (gain > 0)
        assert row["others"] is None
        assert row["confirmed"] == "not asked"


def test_the_ledger_has_a_row_for_each_that_could_decide_otherwise(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = table(sections["otherwise"], "ledger")
    stored = content["verdict"]["ledger"]
    assert [row["title"] for row in rows] == in_type([row["title"] for row in stored])
    assert [row["per_load"] for row in rows] == [row["per_load_pp"] for row in stored]
    assert len(rows) >= 4


def test_every_figure_and_table_has_an_id_a_unit_a_source_and_a_query(content: dict[str, Any]) -> None:
    exhibits = [
        exhibit for section in content["sections"] for exhibit in (*section["figures"], *section["tables"])
    ]
    ids = [exhibit["id"] for exhibit in exhibits]
    assert len(set(ids)) == len(ids) >= 12
    for exhibit in exhibits:
        assert exhibit["title"], exhibit["id"]
        assert exhibit["source"], exhibit["id"]
        assert exhibit["query"], exhibit["id"]
        named = {column["id"] for column in exhibit["columns"]}
        for row in exhibit["rows"]:
            assert set(row) <= named, exhibit["id"]


def test_every_figure_is_drawn_from_its_rows_alone(content: dict[str, Any]) -> None:
    figures = [*published(content).figures()]
    assert {figure.drawing for figure in figures} == {"dots", "curves", "plane"}
    for figure in figures:
        if figure.drawing == "plane":
            continue
        chart = draw_figure(figure, width=PHONE, note="illustrative")
        assert chart is not None, figure.id
        assert ">illustrative</text>" in svg(chart)
        assert draw_figure(dataclasses.replace(figure, rows=()), width=PHONE) is None

"""The sections of a report: their numbers are those of the cells and sizes, and what is missing is said."""

from typing import Any

import pytest

from reports.document.drawing import draw_figure
from reports.document.report import build_report
from reports.document.theme import svg
from tests.factories.made_up_report import (
    GAINS,
    PAGES,
    crawl,
    data_folder,
    read_data_folder,
)

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    data_dir = tmp_path_factory.mktemp("data")
    data_folder(data_dir)
    return build_report(read_data_folder(data_dir), data_dir / "reports" / "2026", commit="c0ffee")


@pytest.fixture(scope="module")
def sections(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in content["sections"]}


def table(section: dict[str, Any], name: str) -> list[dict[str, Any]]:
    (found,) = (one for one in section["tables"] if one["id"] == name)
    rows: list[dict[str, Any]] = found["rows"]
    return rows


FIGURES = {
    "gains": ("fig-gains", "verdicts"),
    "segments": ("fig-segments", "segment-sizes"),
    "quic": ("fig-quic", "quic-rounds"),
    "tail": ("fig-tail-hosts", "tail-hosts"),
    "popularity": ("fig-weights", "shares-by-weight"),
}
"""A figure and the table beside it by section."""


def figure(section: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (one for one in section["figures"] if one["id"] == name)
    return found


def numbers(rows: list[dict[str, Any]]) -> set[float]:
    """Every number in some rows, of intervals their estimates."""
    values = [
        value["estimate"] if isinstance(value, dict) else value for row in rows for value in row.values()
    ]
    return {value for value in values if isinstance(value, float)}


@pytest.mark.parametrize("section", FIGURES)
def test_a_figure_beside_a_table_is_drawn_of_the_tables_numbers(
    sections: dict[str, dict[str, Any]], section: str
) -> None:
    name, beside = FIGURES[section]
    drawn = figure(sections[section], name)
    assert drawn["rows"]
    assert draw_figure(drawn) is not None
    assert numbers(drawn["rows"]) <= numbers(table(sections[section], beside))


def test_nine_tenths_of_web_searchs_responses_of_2010_fit_into_ten_segments(
    sections: dict[str, dict[str, Any]],
) -> None:
    """Dukkipati et al. 2010, §2: about 90 % of HTTP Web search responses fit within 10 segments."""
    rows = {row["curve"]: row for row in table(sections["since-2010"], "fits-2010")}
    assert rows["web search, 2010"]["iw10"] == pytest.approx(90, abs=3)
    sizes = [row["wire_bytes"] for row in crawl().response]
    assert rows["this release, 2026"]["iw10"] == pytest.approx(
        100 * sum(size <= 14_300 for size in sizes) / len(sizes), abs=0.01
    )


def test_smaller_segments_never_hold_more(sections: dict[str, dict[str, Any]]) -> None:
    rows = table(sections["segments"], "segment-sizes")
    assert [row["window"] for row in rows] == [10 * row["payload"] for row in rows]
    shares = [row["responses"] for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_the_curves_have_bands_that_hold_the_shares_of_the_table(sections: dict[str, dict[str, Any]]) -> None:
    (figure,) = sections["sizes"]["figures"]
    assert [line["label"] for line in figure["lines"]] == [f"IW {iw}" for iw in (3, 6, 10, 16, 30)]
    shares = {row["measure"]: row for row in table(sections["sizes"], "shares")}
    assert {row["measure"] for row in figure["bands"]} == {row["measure"] for row in figure["rows"]}
    for row in figure["bands"]:
        assert row["size"] >= min(one["size"] for one in figure["rows"] if one["measure"] == row["measure"])
        assert row["cdf"]["lower"] <= row["cdf"]["estimate"] <= row["cdf"]["upper"]
        if row["size"] == 14_300:
            share = shares[row["measure"]]["iw10"]
            assert {name: 100 * value for name, value in row["cdf"].items()} == pytest.approx(share, rel=1e-4)


def test_connections_are_counted_by_protocol(sections: dict[str, dict[str, Any]]) -> None:
    rows = table(sections["protocols"], "by-protocol")
    assert sum(row["connections"] for row in rows) == len(crawl().connection)
    assert max(row["pages"] for row in rows) == PAGES


def test_the_tail_is_counted_by_hosts_that_are_not_named(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = table(sections["tail"], "tail-hosts")
    large = sum(row["wire_bytes"] > 14_300 for row in crawl().response)
    assert (rows[-1]["responses"], rows[-1]["share"]) == (large, 100)
    assert [row["share"] for row in rows] == sorted(row["share"] for row in rows)
    assert [row["hosts"] for row in rows[:-1]] == [1, 10]
    assert "page23.test" not in str(content["sections"])


def test_the_tail_is_counted_by_blocks_of_addresses_since_networks_are_not_known(
    sections: dict[str, dict[str, Any]],
) -> None:
    (row,) = table(sections["tail"], "tail-blocks")
    large = sum(row["wire_bytes"] > 14_300 for row in crawl().response)
    assert row == {"blocks": 1, "responses": large, "share": 100}
    assert "127.0.1" not in str(sections["tail"]["tables"])
    assert "Whose content network sends a response is not known" in sections["tail"]["notes"][0]


def test_what_the_release_lacks_is_said_and_not_left_out(sections: dict[str, dict[str, Any]]) -> None:
    missing = {name for name, one in sections.items() if one["missing"]}
    assert {"since-last-year", "backcast"} <= missing
    for name in missing:
        assert sections[name]["missing"].startswith("Not measured in this release: ")
        assert not sections[name]["tables"]


def test_the_verdict_has_the_gains_of_the_cells(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = {row["window"]: row for row in table(sections["gains"], "verdicts")}
    assert {window: row["verdict"] for window, row in rows.items()} == {
        "IW 3": "not worth it",
        "IW 16": "worth it",
        "IW 30": "worth it",
    }
    for window, row in rows.items():
        gain = GAINS[int(window.removeprefix("IW "))]
        assert row["gain"]["lower"] - 0.1 < gain < row["gain"]["upper"] + 0.1
        assert (row["milliseconds"]["estimate"] > 0) == (gain > 0)


def test_the_ledger_has_a_row_for_each_that_could_decide_otherwise(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = table(sections["otherwise"], "ledger")
    told = [one["title"] for one in content["verdict"]["ledger"]]
    assert len(rows) == len(told)
    assert rows[0]["title"] == "the rule"
    assert len(told) >= 6


def test_every_figure_and_table_has_an_id_a_unit_a_source_and_a_query(content: dict[str, Any]) -> None:
    exhibits = [one for section in content["sections"] for one in (*section["figures"], *section["tables"])]
    ids = [one["id"] for one in exhibits]
    assert len(set(ids)) == len(ids) >= 15
    for one in exhibits:
        assert one["title"], one["id"]
        assert one["source"], one["id"]
        assert one["query"], one["id"]
        named = {column["id"] for column in one["columns"]}
        for row in one["rows"]:
            assert set(row) <= named, one["id"]


def test_every_figure_is_drawn_from_its_rows_alone(content: dict[str, Any]) -> None:
    figures = [one for section in content["sections"] for one in section["figures"]]
    assert {one["drawing"] for one in figures} == {"forest", "intervals", "lines", "bars"}
    for one in figures:
        chart = draw_figure(one, note="illustrative")
        assert chart is not None, one["id"]
        assert ">illustrative</text>" in svg(chart)
        assert draw_figure({**one, "rows": []}) is None

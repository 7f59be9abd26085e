"""The sections of a report: their numbers are those of the cells and sizes, and what is missing is said."""

import csv
import dataclasses
import io
from typing import Any

import pyarrow as pa
import pytest

from reports.document.drawing import draw_figure
from reports.document.report import build_report
from reports.document.theme import svg
from reports.forms.figure_files import csv_text
from reports.recommendation.harm_conditions import CORE
from reports.recommendation.rule import RULE
from reports.sections.shape import COMPARED
from schema.computed_tables import CELL
from tests.factories.made_up_report import (
    GAINS,
    PAGES,
    crawl,
    data_folder,
    read_data_folder,
    replay_cells,
)

pytestmark = pytest.mark.process

IDLE = next(one for one in CORE if one.kind == "idle")


def cells_of_all_kinds() -> pa.Table:
    """Ordinary cells, cells of BBR that save a half of CUBIC's, and cells of one harm condition."""
    idle = [row for row in replay_cells().to_pylist() if row["route"] == "own"]
    bbr = replay_cells(gain_percent={window: gain / 2 for window, gain in GAINS.items()}).to_pylist()
    for row in idle:
        row |= {**IDLE.conditions.columns(), "probe_p95_ms": 60.0 + row["iw"]}
    for row in bbr:
        row["congestion_control"] = "bbr"
    paced = replay_cells(gain_percent={window: gain / 4 for window, gain in GAINS.items()}).to_pylist()
    for row in paced:
        row |= {"pacing": True, "bytes_retransmitted": 0}
    return pa.concat_tables(
        [replay_cells(), *(pa.Table.from_pylist(one, schema=CELL) for one in (idle, bbr, paced))]
    )


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    data_dir = tmp_path_factory.mktemp("data")
    data_folder(data_dir, table=cells_of_all_kinds())
    rule = dataclasses.replace(RULE, replicates=50, harm_conditions=(IDLE,))
    return build_report(read_data_folder(data_dir), data_dir / "reports" / "2026", commit="c0ffee", rule=rule)


@pytest.fixture(scope="module")
def sections(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in content["sections"]}


def table(section: dict[str, Any], name: str) -> list[dict[str, Any]]:
    (found,) = (one for one in section["tables"] if one["id"] == name)
    rows: list[dict[str, Any]] = found["rows"]
    return rows


@pytest.mark.parametrize("quantity", ["rtt", "rate", "bdp"])
def test_buckets_of_networks_share_out_the_population_and_show_the_gains_of_the_cells(
    sections: dict[str, dict[str, Any]], quantity: str
) -> None:
    rows = table(sections["networks-gain"], f"by-{quantity}")
    assert sum(row["share"] for row in rows if row["window"] == "IW 16") == pytest.approx(100)
    for row in rows:
        gain = GAINS[int(row["window"].removeprefix("IW "))]
        assert row["saved"]["lower"] - 0.1 < gain < row["saved"]["upper"] + 0.1
        assert (row["saved_ms"]["estimate"] > 0) == (gain > 0)


FIGURES = {
    "slow": ("fig-slow", "slow-gain"),
    "retransmission": ("fig-bytes-again", "sent-again"),
    "senders": ("fig-senders", "by-sender"),
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


def test_harm_to_others_is_drawn_in_multiples_of_its_bound(sections: dict[str, dict[str, Any]]) -> None:
    drawn = figure(sections["others"], "fig-others")
    told = [row["worse"]["estimate"] / row["limit"] for row in table(sections["others"], "others-harm")]
    assert [row["times"]["estimate"] for row in drawn["rows"]] == pytest.approx(told, rel=1e-5)
    assert pytest.approx(
        next(row["times"]["estimate"] for row in drawn["rows"] if row["window"] == "IW 16")
    ) == (6.0 / 20.0)


def test_the_window_that_others_are_compared_with_says_so_and_is_empty_as_data(
    sections: dict[str, dict[str, Any]],
) -> None:
    (compared,) = (one for one in sections["quic"]["tables"] if one["id"] == "quic-paced")
    saved = {row["window"]: row["saved_paced"] for row in compared["rows"]}
    assert saved["IW 10"] == COMPARED
    assert saved["IW 16"]["estimate"] == pytest.approx(1, abs=0.2)
    data = list(csv.DictReader(io.StringIO(csv_text(compared["columns"], compared["rows"]))))
    assert [row["saved_paced"] == "" for row in data] == [row["window"] == "IW 10" for row in data]


def test_slow_networks_stand_beside_all(sections: dict[str, dict[str, Any]]) -> None:
    rows = {row["window"]: row for row in table(sections["slow"], "slow-gain")}
    assert rows["IW 16"]["slow_percent"]["estimate"] == pytest.approx(4, abs=0.2)
    assert rows["IW 16"]["slow_ms"]["estimate"] > 3 * rows["IW 16"]["average_ms"]["estimate"]


def test_senders_stand_side_by_side_each_against_its_own_incumbent(
    sections: dict[str, dict[str, Any]],
) -> None:
    rows = {row["sender"]: row for row in table(sections["senders"], "by-sender") if row["window"] == "IW 16"}
    assert list(rows) == ["CUBIC", "BBR", "CUBIC, paced"]
    assert rows["CUBIC"]["saved"]["estimate"] == pytest.approx(4, abs=0.2)
    assert rows["BBR"]["saved"]["estimate"] == pytest.approx(2, abs=0.2)
    assert rows["CUBIC"]["more"] == COMPARED
    assert rows["BBR"]["more"]["estimate"] == pytest.approx(-2, abs=0.2)
    assert {row["reading"] for row in rows.values()} <= {"worthwhile", "saves; whether enough is open"}


def test_harm_to_others_is_told_by_condition_beside_its_bound(sections: dict[str, dict[str, Any]]) -> None:
    rows = [row for row in table(sections["others"], "others-harm") if row["window"] == "IW 16"]
    told = [
        (row["condition"], row["worse"]["estimate"], row["limit"], row["unit"], row["reading"])
        for row in rows
    ]
    assert told == [(IDLE.id, 6.0, 20.0, "ms", "within the bound")]


def test_retransmission_is_a_level_at_every_window_beside_the_papers(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = table(sections["retransmission"], "sent-again")
    assert [row["window"] for row in rows] == ["IW 3", "IW 10", "IW 16", "IW 30"]
    published = {row["where"]: row for row in table(sections["retransmission"], "table-7")}
    assert published["AvgDC, photos"]["responses_10"] == 11.14


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
    assert [line["label"] for line in figure["lines"]] == [f"IW {iw}" for iw in (3, 6, 10, 16, 26, 30, 42)]
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


def test_gains_are_told_by_what_the_pages_servers_speak(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = {row["kind"]: row for row in table(sections["protocols"], "gains-by-protocol")}
    assert [row["pages"] for row in rows.values()] == [PAGES, 0]
    every = rows["HTTP/2 or HTTP/3 alone"]
    assert every["iw16"]["estimate"] == pytest.approx(4, abs=0.2)
    assert all(row["iw16"] is None for row in rows.values() if not row["pages"])
    assert "over either version of HTTP were not replayed" in sections["protocols"]["notes"][1]


def test_paced_senders_stand_beside_bursts_as_the_nearest_to_quic(
    sections: dict[str, dict[str, Any]],
) -> None:
    rows = {row["window"]: row for row in table(sections["quic"], "quic-paced")}
    assert list(rows) == ["IW 3", "IW 10", "IW 16", "IW 30"]
    assert rows["IW 16"]["saved_paced"]["estimate"] == pytest.approx(1, abs=0.1)
    assert rows["IW 16"]["saved_bursts"]["estimate"] == pytest.approx(4, abs=0.2)
    assert rows["IW 10"]["sent_again_paced"]["estimate"] == 0 < rows["IW 10"]["sent_again_bursts"]["estimate"]
    assert sections["quic"]["notes"] == []


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


def test_the_ledger_has_the_answer_at_both_ends_of_every_input(
    content: dict[str, Any], sections: dict[str, dict[str, Any]]
) -> None:
    rows = table(sections["ledger"], "choices")
    choices = [one for one in content["ledger"] if one["basis"] == "all loads, by intervals"]
    assert [row["turns"] == "yes" for row in rows] == [one["turns"] for one in choices]
    assert all(row["answer_low"] and row["answer_high"] for row in rows)


def test_what_the_release_lacks_is_said_and_not_left_out(sections: dict[str, dict[str, Any]]) -> None:
    missing = {name for name, one in sections.items() if one["missing"]}
    assert {"countries", "backcast"} <= missing
    for name in missing:
        assert sections[name]["missing"].startswith("Not measured in this release: ")
        assert not sections[name]["tables"]


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

"""The table of items: each with its site and its strata, and the distribution that follows from them."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from releases.strata.items import compute_distribution, find_difference, write_items
from schema.computed_tables import ITEM
from tests.factories.made_up_crawl import MadeUp, write_tables


def items(folder: Path, made_up: MadeUp, *, is_ranked: bool = True) -> list[dict[str, Any]]:
    # Under a path like a release's own, whose parts look like Hive's partitions.
    folder = folder / "month=2026-11" / "version=1"
    write_tables(folder, made_up)
    write_items(folder, is_ranked=is_ranked)
    table = pq.read_table(folder / "item.parquet", partitioning=None)
    assert table.schema.equals(ITEM)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def of(rows: list[dict[str, Any]], measure: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows if row["measure"] == measure]


def two_parties() -> MadeUp:
    """A page with its document over H2, and an image of its own domain, one of another,
    and one by an address."""
    made_up = MadeUp()
    made_up.add_visit(host="www.shop.co.uk")
    made_up.add_connection(tls_handshake_bytes=3000)
    made_up.add_response(20_000)
    for size, host in ((7000, "static.shop.co.uk"), (8000, "other.co.uk"), (9000, "192.0.2.7")):
        made_up.add_connection(host=host)
        made_up.add_response(size, sent_ms=400, first_ms=450)
        made_up.response[-1]["host"] = host
    return made_up


def test_a_response_has_its_protocol_type_and_party(tmp_path: Path) -> None:
    strata = of(
        items(tmp_path, two_parties()), "responses", "size_bytes", "protocol", "resource_type", "party"
    )
    assert strata == [
        (7000, "http/1.1", "image", "first"),
        (8000, "http/1.1", "image", "third"),
        (9000, "http/1.1", "image", "third"),
        (20_000, "h2", "document", "first"),
    ]


def test_a_measure_of_connections_has_their_protocol_and_party_and_no_type(tmp_path: Path) -> None:
    rows = items(tmp_path, two_parties())
    for measure in ("connections", "first_flights"):
        strata = of(rows, measure, "protocol", "resource_type", "party")
        assert strata[-1] == ("h2", None, "first"), measure
        assert {party for *_, party in strata} == {"first", "third"}
    assert of(rows, "responses_iw_limited", "resource_type", "party")[-1] == ("document", "first")


def test_hosts_have_a_party_alone_and_pages_have_none(tmp_path: Path) -> None:
    rows = items(tmp_path, two_parties())
    assert of(rows, "hosts", "protocol", "party") == [
        (None, "first"),
        (None, "third"),
        (None, "third"),
        (None, "first"),
    ]
    assert of(rows, "pages", "protocol", "resource_type", "party") == [(None, None, None)]


def test_a_rank_is_in_the_stratum_of_the_next_power_of_ten(tmp_path: Path) -> None:
    made_up = MadeUp()
    for rank, magnitude in ((1, None), (1000, None), (1001, None), (70_000, None), (7, 5000), (8, 1_000_000)):
        made_up.add_visit()
        made_up.visit[-1]["rank"] = made_up.site[-1]["rank"] = rank
        made_up.site[-1]["magnitude"] = magnitude
        made_up.add_connection()
        made_up.add_response(100)
    ranks = dict(of(items(tmp_path, made_up), "pages", "rank", "rank_stratum"))
    assert ranks == {1: 1000, 1000: 1000, 1001: 10_000, 70_000: 100_000, 7: 10_000, 8: 1_000_000}


def test_pages_without_ranks_are_in_no_stratum_of_rank(tmp_path: Path) -> None:
    rows = items(tmp_path, two_parties(), is_ranked=False)
    assert {row["rank_stratum"] for row in rows} == {None}


def test_an_inner_page_is_a_stratum_that_the_distribution_leaves_out(tmp_path: Path) -> None:
    made_up = two_parties()
    made_up.add_visit(is_final=False)
    made_up.visit[-1]["page_kind"] = "inner"
    made_up.add_connection()
    made_up.add_response(1234)
    for repeated in ({"load": 2, "page_kind": "inner"}, {"outcome": "timeout", "page_kind": "inner"}):
        made_up.add_visit(is_final=False)
        made_up.visit[-1] |= repeated
        made_up.add_connection()
        made_up.add_response(4321)
    pages = of(items(tmp_path, made_up), "responses", "size_bytes", "page_kind")
    assert [size for size, kind in pages if kind == "inner"] == [1234]
    folder = tmp_path / "month=2026-11" / "version=1"
    steps = [row for piece in compute_distribution(folder) for row in piece.to_pylist()]
    counted = [row["size_bytes"] for row in steps if row["measure"] == "responses"]
    assert counted == [7000, 8000, 9000, 20_000]


def test_items_that_were_changed_are_found_but_not_in_columns_left_out(tmp_path: Path) -> None:
    write_tables(tmp_path, two_parties())
    write_items(tmp_path, is_ranked=True)
    assert find_difference(tmp_path, is_ranked=True) is None
    path = tmp_path / "item.parquet"
    table = pq.read_table(path)
    turned = ["third" if party == "first" else party for party in table["party"].to_pylist()]
    place = table.schema.get_field_index("party")
    pq.write_table(table.set_column(place, ITEM.field("party"), [turned]), path)
    assert find_difference(tmp_path, is_ranked=True) == 0
    assert find_difference(tmp_path, is_ranked=True, without=("party",)) is None
    pq.write_table(table.slice(1), path)
    assert find_difference(tmp_path, is_ranked=True) == 0

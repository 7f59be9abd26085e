"""Fetching lists, from a server on loopback that has a missing, a short and an empty day."""

import dataclasses
import datetime
import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.sites.fetch import Shelf
from crawler.sites.lists import ListError
from tests.factories.list_server import ListServer, list_server

TWO = b"1,a.test\r\n2,b.test\r\n"
CRUX = gzip.compress(b"origin,rank\nhttps://a.test,1000\nhttps://b.test,5000\n", mtime=0)
TODAY = datetime.date(2026, 11, 28)


@pytest.fixture
def server() -> Iterator[ListServer]:
    with list_server(["a.test", "b.test"]) as server:
        server.answers = {
            "/tranco/daily_list_id?date=2026-11-01&subdomains=false": b"K2LPW\n",
            "/tranco/daily_list_id?date=2026-11-02&subdomains=false": b"<html>sorry</html>",
            "/tranco/download/HOLES/3": b"1,a.test\n3,b.test\n",
            "/tranco/download/TWICE/2": b"1,a.test\n2,a.test\n",
            "/tranco/download/EMPTY/2": b"",
            "/tranco/download/SHORT/2": TWO,
            "/crux/202611.csv.gz": None,
            "/crux/202610.csv.gz": CRUX,
            "/crux/202609.csv.gz": CRUX[:-9],
            "/crux/202608.csv.gz": None,
        }
        yield server


@pytest.fixture
def shelf(server: ListServer, tmp_path: Path) -> Shelf:
    return Shelf(folder=tmp_path, mirror=server.url, radar_token="a-token")


def test_a_tranco_list_is_fetched_once_and_found_by_its_id(server: ListServer, shelf: Shelf) -> None:
    sites = shelf.fetch_tranco("K2LPW", entries=2)
    assert (sites.id, sites.source, [entry.host for entry in sites.entries]) == (
        "tranco:K2LPW-top2",
        "tranco",
        ["a.test", "b.test"],
    )
    assert shelf.fetch_tranco("K2LPW", entries=2) == sites
    assert server.asked == ["/tranco/download/K2LPW/2"]
    assert shelf.find(sites.id) == sites


def test_a_day_has_an_id_or_is_missing(shelf: Shelf) -> None:
    assert shelf.fetch_tranco_of(datetime.date(2026, 11, 1), entries=2).id == "tranco:K2LPW-top2"
    with pytest.raises(ListError, match=r"Tranco names no list \(2026-11-02\)"):
        shelf.fetch_tranco_of(datetime.date(2026, 11, 2))
    with pytest.raises(ListError, match=r"the id of Tranco's list \(2026-11-03\) does not exist"):
        shelf.fetch_tranco_of(datetime.date(2026, 11, 3))


@pytest.mark.parametrize(
    ("list_id", "entries", "message"),
    [
        ("NOSUCH", 2, "the list tranco:NOSUCH-top2 does not exist"),
        ("K2LPW", 3, "is cut short: 2 sites of 3; fetch it again, or ask for fewer"),
        ("HOLES", 3, "has 2 sites up to rank 3: some are missing"),
        ("TWICE", 2, "repeats a.test of line 1"),
        ("EMPTY", 2, "is empty"),
        ("SHORT", 2, "cut short: 20 bytes of 120"),
        ("../up", 2, "is no id of a Tranco list"),
    ],
)
def test_a_list_that_is_not_whole_is_an_error_and_leaves_nothing(
    list_id: str, entries: int, message: str, shelf: Shelf, tmp_path: Path
) -> None:
    with pytest.raises(ListError, match=message):
        shelf.fetch_tranco(list_id, entries=entries)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_month_of_crux_keeps_magnitudes_and_one_cut_short_is_an_error(shelf: Shelf) -> None:
    sites = shelf.fetch_crux("2026-10")
    assert (sites.id, [entry.magnitude for entry in sites.entries]) == ("crux:2026-10", [1000, 5000])
    assert shelf.find("crux:2026-10") == sites
    with pytest.raises(ListError, match="cut short"):
        shelf.fetch_crux("2026-09")
    with pytest.raises(ListError, match="the list crux:2026-08 does not exist"):
        shelf.fetch_crux("2026-08")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("tranco", "tranco:K2LPW-top2"),
        ("crux", "crux:2026-10"),
        ("umbrella", "umbrella:2026-11-28"),
        ("majestic", "majestic:2026-11-28"),
        ("radar", "radar:2026-11-28"),
    ],
)
def test_the_newest_list_of_each_source_is_fetched_and_found_again(
    source: str, found: str, shelf: Shelf
) -> None:
    sites = shelf.fetch_newest(source, entries=2, today=TODAY)
    assert (sites.id, [entry.host for entry in sites.entries]) == (found, ["a.test", "b.test"])
    assert sites.fetched_at is not None
    assert shelf.find(found) == sites
    assert shelf.find_last(source, entries=2) == sites


def test_radar_needs_a_token_and_a_wrong_one_is_one_line(shelf: Shelf) -> None:
    with pytest.raises(ListError, match="FIRSTFLIGHT_RADAR_TOKEN"):
        dataclasses.replace(shelf, radar_token=None).fetch_newest("radar", today=TODAY)
    with pytest.raises(ListError, match=r"radar:2026-11-28 is not given out \(403\)"):
        dataclasses.replace(shelf, radar_token="another").fetch_newest("radar", today=TODAY)


def test_the_last_list_is_the_one_that_was_fetched_last_with_enough_sites(
    server: ListServer, shelf: Shelf, tmp_path: Path
) -> None:
    with pytest.raises(ListError, match="no list of tranco was fetched before"):
        shelf.find_last("tranco", entries=1)
    for list_id, entries, month in (("AAAAA", 2, 8), ("BBBBB", 1, 9), ("CCCCC", 2, 7)):
        server.tranco_id = list_id
        shelf.fetch_newest("tranco", entries=entries, today=TODAY)
        moment = datetime.datetime(2026, month, 1, tzinfo=datetime.UTC).timestamp()
        os.utime(tmp_path / "tranco" / f"{list_id}-top{entries}.csv", (moment, moment))
    last = shelf.find_last("tranco", entries=2)
    assert (last.id, last.fetched_at) == (
        "tranco:AAAAA-top2",
        datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC),
    )
    assert shelf.find_last("tranco", entries=1).id == "tranco:BBBBB-top1"


def test_more_sites_of_a_tranco_list_are_fetched_where_they_are_asked_for(shelf: Shelf) -> None:
    one = shelf.fetch_newest("tranco", entries=1, today=TODAY)
    assert shelf.find(one.id).id == one.id
    assert shelf.find(one.id, entries=2).id == "tranco:K2LPW-top2"


def test_a_host_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    shelf = Shelf(folder=tmp_path, mirror="http://127.0.0.1:9")
    with pytest.raises(ListError, match="the list crux:2026-10 cannot be fetched") as raised:
        shelf.fetch_crux("2026-10")
    assert "\n" not in str(raised.value)


def test_a_list_that_was_not_fetched_is_an_error_and_a_path_is_a_file(tmp_path: Path) -> None:
    shelf = Shelf(folder=tmp_path)
    for name in ("tranco:K2LPW", "crux:../../etc/passwd"):
        with pytest.raises(ListError, match="is not here: fetch it"):
            shelf.find(name)
    file = tmp_path / "sites.txt"
    file.write_text("a.test\n")
    assert shelf.find(str(file)).source == "sites.txt"

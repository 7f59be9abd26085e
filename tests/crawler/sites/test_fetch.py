"""Fetching lists, from a server on loopback that has a missing, a short and an empty day."""

import datetime
import gzip
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from crawler.sites import fetch
from crawler.sites.lists import ListError

TWO = b"1,a.test\r\n2,b.test\r\n"
CRUX = gzip.compress(b"origin,rank\nhttps://a.test,1000\nhttps://b.test,5000\n", mtime=0)


class Lists(http.server.BaseHTTPRequestHandler):
    """Answers by path; `short` announces more than it sends."""

    answers: ClassVar[dict[str, bytes]] = {
        "/daily_list_id?date=2026-11-01&subdomains=false": b"K2LPW\n",
        "/daily_list_id?date=2026-11-02&subdomains=false": b"<html>sorry</html>",
        "/download/K2LPW/2": TWO,
        "/download/K2LPW/3": TWO,
        "/download/HOLES/3": b"1,a.test\n3,b.test\n",
        "/download/TWICE/2": b"1,a.test\n2,a.test\n",
        "/download/EMPTY/2": b"",
        "/download/SHORT/2": TWO,
        "/202610.csv.gz": CRUX,
        "/202609.csv.gz": CRUX[:-9],
    }
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.answers.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"") + 100 * ("SHORT" in self.path)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def base() -> Iterator[str]:
    Lists.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lists) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_tranco_list_is_fetched_once_and_found_by_its_id(base: str, tmp_path: Path) -> None:
    sites = fetch.fetch_tranco(tmp_path, "K2LPW", entries=2, base=base)
    assert (sites.id, sites.source, [entry.host for entry in sites.entries]) == (
        "tranco:K2LPW-top2",
        "tranco",
        ["a.test", "b.test"],
    )
    assert fetch.fetch_tranco(tmp_path, "K2LPW", entries=2, base=base) == sites
    assert Lists.asked == ["/download/K2LPW/2"]
    assert fetch.find_list(tmp_path, sites.id) == sites


def test_a_day_has_an_id_or_is_missing(base: str) -> None:
    assert fetch.fetch_tranco_id(datetime.date(2026, 11, 1), base=base) == "K2LPW"
    with pytest.raises(ListError, match="Tranco names no list for 2026-11-02"):
        fetch.fetch_tranco_id(datetime.date(2026, 11, 2), base=base)
    with pytest.raises(ListError, match="the Tranco list of 2026-11-03 does not exist"):
        fetch.fetch_tranco_id(datetime.date(2026, 11, 3), base=base)


@pytest.mark.parametrize(
    ("list_id", "entries", "message"),
    [
        ("NOSUCH", 2, "the Tranco list NOSUCH does not exist"),
        ("K2LPW", 3, "is cut short: 2 sites of 3; fetch it again, or ask for fewer"),
        ("HOLES", 3, "has 2 sites up to rank 3: some are missing"),
        ("TWICE", 2, "repeats a.test of line 1"),
        ("EMPTY", 2, "is empty"),
        ("SHORT", 2, "cut short: 20 bytes of 120"),
        ("../up", 2, "is no id of a Tranco list"),
    ],
)
def test_a_list_that_is_not_whole_is_an_error_and_leaves_nothing(
    list_id: str, entries: int, message: str, base: str, tmp_path: Path
) -> None:
    with pytest.raises(ListError, match=message):
        fetch.fetch_tranco(tmp_path, list_id, entries=entries, base=base)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_month_of_crux_keeps_magnitudes_and_one_cut_short_is_an_error(base: str, tmp_path: Path) -> None:
    sites = fetch.fetch_crux(tmp_path, "2026-10", base=base)
    assert (sites.id, [entry.magnitude for entry in sites.entries]) == ("crux:2026-10", [1000, 5000])
    assert fetch.find_list(tmp_path, "crux:2026-10") == sites
    with pytest.raises(ListError, match="cut short"):
        fetch.fetch_crux(tmp_path, "2026-09", base=base)
    with pytest.raises(ListError, match="the CrUX list of 2026-08 does not exist"):
        fetch.fetch_crux(tmp_path, "2026-08", base=base)


def test_a_host_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ListError, match="the CrUX list of 2026-10 cannot be fetched") as raised:
        fetch.fetch_crux(tmp_path, "2026-10", base="http://127.0.0.1:9")
    assert "\n" not in str(raised.value)


def test_a_list_that_was_not_fetched_is_an_error_and_a_path_is_a_file(tmp_path: Path) -> None:
    for name in ("tranco:K2LPW", "crux:../../etc/passwd"):
        with pytest.raises(ListError, match="is not here: fetch it"):
            fetch.find_list(tmp_path, name)
    file = tmp_path / "sites.txt"
    file.write_text("a.test\n")
    assert fetch.find_list(tmp_path, str(file)).source == "sites.txt"

"""The pages of a site: its months, its page loads as waterfalls, the way there,
and what hostile names do to them."""

import html
import re
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.site_pages.waterfall import MOST_ROWS
from releases.formatting import NARROW, UNKNOWN
from tests.api.conftest import serving
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.api.site_pages.conftest import EARLIER, one_load
from tests.api.test_v1 import LOCALWEB, assert_problem
from tests.factories.made_up_crawl import MadeUp

LOAD = f"/releases/{EARLIER}/v1/pages/1"
SEARCH = '<form method="get" action="/sites"'
Row = dict[str, str]


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).replace(NARROW, " ").split())


def rows(page: str, region: str) -> list[Row]:
    """The rows of a table of cards by the labels of their cells;
    the head of a row is under the empty label."""
    (table,) = re.findall(
        rf'aria-label="{re.escape(region)}">\s*<table class="cards">(.*?)</table>', page, re.DOTALL
    )
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL):
        (head,) = re.findall(r'<th scope="row".*?>(.*?)</th>', row, re.DOTALL)
        cells = re.findall(r'<td[^>]* data-label="([^"]*)">(.*?)</td>', row, re.DOTALL)
        found.append({"": plain(head), **{label: plain(cell) for label, cell in cells}})
    return found


BAR = re.compile(r'<path d="M([\d.]+),([\d.]+)h([\d.]+)v')


def bars(drawing: str) -> list[list[tuple[float, float]]]:
    """Left edge and width in pixels of each bar of a waterfall, by its row."""
    found: dict[str, list[tuple[float, float]]] = {}
    for left, top, width in BAR.findall(drawing):
        found.setdefault(top, []).append((float(left), float(width)))
    return [row for top, row in found.items() if top != "0"]


def waterfall(client: TestClient, path: str) -> str:
    (address,) = re.findall(r'<img src="([^"]*waterfall.svg[^"]*)"', read(client, path))
    return client.get(html.unescape(address)).text


def read(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8"), (
        answer.text
    )
    return answer.text


def test_a_site_has_its_first_flights_beside_iw_10_and_its_windows_by_month(months: Path) -> None:
    with serving(months) as client:
        page = read(client, "/sites/site1.test")
    newest, earlier = rows(page, "First flights by release")
    assert (newest[""], earlier[""]) == (CRAWL, str(EARLIER))
    # 3,000 bytes of TLS flight and 15,600 of two responses with 100 of records
    # are 14 segments of 1,430 bytes.
    assert newest["first flight"] == "14 segments 18.7 kB, more than IW 10"
    assert newest["windows of its own host"] == "10 (1 connection)"
    assert newest["windows of all its servers"] == "10 (1 connection), at least 32 (1 connection)"
    # 3,000 and 20,000 bytes.
    assert earlier["first flight"] == "17 segments 23.0 kB, more than IW 10"
    assert earlier["connections"] == "2 1 h2, 1 h3"


def test_a_first_flight_that_fits_says_so_and_an_unknown_one_is_a_dash(tmp_path: Path) -> None:
    crawl = MadeUp()
    crawl.add_visit(host="small.test")
    crawl.add_connection(tls_handshake_bytes=3000)
    crawl.add_response(1000)
    crawl.add_visit(host="unknown.test")
    crawl.add_connection(tls_handshake_bytes=3000)
    crawl.add_response(1000, is_complete=False)
    write_crawl(tmp_path, NAME, crawl)
    with serving(tmp_path) as client:
        flights = {
            host: rows(read(client, f"/sites/{host}"), "First flights by release")[0]["first flight"]
            for host in ("small.test", "unknown.test")
        }
    assert flights == {"small.test": "3 segments 4.00 kB, fits into IW 10", "unknown.test": UNKNOWN}


def test_every_page_load_of_a_site_leads_to_its_waterfall(months: Path) -> None:
    with serving(months) as client:
        page = read(client, "/sites/site1.test")
        links = re.findall(r'href="(/releases/[^"]*/pages/[^"]*)"', page)
        assert links == [f"/releases/{CRAWL}/v1/pages/1", LOAD]
        for link in links:
            assert "site1.test, page load 1" in read(client, link)


def test_the_waterfall_has_the_address_of_each_response_and_a_bar_for_each_phase(months: Path) -> None:
    with serving(months) as client:
        drawing = waterfall(client, LOAD)
    assert [f"{number} site1.test/{number - 1}" in drawing for number in range(1, 6)] == [True] * 5
    # The load event is at 900 ms, and the axis goes 2 % on. A round trip takes 50 ms.
    first, later, quic = bars(drawing)
    per_ms = first[0][1] / 100
    assert [(round(left / per_ms), round(width / per_ms)) for left, width in first] == [
        *((0, 100), (100, 50), (150, 50), (200, 30)),
    ]
    assert [(round(left / per_ms), round(width / per_ms)) for left, width in later] == [(160, 50), (210, 10)]
    assert [(round(left / per_ms), round(width / per_ms)) for left, width in quic] == [
        *((0, 100), (100, 50), (150, 20)),
    ]


def test_the_table_has_the_numbers_of_the_waterfall(months: Path) -> None:
    with serving(months) as client:
        first, later, _, cached, unanswered = rows(read(client, LOAD), "Numbers of the waterfall")
    assert first == {
        "": "1 https://site1.test/0",
        "size": "20.0 kB",
        "request": "100 ms",
        "connection": "100 ms number 1",
        "waiting": "50.0 ms",
        "first flight": "50.0 ms",
        "rest": "30.0 ms",
        "kind": "document 200 h2",
    }
    assert (later["connection"], later["first flight"]) == (f"{UNKNOWN} number 1, open already", UNKNOWN)
    assert (cached["size"], cached["connection"]) == (f"{UNKNOWN} from cache", UNKNOWN)
    assert (unanswered["size"], unanswered["waiting"]) == (f"{UNKNOWN} no response", UNKNOWN)


def test_a_long_page_shows_its_first_responses_and_says_how_many_it_leaves_out(tmp_path: Path) -> None:
    crawl = one_load()
    for _ in range(MOST_ROWS):
        crawl.add_response(1000)
    write_crawl(tmp_path, NAME, crawl)
    with serving(tmp_path) as client:
        page = read(client, f"/releases/{CRAWL}/v1/pages/1")
    assert len(rows(page, "Numbers of the waterfall")) == MOST_ROWS
    assert "5 more are in the JSON" in page


def test_hostile_hosts_addresses_and_times_are_shown_as_text(tmp_path: Path) -> None:
    crawl, host = one_load(), '<script>alert("1")</script>/..?#\u202e'
    crawl.visit[0] |= {"host": host, "error": "<b>error</b>"}
    crawl.response[0] |= {"host": "<img src=x>", "path": '/"><svg onload="a()">', "first_byte_us": 1}
    crawl.response[1] |= {"resource_type": "<i>", "protocol": "<u>", "wire_bytes_unknown": "<s>"}
    crawl.connection[0] |= {"opened_us": -5, "round_trip_us": -1}
    write_crawl(tmp_path, NAME, crawl)
    with serving(tmp_path) as client:
        page = read(client, f"/releases/{CRAWL}/v1/pages/1")
        for tag in ("<script", "<img src=x", "<svg onload", "<b>", "<i>", "<u>", "<s>", "\u202e"):
            assert tag not in page
        assert "&lt;script&gt;" in page
        assert 'href="/sites/%3Cscript%3E' in page
        assert "<script" not in client.get("/sites/%3Cscript%3E", headers={"Accept": "text/html"}).text


@pytest.mark.parametrize(
    "asked", [" Site1.TEST. ", "https://user@www.site1.test:8443/a?b#c", "//site1.test", "www.site1.test"]
)
def test_the_search_leads_to_the_site_that_a_text_names(months: Path, asked: str) -> None:
    with serving(months) as client:
        found = client.get("/sites", params={"q": asked}, follow_redirects=False)
        assert (found.status_code, found.headers["location"]) == (307, "/sites/site1.test")
        assert found.headers["cache-control"] == "no-store"
        assert SEARCH in read(client, "/sites/site1.test")


def test_another_spelling_of_a_host_leads_to_its_site(months: Path) -> None:
    with serving(months) as client:
        for path in ("/sites/www.site1.test", "/v1/sites/www.site1.test", "/v1/sites/www.site1.test.json"):
            found = client.get(path, follow_redirects=False)
            assert (found.status_code, found.headers["location"]) == (307, path.replace("www.", ""))


def test_a_host_that_no_release_has_is_answered_with_similar_ones(months: Path) -> None:
    with serving(months) as client:
        answer = client.get("/v1/sites/sites1.test")
        assert_problem(answer, "no-such-site", 404, mentions="similar are site1.test")
        assert answer.json()["see"] == "/sites?q=sites1.test"
        page = read(client, "/sites?q=sites1.test")
    assert "No site of this release matches" in page
    assert 'href="/sites/site1.test"' in page


def test_a_page_with_the_search_may_send_it_to_the_service_alone(data_dir: Path) -> None:
    write_crawl(data_dir / "releases", NAME, made_up())
    with serving(data_dir / "releases") as client:
        assert SEARCH in read(client, "/sites")
        assert "form-action 'self';" in client.get("/sites").headers["content-security-policy"]


@pytest.mark.parametrize("text", ["/a/b", "..", "<script>", "\u202e.test", "x" * 301])
def test_what_is_no_host_is_refused(months: Path, text: str) -> None:
    with serving(months) as client:
        assert_problem(client.get("/sites", params={"q": text}), "bad-parameter", 400, mentions="q")


def test_a_withdrawn_site_stays_withdrawn(months: Path) -> None:
    """The release's next version is without the site, and the version before gives way to a tombstone."""
    without = made_up()
    without.site, without.visit = without.site[1:], without.visit[1:]
    with serving(months) as client:
        before = client.get("/sites/site1.test")
        assert CRAWL in before.text
        write_crawl(months, NAME, without, version=2)
        folder = NAME.path(months, version=1)
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "tombstone.json").write_text('{"reason": "a site was withdrawn"}\n')
        after = client.get("/sites/site1.test", headers={"If-None-Match": before.headers["etag"]})
        assert after.status_code == 200
        assert CRAWL not in after.text
        assert_problem(client.get(f"/releases/{CRAWL}/v1/pages/1"), "withdrawn", 410)
        assert_problem(client.get(f"/releases/{CRAWL}/v2/pages/1"), "no-such-visit", 404)


def test_a_waterfall_is_pinned_and_says_how_to_cite_its_release(months: Path) -> None:
    with serving(months) as client:
        answer = client.get(LOAD)
        assert f'<{LOAD}>; rel="canonical"' in answer.headers["link"]
        assert f'</releases/{EARLIER}/v1>; rel="cite-as"' in answer.headers["link"]
        assert client.head(LOAD).headers["etag"] == answer.headers["etag"]
        assert_problem(client.get("/sites/none.test"), "no-such-site", 404)
        for visit in ("0", "x", "9223372036854775808"):
            assert_problem(client.get(f"/releases/{EARLIER}/v1/pages/{visit}"), "bad-parameter", 400)


def test_a_release_without_rows_has_no_sites(data_dir: Path) -> None:
    write_crawl(data_dir / "releases", EARLIER, one_load())
    with serving(data_dir / "releases") as client:
        assert [row[""] for row in rows(read(client, "/sites/site1.test"), "First flights by release")] == [
            str(EARLIER)
        ]


def test_shares_are_labelled_by_their_window_where_a_row_becomes_a_card(client: TestClient) -> None:
    page = read(client, f"/releases/{LOCALWEB}/v1")
    responses = next(row for row in rows(page, "Shares that fit") if row[""] == "all responses")
    assert [*responses] == ["", "IW 3", "IW 10", "IW 16", "IW 30", "median", f"95{NARROW}%", "known"]
    assert responses["IW 10"] == "50.0 %"
    assert responses["known"] == "8 +2 unknown"


def test_a_damaged_month_is_named_and_the_others_are_shown(months: Path) -> None:
    (NAME.path(months, version=1) / "visit.parquet").write_bytes(b"PAR1")
    with serving(months) as client:
        page = read(client, "/sites/site1.test")
        assert f"Release {CRAWL} is damaged" in page
        assert [row[""] for row in rows(page, "First flights by release")] == [str(EARLIER)]

"""Pages in a NetLog are told apart, and what is of none is left out and counted."""

from __future__ import annotations

from crawler.netlog.exchange import Exchange
from recordings.netlog.log import read_netlog
from recordings.netlog.pages import NetLogTraffic, read_traffic
from tests.recordings.netlog.made_up_log import MadeUpLog


def traffic(log: MadeUpLog) -> NetLogTraffic:
    return read_traffic(read_netlog(log.written(), "log.json"))


def paths(exchanges: list[Exchange]) -> list[str]:
    return [exchange.url.partition("example")[2] for exchange in exchanges]


def test_a_navigation_begins_a_page_of_its_site() -> None:
    log = MadeUpLog()
    log.page("http://a.example/")
    log.get("http://cdn.example/1", 300)
    log.page("http://b.example/", top="http://b.example")
    log.get("http://cdn.example/2", 300)
    log.get("http://cdn.example/3", 300, top="http://b.example")
    log.page("http://a.example/next")
    log.get("http://cdn.example/4", 300)
    read = traffic(log)
    assert [paths(page.exchanges) for page in read.pages] == [
        ["/", "/1", "/2"],
        ["/", "/3"],
        ["/next", "/4"],
    ]
    assert not read.left_out


def test_requests_of_the_browser_of_extensions_and_of_pages_from_before_are_left_out() -> None:
    log = MadeUpLog()
    log.page("http://a.example/")
    log.get("http://updates.example/", 300, top="null")
    log.get("http://ads.example/list", 300, initiator="chrome-extension://abcdef")
    log.get("http://c.example/poll", 300, top="http://c.example")
    read = traffic(log)
    assert [paths(page.exchanges) for page in read.pages] == [["/"]]
    assert read.left_out == {"of_browser_dropped": 1, "of_extension_dropped": 1, "of_other_page_dropped": 1}


def test_redirects_lead_to_the_page_that_is_shown() -> None:
    log = MadeUpLog()
    first = log.ask("http://a.example/", frame="main frame", network_isolation_key="http://a.example a")
    moved = "HTTP/1.1 301 Moved\nLocation: http://b.example/home"
    log.answer(first, log.connection("a.example"), 90, header=moved)
    log.ask(
        "http://b.example/home", source=first, frame="main frame", network_isolation_key="http://b.example b"
    )
    log.answer(first, log.connection("b.example"), 800)
    log.end(first)
    log.get("http://b.example/x", 300, top="http://b.example")
    (page,) = traffic(log).pages
    assert paths(page.exchanges) == ["/", "/home", "/x"]
    assert page.document is page.exchanges[1]
    assert page.start_ms == page.exchanges[0].asked_ms


def test_a_navigation_without_an_answer_is_no_page() -> None:
    log = MadeUpLog()
    log.page("http://a.example/")
    log.ask("http://b.example/", frame="main frame", network_isolation_key="http://b.example b")
    log.get("http://b.example/x", 300, top="http://b.example")
    read = traffic(log)
    assert len(read.pages) == 1
    assert read.left_out == {"no_document_dropped": 2}


def test_a_redirect_whose_target_never_came_is_no_page() -> None:
    log = MadeUpLog()
    first = log.ask("http://a.example/", frame="main frame", network_isolation_key="http://a.example a")
    log.answer(first, log.connection("a.example"), 90, header="HTTP/1.1 301 Moved\nLocation: /home")
    log.ask("http://a.example/home", source=first, frame="main frame")
    read = traffic(log)
    assert not read.pages
    assert read.left_out == {"no_document_dropped": 2}


def test_without_sites_in_the_log_the_newest_page_has_the_requests() -> None:
    log = MadeUpLog()
    log.page("http://a.example/", top=None)
    log.get("http://cdn.example/1", 300, top=None)
    log.page("http://b.example/", top=None)
    log.get("http://cdn.example/2", 300, top=None)
    assert [paths(page.exchanges) for page in traffic(log).pages] == [["/", "/1"], ["/", "/2"]]


def test_an_answer_that_the_browser_asks_again_for_does_not_count_twice() -> None:
    log = MadeUpLog()
    request = log.ask("http://a.example/", frame="main frame")
    log.answer(request, log.connection("a.example"), 150, header="HTTP/1.1 401 Unauthorized")
    log.answer(request, log.connection("a.example"), 1_100)
    log.end(request)
    read = traffic(log)
    (page,) = read.pages
    assert read.sizes[id(page.exchanges[-1])].wire_bytes == 1_100

"""The exchange of the shown document is found."""

from typing import Any

from crawler.devtools import events
from crawler.devtools.document import KEPT, LARGEST_PAINT, MainDocument
from crawler.netlog.exchange import Exchange


def asks(
    number: str, url: str, seconds: float, *, frame: str = "top", loader: str = ""
) -> events.DevToolsEvent:
    return events.RequestSent(
        request_id=number,
        loader_id=loader or number,
        frame_id=frame,
        timestamp=seconds,
        request=events.Request(url),
    )


def shows(number: str, *, frame: str = "top", **fields: Any) -> events.DevToolsEvent:
    return events.FrameNavigated(frame=events.Frame(frame, number, **fields))


def fails(number: str, *, canceled: bool | None = None) -> events.DevToolsEvent:
    return events.LoadingFailed(request_id=number, error_text="net::ERR_CONNECTION_RESET", canceled=canceled)


def loads(seconds: float) -> events.DevToolsEvent:
    return events.LoadEventFired(timestamp=seconds)


def after(*sequence: events.DevToolsEvent) -> MainDocument:
    document = MainDocument("top")
    for event in sequence:
        document.feed(event)
    return document


def exchange(url: str, asked_ms: int, status: int | None = 200, frame: str = "main frame") -> Exchange:
    result = Exchange(url, "GET", frame, asked_ms)
    result.status = status
    return result


def test_the_document_is_that_of_the_last_navigation_that_was_shown() -> None:
    document = after(
        asks("1", "http://a.test/", 1.0),
        shows("1"),
        asks("2", "http://a.test/next", 2.0),
        shows("2"),
        asks("3", "http://a.test/never", 3.0),
    )
    exchanges = [
        exchange("http://a.test/", 1000),
        exchange("http://a.test/next", 2000),
        exchange("http://a.test/never", 3000),
    ]
    assert document.find_exchange(exchanges) == 1


def test_a_popup_of_the_same_address_is_not_the_document() -> None:
    document = after(asks("1", "http://a.test/", 1.0), shows("1"))
    exchanges = [exchange("http://a.test/", 1001), exchange("http://a.test/", 1200)]
    assert document.find_exchange(exchanges) == 0
    assert document.find_exchange(exchanges[::-1]) == 1


def test_a_url_that_a_script_pushed_does_not_matter() -> None:
    popup = exchange("http://a.test/pushed", 1500)
    document = after(asks("1", "http://a.test/#top", 1.0), shows("1"))
    assert document.find_exchange([exchange("http://a.test/", 1000), popup]) == 0


def test_a_redirect_is_followed_to_the_document() -> None:
    document = after(asks("1", "http://a.test/", 1.0), asks("1", "http://b.test/", 2.0), shows("1"))
    exchanges = [exchange("http://a.test/", 1000, 302), exchange("http://b.test/", 2000)]
    assert document.find_exchange(exchanges) == 1


def test_frames_are_not_the_document() -> None:
    document = after(
        asks("1", "http://a.test/", 1.0),
        shows("1"),
        asks("2", "http://b.test/", 2.0, frame="below"),
        shows("2", frame="below"),
        asks("3", "http://a.test/image", 2.0, loader="1"),
    )
    exchanges = [exchange("http://a.test/", 1000), exchange("http://b.test/", 2000, frame="subframe")]
    assert document.find_exchange(exchanges) == 0


def test_the_last_request_counts_if_no_document_was_shown() -> None:
    document = after(asks("1", "http://a.test/file", 1.0))
    assert document.find_exchange([exchange("http://a.test/file", 1000, 204)]) == 0
    assert document.find_exchange([exchange("http://a.test/file", 1000, None)]) is None
    assert document.find_exchange([exchange("http://a.test/file", 1000, 302)]) is None
    assert not document.is_shown


def test_the_document_before_counts_after_one_from_a_service_worker() -> None:
    document = after(
        asks("1", "http://a.test/", 1.0), shows("1"), asks("2", "http://a.test/2", 2.0), shows("2")
    )
    assert document.find_exchange([exchange("http://a.test/", 1000)]) == 0


def test_the_load_event_is_the_shown_documents() -> None:
    first = [asks("1", "http://a.test/", 1.0), shows("1"), loads(1.5)]
    assert after(*first).load_ms == 1500
    assert after(*first, asks("2", "http://a.test/2", 2.0)).load_ms == 1500
    assert after(*first, asks("2", "http://a.test/2", 2.0), shows("2")).load_ms is None
    assert after(*first, asks("2", "http://a.test/2", 2.0), shows("2"), loads(2.5)).load_ms == 2500


def test_the_browsers_error_page_has_no_load_event() -> None:
    document = after(
        asks("1", "http://a.test/", 1.0), fails("1"), shows("1", unreachable_url="http://a.test/"), loads(2.0)
    )
    assert document.load_ms is None
    assert not document.is_shown


def test_a_document_that_broke_off_is_not_one_that_was_left() -> None:
    shown = [asks("1", "http://a.test/", 1.0), shows("1")]
    assert not after(*shown).broke_off
    assert after(*shown, fails("1")).broke_off
    assert not after(*shown, fails("1", canceled=True)).broke_off
    assert not after(*shown, fails("1"), asks("2", "http://a.test/2", 2.0)).broke_off


def test_navigations_without_end_fill_no_memory() -> None:
    events = [event for n in range(1000) for event in (asks(str(n), f"http://a.test/{n}", n), shows(str(n)))]
    document = after(*events)
    assert len(document._asked) == len(document._shown) == KEPT
    assert document.find_exchange([exchange("http://a.test/999", 999_000)]) == 0


def paints(name: str, seconds: float, *, frame: str = "top", loader: str = "1") -> events.DevToolsEvent:
    return events.LifecycleEvent(name=name, frame_id=frame, loader_id=loader, timestamp=seconds)


def largest(seconds: float, *, frame: str = "top", kind: str = LARGEST_PAINT) -> events.DevToolsEvent:
    return events.TimelineEventAdded(event=events.TimelineEntry(kind, frame, seconds))


def test_paints_are_those_of_the_shown_document_and_of_no_frame() -> None:
    document = after(
        *(asks("1", "http://a.test/", 1.0), shows("1")),
        *(paints("firstPaint", 1.5), paints("firstContentfulPaint", 1.6), paints("networkIdle", 1.7)),
        *(paints("firstPaint", 1.8, frame="inner"), paints("firstPaint", 1.9, loader="0")),
        *(largest(7.0), largest(8.0), largest(9.0, frame="inner"), largest(9.0, kind="layout-shift")),
    )
    assert document.paints_s == {"firstPaint": 1.5, "firstContentfulPaint": 1.6, LARGEST_PAINT: 8.0}


def test_the_next_document_has_not_been_painted() -> None:
    first = (asks("1", "http://a.test/", 1.0), shows("1"), paints("firstPaint", 1.5), largest(7.0))
    assert after(*first, asks("2", "http://a.test/next", 2.0), shows("2")).paints_s == {}

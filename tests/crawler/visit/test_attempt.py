"""Of two attempts at a site one counts, and it has one outcome."""

import datetime

import pytest

from crawler.devtools import events
from crawler.devtools.document import LARGEST_PAINT, MainDocument
from crawler.errors import BadResponse, ConnectError, NavigationAborted, TLSError, VisitError, VisitTimeout
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import NETWORK_CHANGED, Exchange
from crawler.netlog.http1 import MessageReader
from crawler.visit.attempt import RETRY_AFTER_LONGEST_S, SchemeAttempt, retry_after_s

CERTIFICATE = TLSError("net::ERR_CERT_DATE_INVALID")
REFUSED = ConnectError("net::ERR_CONNECTION_REFUSED")
EMPTY = BadResponse("net::ERR_EMPTY_RESPONSE")
SILENT = VisitTimeout("the time budget ran out")

NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def ended(
    scheme: str, error: VisitError | None, *, received: int = 0, number: int | None = None
) -> SchemeAttempt:
    attempt = SchemeAttempt(scheme, datetime.datetime.now(datetime.UTC), 0)
    attempt.error = error
    exchange = Exchange(f"{scheme}://a.test/", "GET", "main frame", 0)
    exchange.message = MessageReader()
    exchange.message.feed(b"x" * received)
    exchange.error = number
    attempt.traffic = Traffic([], [exchange], 0)
    return attempt


def shown() -> MainDocument:
    document = MainDocument("top")
    request = events.Request("https://a.test/")
    document.feed(
        events.RequestSent(request_id="1", loader_id="1", frame_id="top", timestamp=0.0, request=request)
    )
    document.feed(events.FrameNavigated(frame=events.Frame("top", "1")))
    return document


@pytest.mark.parametrize(
    ("https", "http", "received", "kept"),
    [
        (CERTIFICATE, SILENT, 0, "https"),
        (CERTIFICATE, REFUSED, 0, "https"),
        (CERTIFICATE, EMPTY, 0, "https"),
        (CERTIFICATE, None, 100, "http"),
        (CERTIFICATE, SILENT, 100, "http"),
        (REFUSED, SILENT, 0, "http"),
        (REFUSED, EMPTY, 0, "http"),
        (REFUSED, NavigationAborted("Download is starting"), 100, "http"),
        (SILENT, REFUSED, 0, "https"),
        (SILENT, SILENT, 0, "https"),
        (EMPTY, SILENT, 0, "https"),
    ],
    ids=str,
)
def test_of_two_attempts_the_more_telling_is_kept(
    https: VisitError, http: VisitError | None, received: int, kept: str
) -> None:
    first, second = ended("https", https), ended("http", http, received=received)
    assert first.wants_http
    assert (second if second.outweighs(first) else first).scheme == kept


def test_an_http_attempt_during_a_network_change_counts() -> None:
    second = ended("http", SILENT, number=NETWORK_CHANGED)
    assert second.outweighs(ended("https", CERTIFICATE))


def test_a_site_that_answered_by_https_is_not_tried_by_http() -> None:
    assert not ended("https", SILENT, received=1).wants_http
    assert not ended("https", None, received=100).wants_http


def test_a_document_that_is_missing_in_the_log_makes_the_recording_incomplete() -> None:
    attempt = ended("https", None)
    attempt.document = shown()
    seen = attempt.make_observation(salt=b"", error_name=str)
    assert (seen.visit["outcome"], seen.visit["main_response_id"]) == ("crash", None)


@pytest.mark.parametrize(
    ("number", "name", "outcome"),
    [(-3, "net::ERR_ABORTED", "aborted"), (-101, "net::ERR_CONNECTION_RESET", "bad_response")],
)
def test_a_document_that_its_own_page_gave_up_is_aborted_and_not_a_bad_response(
    number: int, name: str, outcome: str
) -> None:
    attempt = ended("https", None, number=number)
    (exchange,) = attempt.traffic.exchanges
    exchange.status, exchange.message = 200, MessageReader()
    exchange.message.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\n<script>location = '/'</script>")
    attempt.document = shown()
    seen = attempt.make_observation(salt=b"", error_name={number: name}.__getitem__)
    assert (seen.visit["outcome"], seen.visit["status"]) == (outcome, 200)


def test_painting_and_idleness_do_not_show_that_a_page_is_loading() -> None:
    attempt = ended("https", None)
    entry = events.TimelineEntry(LARGEST_PAINT, "top", 4.0)
    for event in (
        events.LifecycleEvent(name="networkIdle", frame_id="top", loader_id="1", timestamp=4.0),
        events.TimelineEventAdded(event=entry),
    ):
        attempt.hear(event, now_s=5.5)
    assert attempt.last_event_s == 0


def test_paints_are_stored_on_the_clock_of_the_visit() -> None:
    attempt = ended("https", None)
    attempt.document = shown()
    attempt.document.paints_s = {
        "firstPaint": attempt.start_ms / 1000 + 0.25,
        LARGEST_PAINT: attempt.started_at.timestamp() + 1.5,
    }
    columns = ("first_paint_us", "first_contentful_paint_us", "largest_contentful_paint_us")
    visit = attempt.make_observation(salt=b"", error_name=str).visit
    assert [visit[column] for column in columns] == [250_000, None, 1_500_000]


def test_events_after_the_end_of_the_recording_are_ignored() -> None:
    attempt = ended("https", None)
    attempt.stop_ms = 5_000

    def ask(path: str, second: float | None) -> None:
        request = events.Request(f"https://a.test/{path}")
        attempt.hear(events.RequestSent(request_id=path, request=request, timestamp=second), now_s=5.5)

    ask("before", 4.9)
    ask("in-its-last-millisecond", 5.0009)
    ask("after", 5.001)
    ask("of-no-stated-time", None)
    assert [asked.url for asked in attempt.initiators.requests] == [
        "https://a.test/before",
        "https://a.test/in-its-last-millisecond",
    ]
    assert attempt.last_event_s == 5.0009


@pytest.mark.parametrize(("error", "outcome"), [(REFUSED, "timeout"), (CERTIFICATE, "tls")])
def test_without_time_left_for_http_a_refusal_by_https_does_not_decide(
    error: VisitError, outcome: str
) -> None:
    attempt = ended("https", error)
    attempt.end_without_time()
    assert attempt.make_observation(salt=b"", error_name=str).visit["outcome"] == outcome


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        (429, "0", 0),
        (503, "120", 120),
        (429, "Fri, 20 Nov 2026 12:01:30 GMT", 90),
        (429, "Fri, 20 Nov 2026 11:00:00 GMT", 0),
        (429, "Fri, 20 Nov 2926 11:00:00 GMT", RETRY_AFTER_LONGEST_S),
        (429, "9" * 4000, RETRY_AFTER_LONGEST_S),
        (429, None, None),
        (429, "", None),
        (429, "soon", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "\u0663", None),
        (200, "120", None),
        (301, "120", None),
        (None, "120", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_of_a_429_or_503(
    status: int | None, value: str | None, seconds: int | None
) -> None:
    assert retry_after_s(status, value, now=NOON) == seconds

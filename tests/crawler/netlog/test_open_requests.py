"""The network is idle when nothing that is being read moves."""

from typing import Any

import pytest

from crawler.netlog.event import Event
from crawler.netlog.open_requests import ANSWER_MS, QUIET_MS, UNREAD_MS, OpenRequests

ALIVE, SENT = "REQUEST_ALIVE", "HTTP_TRANSACTION_SEND_REQUEST_HEADERS"
HEADER, READ = "HTTP_TRANSACTION_READ_RESPONSE_HEADERS", "HTTP_TRANSACTION_READ_BODY"
PLAIN, EVENTS = "Content-Type: text/plain", "content-type: text/event-stream; charset=utf-8"

BEGUN = [(0, ALIVE, "BEGIN"), (10, "URL_REQUEST_START_JOB", "BEGIN"), (20, SENT, "NONE")]
ANSWERED = [*BEGUN, (100, HEADER, "NONE")]


def idle_at_ms(happened: list[tuple[int, str, str]], *lines: str, source: int = 1) -> int:
    """When the network is idle after these events, where a header has these lines."""
    requests = OpenRequests(0)
    for time_ms, name, phase in happened:
        params: dict[str, Any] = {"headers": ["HTTP/1.1 200 OK", *lines]} if name == HEADER else {}
        requests.feed(Event(name, phase, source, time_ms, params, ""))
    return requests.idle_at_ms


READING = [*ANSWERED, (100, READ, "BEGIN")]
FULL = [*READING, (300, READ, "END")]


@pytest.mark.parametrize(
    ("happened", "idle_ms"),
    [
        ([], QUIET_MS),
        ([(0, ALIVE, "BEGIN"), (40, ALIVE, "END")], 40 + QUIET_MS),
        (BEGUN, 20 + ANSWER_MS),
        (ANSWERED, 100 + UNREAD_MS),
        (READING, 100 + ANSWER_MS),
        (FULL, 300 + UNREAD_MS),
        ([*FULL, (900, READ, "BEGIN")], 900 + ANSWER_MS),
        ([*ANSWERED, (110, "URL_REQUEST_START_JOB", "BEGIN")], 110 + ANSWER_MS),
        ([*FULL, (400, ALIVE, "END")], 400 + QUIET_MS),
        ([*BEGUN, (1_000, "URL_REQUEST_JOB_FILTERED_BYTES_READ", "NONE")], 1_000 + ANSWER_MS),
    ],
    ids=[
        "nothing",
        "over",
        "unanswered",
        "answered",
        "reading",
        "unread",
        "read-again",
        "redirected",
        "ended",
        "shared",
    ],
)
def test_a_request_is_waited_for_as_long_as_it_may_still_move(
    happened: list[tuple[int, str, str]], idle_ms: int
) -> None:
    assert idle_at_ms(happened, PLAIN) == idle_ms


def test_the_end_of_server_sent_events_is_not_waited_for() -> None:
    assert idle_at_ms(READING, PLAIN, EVENTS) == 100 + UNREAD_MS


def test_the_request_that_moves_longest_decides() -> None:
    requests = OpenRequests(0)
    for source, happened in ((1, FULL), (2, BEGUN)):
        for time_ms, name, phase in happened:
            requests.feed(Event(name, phase, source, time_ms, {"headers": []}, ""))
    assert requests.idle_at_ms == 20 + ANSWER_MS


def test_a_request_that_stands_still_does_not_make_others_be_waited_for_longer() -> None:
    requests = OpenRequests(0)
    for source, time_ms, name, phase in (
        *((1, *entry) for entry in FULL),
        (2, 9_000, ALIVE, "BEGIN"),
        (2, 9_100, ALIVE, "END"),
    ):
        requests.feed(Event(name, phase, source, time_ms, {"headers": []}, ""))
    assert requests.idle_at_ms == 9_100 + QUIET_MS


def test_events_of_an_unknown_request_change_nothing() -> None:
    assert idle_at_ms([(90, READ, "BEGIN"), (95, HEADER, "NONE")]) == QUIET_MS

"""Declarations of the events' parameters agree with the recorded logs,
and with the handlers that read them."""

from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from crawler.browser.logstream import COOKIE_ADDED
from crawler.netlog import connections, quic, quic_overhead, requests, tcp
from crawler.netlog.params import PARAMS, NoParams
from tests.crawler.netlog.logs import NAMES, recorded

READERS: list[tuple[tuple[str, str], Callable[..., Any]]] = [
    *((event, reads) for event, reads in connections.HANDLERS.items() if event not in tcp.HANDLERS),
    *tcp.HANDLERS.items(),
    *requests.HANDLERS.items(),
    *(((name, "NONE"), handler) for name, handler in quic.HANDLERS.items()),
    *(((name, "NONE"), sizes) for name, sizes in quic_overhead.SIZED.items()),
]

UNRECORDED = {
    *("HTTP3_UNKNOWN_FRAME_RECEIVED", "IN_MEMORY_CACHE_READ_RESPONSE_HEADERS"),
    *("QUIC_SESSION_MESSAGE_FRAME_RECEIVED", "URL_REQUEST_REDIRECT_JOB", COOKIE_ADDED),
}
"""Declared events that are in no recorded log."""


def test_every_declared_parameter_is_in_a_recorded_log() -> None:
    params: dict[tuple[str, str], set[str]] = {}
    for name in NAMES:
        for event in recorded(name):
            params.setdefault((event.name, event.phase), set()).update(event.params)
    assert {name for name, _ in PARAMS} - {name for name, _ in params} == UNRECORDED
    for declared in {event_params for event, event_params in PARAMS.items() if event[0] not in UNRECORDED}:
        collected = set().union(
            *(params.get(event, set()) for event, event_params in PARAMS.items() if event_params is declared)
        )
        assert declared.__annotations__.keys() - NoParams.__annotations__.keys() <= collected, declared


def test_each_function_reads_the_parameters_that_are_declared() -> None:
    for event, reads in READERS:
        first = next(iter(get_type_hints(reads).values()))
        (read,) = get_args(first) or (first,)
        assert read in (PARAMS.get(event, NoParams), NoParams, Any), (event, read)
        assert read is not Any or event[0] in quic.EVENTS

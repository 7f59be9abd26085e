"""Declarations of the events' parameters agree with the recorded logs,
and with the handlers that read them."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

from crawler.browser.logstream import COOKIE_ADDED
from crawler.netlog import connections, quic, quic_overhead, requests, tcp
from crawler.netlog.assembler import EVENTS
from crawler.netlog.lines import LineReader
from crawler.netlog.params import PARAMS, NoParams

LOGS = Path(__file__).parents[1] / "logs/netlog"

READERS: list[tuple[tuple[str, str], Callable[..., Any]]] = [
    *((event, reads) for event, reads in connections.HANDLERS.items() if event not in tcp.HANDLERS),
    *tcp.HANDLERS.items(),
    *requests.HANDLERS.items(),
    *(((name, "NONE"), handler) for name, handler in quic.HANDLERS.items()),
    *(((name, "NONE"), sizes) for name, sizes in quic_overhead.SIZED.items()),
]
"""Functions that read events or their parameters."""

UNRECORDED = {
    *("HTTP3_UNKNOWN_FRAME_RECEIVED", "IN_MEMORY_CACHE_READ_RESPONSE_HEADERS"),
    *("QUIC_SESSION_MESSAGE_FRAME_RECEIVED", "URL_REQUEST_REDIRECT_JOB", COOKIE_ADDED),
}
"""Declared events that are in no recorded log."""


def test_every_declared_parameter_is_in_a_recorded_log() -> None:
    recorded: dict[tuple[str, str], set[str]] = {}
    for path in LOGS.glob("*.json.gz"):
        reader = LineReader(EVENTS)
        for event in reader.events(gzip.decompress(path.read_bytes()).splitlines()):
            recorded.setdefault((event.name, event.phase), set()).update(event.params)
        assert reader.ignored == 0
    assert {name for name, _ in PARAMS} - {name for name, _ in recorded} == UNRECORDED
    for declared in {event_params for event, event_params in PARAMS.items() if event[0] not in UNRECORDED}:
        collected = set().union(
            *(
                recorded.get(event, set())
                for event, event_params in PARAMS.items()
                if event_params is declared
            )
        )
        assert declared.__annotations__.keys() - NoParams.__annotations__.keys() <= collected, declared


def test_each_function_reads_the_parameters_that_are_declared() -> None:
    for event, reads in READERS:
        first = next(iter(get_type_hints(reads).values()))
        (read,) = get_args(first) or (first,)
        assert read in (PARAMS.get(event, NoParams), NoParams, Any), (event, read)
        assert read is not Any or event[0] in quic.EVENTS

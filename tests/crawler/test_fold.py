"""Recorded logs, folded: every response is the server's, whatever happens to the stream of events."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.fold import HANDLERS, Traffic, fold
from crawler.netlog import Event, LineReader, events
from crawler.rows import rows

LOGS = Path(__file__).parent / "logs"
NAMES = ["zoo", "h1tls", "h2"]


@cache
def recorded(name: str) -> tuple[Event, ...]:
    lines = gzip.decompress((LOGS / f"{name}.json.gz").read_bytes()).splitlines()
    return tuple(events(lines, LineReader(frozenset(HANDLERS))))


def sent(name: str) -> list[tuple[str, str, str, int, int]]:
    return sorted(tuple(entry) for entry in json.loads((LOGS / f"{name}.sent.json").read_text()))


def received(traffic: Traffic) -> list[tuple[str, str, str, int, int | None]]:
    urls = [(one, urlsplit(one.url)) for one in traffic.exchanges if one.sizes()[0]]
    return sorted((one.method, url.netloc, url.path, *one.sizes()) for one, url in urls)


@pytest.mark.parametrize("name", NAMES)
def test_every_response_of_a_recorded_log_is_what_the_server_sent(name: str) -> None:
    traffic = fold(recorded(name))
    assert received(traffic) == sent(name)
    made = rows(traffic, [], start_ms=0, salt=b"", error_name=str)
    assert made.decrypted_coverage == 1.0
    assert made.coverage is not None
    assert made.coverage >= 0.999  # H2: the SETTINGS of a connection that lost a race are never read


def test_what_came_from_the_cache_failed_or_was_redirected_says_so() -> None:
    made = rows(fold(recorded("zoo")), [], start_ms=0, salt=b"", error_name=str).responses
    by_path = {row["path"]: row for row in made}
    cached = [(row["from_cache"], row["wire_bytes_unknown"]) for row in made if row["path"] == "/cached"]
    assert cached == [(False, None), (True, "from_cache")]
    assert by_path["/chain"]["redirected_from_id"] == by_path["/redirect"]["id"]
    assert by_path["/end"]["redirected_from_id"] == by_path["/chain"]["id"]
    assert (by_path["/redirect"]["status"], by_path["/redirect"]["body_bytes"]) == (302, 5)
    assert by_path["/reset"]["failure"] == "-101"
    assert by_path["/short"]["failure"] == "-354"
    assert [row["resource_type"] for row in made if row["method"] == "OPTIONS"] == ["preflight"]
    assert (
        by_path["/gzip"]["decoded_bytes"]
        == by_path["/missing"]["body_bytes"]
        > by_path["/gzip"]["body_bytes"]
    )


def test_a_recording_that_stops_keeps_what_had_arrived() -> None:
    log = recorded("zoo")
    middle = (log[0].time_ms + log[-1].time_ms) // 2
    early = fold(log, stop_ms=log[0].time_ms - 1)
    assert (early.transports, early.exchanges) == ([], [])
    before = [event for event in log if event.time_ms <= middle]
    assert received(fold(log, stop_ms=middle)) == received(fold(before))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_stream_that_is_cut_doubled_or_shuffled_never_stops_the_fold(data: st.DataObject) -> None:
    log = list(recorded("zoo"))
    start = data.draw(st.integers(0, len(log)))
    stop = data.draw(st.integers(start, len(log)))
    broken = log[start:stop]
    match data.draw(st.sampled_from(["cut", "doubled", "shuffled"])):
        case "doubled":
            broken = [event for event in broken for _ in range(2)]
        case "shuffled":
            data.draw(st.randoms(use_true_random=False)).shuffle(broken)
    traffic = fold(broken)
    made = rows(traffic, [], start_ms=0, salt=b"", error_name=str)
    for row in made.responses:
        assert (row["wire_bytes"] is None) == (row["wire_bytes_unknown"] is not None)
        assert row["wire_bytes"] is None or 0 <= row["body_bytes"] <= row["wire_bytes"]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_log_cut_off_anywhere_has_no_more_than_the_whole(cut: int) -> None:
    log = recorded("h2")
    part = fold(log[: cut % len(log)])
    whole = {(one.url, one.stream_id): one.sizes() for one in fold(log).exchanges}
    for one in part.exchanges:
        if one.stream_id is not None:
            assert all(
                (a or 0) <= (b or 0) for a, b in zip(one.sizes(), whole[one.url, one.stream_id], strict=True)
            )

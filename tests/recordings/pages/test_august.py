"""The 591 pages of August 2025: what others counted of them, and what their set holds."""

import collections

import pytest

from recordings.pages.sets import AUGUST_2025, SETS, read_set
from recordings.release import Content
from recordings.rows import Row
from schema.recorded import PAGES, null_reasons

SEGMENT_BYTES = 1430


@pytest.fixture(scope="module")
def observed() -> Content:
    return read_set(SETS[AUGUST_2025])


SHARES = [(3, 43.20), (10, 62.13), (16, 71.12), (30, 81.17)]
"""Initial window and percentage of responses but redirects that fit, by the recorder's counts of bytes."""

QUANTILES = [(0.1, 0.504), (0.25, 1.291), (0.5, 6.735), (0.75, 29.145), (0.9, 89.593), (0.95, 152.083)]
"""Quantiles of the sizes of the same responses in kB, by the same counts."""

HEADERS_OF_FRAMES_PERCENT = 0.2
"""The set adds the headers of frames, which the recorder did not count: so much moves a share at most."""


@pytest.mark.parametrize(("iw", "percent"), SHARES)
def test_the_shares_of_responses_that_fit_are_those_of_the_recorder_but_for_headers_of_frames(
    observed: Content, iw: int, percent: float
) -> None:
    sizes = known_sizes(observed)
    share = 100 * sum(size <= iw * SEGMENT_BYTES for size in sizes) / len(sizes)
    assert share == pytest.approx(percent, abs=HEADERS_OF_FRAMES_PERCENT)


@pytest.mark.parametrize(("quantile", "kilobytes"), QUANTILES)
def test_the_quantiles_of_sizes_are_those_of_the_recorder(
    observed: Content, quantile: float, kilobytes: float
) -> None:
    sizes = sorted(known_sizes(observed))
    assert sizes[round(quantile * (len(sizes) - 1))] / 1000 == pytest.approx(kilobytes, rel=0.03)


def known_sizes(content: Content) -> list[int]:
    return [row["wire_bytes"] for row in content.tables["response"] if row["wire_bytes"] is not None]


def test_no_redirect_has_a_size(observed: Content) -> None:
    redirects = [row for row in observed.tables["response"] if is_redirect(row)]
    assert len(redirects) > 1000
    assert not any(row["wire_bytes"] for row in redirects)


def is_redirect(row: Row) -> bool:
    return row["status"] is not None and 300 <= row["status"] < 400 and row["status"] != 304


def test_what_is_said_to_be_incomplete_is_shorter_than_its_content_length(observed: Content) -> None:
    broken_off = [row for row in observed.tables["response"] if row["is_complete"] is False]
    assert 0 < len(broken_off) < 30
    assert not any(300 <= row["status"] < 400 for row in broken_off)


def test_every_request_is_a_response_and_every_page_a_visit(observed: Content) -> None:
    assert (len(observed.tables["visit"]), len(observed.tables["response"])) == (591, 62_792)
    connections = {(row["visit_id"], row["id"]) for row in observed.tables["connection"]}
    used = {
        (row["visit_id"], row["connection_id"]) for row in observed.tables["response"] if row["connection_id"]
    }
    assert used == connections


def test_no_host_can_reach_a_site(observed: Content) -> None:
    named = {
        row["host"] for table in ("site", "visit", "connection", "response") for row in observed.tables[table]
    }
    assert all(host.endswith(".invalid") for host in named)


def test_what_no_row_knows_has_a_reason(observed: Content) -> None:
    for table in ("site", "visit", "connection", "response"):
        rows = observed.tables[table]
        for name in rows[0]:
            if all(row[name] is None for row in rows):
                assert f"{table}.{name}" in null_reasons(PAGES)


def test_no_more_than_six_connections_to_an_origin_are_busy_over_http1(observed: Content) -> None:
    opened = collections.Counter(
        (row["visit_id"], row["host"])
        for row in observed.tables["connection"]
        if row["protocol"] == "http/1.1" and row["opened_us"] is None
    )
    assert max(opened.values()) <= 6


def test_times_of_a_response_are_in_order(observed: Content) -> None:
    for row in observed.tables["response"]:
        known = [
            row[name]
            for name in ("request_sent_us", "first_byte_us", "last_byte_us")
            if row[name] is not None
        ]
        assert known == sorted(known)


def test_a_round_trip_is_no_longer_than_the_shortest_wait(observed: Content) -> None:
    waits = (
        (row["round_trip_us"], row["first_byte_us"] - row["request_sent_us"])
        for row in observed.tables["response"]
        if row["round_trip_us"] is not None and row["wire_bytes"] is not None
    )
    assert all(0 < trip <= wait for trip, wait in waits)

"""The 591 bundled pages: what their README measured, and what the import makes of them."""

import collections
from pathlib import Path

import duckdb
import pytest

from recordings.pages.recording import BUNDLED, REQUESTS, Recording, read_recording
from recordings.pages.rows import content_of
from recordings.release import Content
from schema.recorded import PAGES, null_reasons

SEGMENT_BYTES = 1430


@pytest.fixture(scope="module")
def recording() -> Recording:
    return read_recording()


@pytest.fixture(scope="module")
def observed(recording: Recording) -> Content:
    return content_of(recording)


SHARES = [(3, 43.8), (10, 62.5), (16, 71.4), (30, 81.4)]
"""Initial window and percentage of responses that fit, as their deriver measured them."""

QUANTILES = [(0.1, 0.46), (0.25, 1.2), (0.5, 6.5), (0.75, 28.7), (0.9, 87.9), (0.95, 150)]
"""Quantiles of the sizes of responses in kB, likewise."""


@pytest.mark.parametrize(("iw", "percent"), SHARES)
def test_the_shares_of_responses_that_fit_are_those_that_were_measured_of_the_recordings(
    recording: Recording, iw: int, percent: float
) -> None:
    counted = transferred(recording)
    assert share_percent(counted, iw) == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize(("quantile", "kilobytes"), QUANTILES)
def test_the_quantiles_of_sizes_are_those_that_were_measured_of_the_recordings(
    recording: Recording, quantile: float, kilobytes: float
) -> None:
    sizes = sorted(transferred(recording))
    assert sizes[round(quantile * (len(sizes) - 1))] / 1000 == pytest.approx(kilobytes, rel=0.03)


@pytest.mark.parametrize("iw", [iw for iw, _ in SHARES])
def test_the_import_adds_the_headers_of_frames_and_leaves_out_redirects_alone(
    recording: Recording, observed: Content, iw: int
) -> None:
    sizes = [row["wire_bytes"] for row in observed.tables["response"] if row["wire_bytes"] is not None]
    others = transferred(recording, redirects=False)
    assert len(sizes) == len(others)
    assert share_percent(sizes, iw) == pytest.approx(share_percent(others, iw), abs=0.2)


def transferred(recording: Recording, *, redirects: bool = True) -> list[int]:
    every = (
        request
        for page in recording.pages
        for request in page.requests
        if redirects or not request.is_redirect
    )
    return [request.transfer_bytes for request in every if request.transfer_bytes is not None]


def share_percent(sizes: list[int], iw: int) -> float:
    return 100 * sum(size <= iw * SEGMENT_BYTES for size in sizes) / len(sizes)


def test_what_is_said_to_be_incomplete_is_shorter_than_its_content_length(observed: Content) -> None:
    broken_off = [row for row in observed.tables["response"] if row["is_complete"] is False]
    assert 0 < len(broken_off) < 30
    assert not any(300 <= row["status"] < 400 for row in broken_off)


def test_every_request_is_a_response_and_every_page_a_visit(recording: Recording, observed: Content) -> None:
    assert (len(recording.pages), len(observed.tables["visit"]), len(observed.tables["response"])) == (
        591,
        591,
        62_792,
    )
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
    for table, rows in observed.tables.items():
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


def test_the_tables_are_as_they_were_derived() -> None:
    """The data set's own README: 62,792 rows, h2 39,115, h3 14,816, http/1.1 8,851."""
    query = "SELECT protocol, count(*) FROM read_parquet(?) WHERE protocol <> 'http/1.0' GROUP BY protocol"
    assert dict(duckdb.execute(query, [str(Path(BUNDLED) / REQUESTS)]).fetchall()) == {
        "h2": 39_115,
        "h3": 14_816,
        "http/1.1": 8_851,
    }

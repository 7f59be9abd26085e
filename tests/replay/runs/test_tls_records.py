"""What TLS records do to a page load: when a browser can use the first byte,
and what they add to the bytes."""

from collections.abc import Sequence
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.recipes.tls_records import RECORD_BYTES, RECORD_OVERHEAD_BYTES, TLS_RECORDS, Run
from replay.runs.cells import make_cells
from replay.runs.conditions import RECORDS
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load, make_page, plain

pytestmark = pytest.mark.lab

TLS_FLIGHT_BYTES = 1_000
"""One segment, so that the window has not grown when the first response begins."""
DOCUMENT_BYTES = 40_000
WINDOWS = (3, 10, 30)
SECURE, CLEAR, RECORDED, PAUSED = 1, 2, 3, 4
HALF_KILOBYTES: tuple[Run, ...] = ((0, 500),)

Rows = dict[tuple[int, str, int], dict[str, Any]]


def page(visit_id: int, sizes: Sequence[int], *, tls: bool = True, records: tuple[Run, ...] = ()) -> Recipe:
    """A chain of responses on one connection.

    The server delays the second by two seconds if it is told to.
    """
    first, *others = ({"response_bytes": size} for size in sizes)
    delayed = [{**each, "server_delay_us": 2_000_000} for each in others]
    flight = TLS_FLIGHT_BYTES if tls else 0
    return make_page(
        visit_id, first, *delayed, is_chain=True, port=443, tls_flight_bytes=flight, tls_records=records
    )


@pytest.fixture(scope="module")
def rows(lab: Lab) -> Rows:
    """Rows by page, record sizes and window; `at once` is the page with a pause without it."""
    pages = [
        page(SECURE, [DOCUMENT_BYTES]),
        page(CLEAR, [DOCUMENT_BYTES], tls=False),
        page(RECORDED, [DOCUMENT_BYTES], records=HALF_KILOBYTES),
    ]
    arms = [plain(tls_records=name) for name in RECORDS]
    cells = make_cells(pages, [FAST], policies=at_once(*WINDOWS), seeds=1, conditions=arms)
    two = page(PAUSED, [30_000, 30_000])
    dynamic = [plain(tls_records="dynamic", server_delay=delayed) for delayed in (False, True)]
    cells += make_cells([two], [FAST], policies=at_once(10), seeds=1, conditions=dynamic)
    rows = load(lab, cells)
    return {
        (row["visit_id"], "at once" if row["think"] == "none" else row["tls_records"], row["iw"]): row
        for row in rows
    }


def contents(sizes: Sequence[int], runs: Sequence[Run]) -> list[int]:
    """Plaintext of each record of a connection whose responses come one after another, by hand."""
    limits = [limit for count, limit in runs for _ in range(count or 1_000)]
    expected: list[int] = []
    for size in sizes:
        left = size
        while left:
            expected.append(min(left, limits[len(expected)]))
            left -= expected[-1]
    return expected


def trips(payload_bytes: int, iw: int) -> int:
    """Round trips until so many bytes of a first flight have arrived, where the window doubles."""
    sent, window, count = 0, iw, 0
    while sent * MSS_TIMESTAMPS < payload_bytes:
        sent, window, count = sent + window, 2 * window, count + 1
    return count


@pytest.mark.parametrize("name", list(TLS_RECORDS))
@pytest.mark.parametrize("iw", WINDOWS)
def test_the_first_byte_is_of_use_when_its_whole_record_has_arrived(rows: Rows, name: str, iw: int) -> None:
    first = contents([DOCUMENT_BYTES], TLS_RECORDS[name])[0] + RECORD_OVERHEAD_BYTES
    handshakes = 2
    expected_ms = (handshakes + trips(first, iw)) * RTT_MS
    assert rows[SECURE, name, iw]["first_byte_ms"] == pytest.approx(expected_ms, abs=3)


def test_a_window_of_ten_cannot_carry_a_record_of_nginx_and_one_of_thirty_can(rows: Rows) -> None:
    assert RECORD_BYTES + RECORD_OVERHEAD_BYTES > 10 * MSS_TIMESTAMPS
    ten, thirty = (rows[SECURE, "16k", iw]["first_byte_ms"] for iw in (10, 30))
    assert ten - thirty == pytest.approx(RTT_MS, rel=0.02)


@pytest.mark.parametrize("iw", WINDOWS)
def test_records_whose_bytes_are_of_use_at_once_are_the_same_on_the_wire(rows: Rows, iw: int) -> None:
    whole, split = rows[SECURE, "16k", iw], rows[SECURE, "none", iw]
    assert split["first_byte_ms"] == pytest.approx(3 * RTT_MS, abs=2)
    differing = {"tls_records", "first_byte_ms", "render_blocking_ms"}
    assert {key: whole[key] for key in whole.keys() - differing} == {
        key: split[key] for key in split.keys() - differing
    }


@pytest.mark.parametrize("name", list(TLS_RECORDS))
def test_each_record_adds_its_header_and_tag(rows: Rows, name: str) -> None:
    records = contents([DOCUMENT_BYTES], TLS_RECORDS[name])
    expected = DOCUMENT_BYTES + len(records) * RECORD_OVERHEAD_BYTES + TLS_FLIGHT_BYTES
    assert {rows[SECURE, name, iw]["payload_bytes"] for iw in WINDOWS} == {expected}


@pytest.mark.parametrize("iw", WINDOWS)
def test_clear_text_has_no_records(rows: Rows, iw: int) -> None:
    clear = [rows[CLEAR, name, iw] | {"tls_records": None} for name in RECORDS]
    assert clear == [clear[0]] * len(RECORDS)
    assert clear[0]["payload_bytes"] == DOCUMENT_BYTES
    assert clear[0]["first_byte_ms"] == pytest.approx(2 * RTT_MS, abs=1)


def test_recorded_sizes_are_used_where_they_are_asked_for_and_known(rows: Rows) -> None:
    def sent(visit_id: int, name: str) -> int:
        return int(rows[visit_id, name, 10]["payload_bytes"])

    halves = len(contents([DOCUMENT_BYTES], HALF_KILOBYTES))
    assert sent(RECORDED, "recorded") == DOCUMENT_BYTES + halves * RECORD_OVERHEAD_BYTES + TLS_FLIGHT_BYTES
    assert sent(RECORDED, "16k") == sent(SECURE, "16k") == sent(SECURE, "recorded")


def test_small_records_begin_anew_after_a_pause(rows: Rows) -> None:
    dynamic = TLS_RECORDS["dynamic"]
    one_go = contents([30_000, 30_000], dynamic)
    twice = contents([30_000], dynamic) * 2
    assert len(one_go) != len(twice)
    for name, records in (("at once", one_go), ("dynamic", twice)):
        expected = 60_000 + len(records) * RECORD_OVERHEAD_BYTES + TLS_FLIGHT_BYTES
        assert rows[PAUSED, name, 10]["payload_bytes"] == expected

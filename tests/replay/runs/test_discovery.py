"""When a replayed browser asks for what a document leads to, from one guest."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.recipes.tls_records import RECORD_BYTES, RECORD_OVERHEAD_BYTES
from replay.runs.cells import plan
from replay.runs.conditions import DISCOVERY
from replay.runs.responses import response_tables
from replay.runs.run import Result, replay
from tests.factories.lab_networks import FAST, RTT_MS, plain

pytestmark = pytest.mark.lab

IW = 10
DOCUMENT_BYTES = 90_000
PLACES = (1, 14_480, 14_481, 40_000, 40_000, 60_000, None)
"""Bytes of the document that each child waits for; None: all.

The first two are within ten segments, the third is a byte behind them.
"""
DELAY_US = 37_000
CLEAR, SECURE, NESTED, PLACELESS = 1, 2, 3, 4

Wanted = dict[tuple[int, str], list[float]]


def page(
    visit_id: int, places: tuple[int | None, ...], *, tls_flight_bytes: int = 0, chain: bool = False
) -> Recipe:
    """A document and what it leads to, each on a host of its own; in a chain, what each leads to,
    after a delay."""
    kind = {"port": 443, "tls_after_bytes": 0, "tls_flight_bytes": tls_flight_bytes, "h2": True}
    children = [
        Object(
            response_id=number,
            origin=number - 1,
            parent=number - 2 if chain else 0,
            place=place,
            browser_delay_us=DELAY_US if chain else 0,
            response_bytes=1_000,
            is_document=False,
        )
        for number, place in enumerate(places, start=2)
    ]
    document = Object(response_id=1, origin=0, parent=-1, response_bytes=DOCUMENT_BYTES, is_document=True)
    return Recipe(
        page=f"{visit_id}.test",
        visit_id=visit_id,
        origins=tuple(Origin(host=f"{number}.test", **kind) for number in range(len(places) + 1)),  # type: ignore[arg-type]
        objects=(document, *children),
        left_out=0,
    )


@pytest.fixture(scope="module")
def result(lab: Lab) -> Result:
    """Pages over clear text and TLS, a chain, and a page without places, with each discovery."""
    pages = [
        page(CLEAR, PLACES),
        page(SECURE, PLACES, tls_flight_bytes=1_000),
        page(NESTED, (1, None, None), chain=True),
        page(PLACELESS, (None,) * len(PLACES)),
    ]
    arms = [plain(discovery=name) for name in DISCOVERY]
    return replay(lab, plan(pages, [FAST], windows=(IW,), seeds=1, conditions=arms), guests=1, responses=True)


@pytest.fixture(scope="module")
def wanted_ms(result: Result) -> Wanted:
    """Times in ms at which each response was wanted, by page and discovery."""
    tables = [table.to_pylist() for table in response_tables(result)]
    return {
        (rows[0]["visit_id"], rows[0]["discovery"]): [row["wanted_ms"] for row in rows] for rows in tables
    }


def arrival_ms(payload_bytes: int, handshakes: int) -> int:
    """Time at which so many bytes of the document have arrived,
    where the window doubles and the rate does not matter."""
    sent, window, trips = 0, IW, handshakes
    while sent * MSS_TIMESTAMPS < payload_bytes:
        sent, window, trips = sent + window, 2 * window, trips + 1
    return trips * RTT_MS


def test_a_child_is_wanted_when_the_bytes_up_to_its_place_have_arrived(wanted_ms: Wanted) -> None:
    expected = [arrival_ms(place or DOCUMENT_BYTES, 1) for place in PLACES]
    assert wanted_ms[CLEAR, "recorded"][1:] == pytest.approx(expected, abs=6)
    assert len(set(expected)) == 3


def test_over_tls_it_is_wanted_when_the_record_of_its_place_is_whole(wanted_ms: Wanted) -> None:
    ends = [
        min(DOCUMENT_BYTES, -(-(place or DOCUMENT_BYTES) // RECORD_BYTES) * RECORD_BYTES) for place in PLACES
    ]
    expected = [arrival_ms(end + -(-end // RECORD_BYTES) * RECORD_OVERHEAD_BYTES, 2) for end in ends]
    assert wanted_ms[SECURE, "recorded"][1:] == pytest.approx(expected, abs=6)
    assert expected[0] == expected[2]  # one record, which takes two flights


@pytest.mark.parametrize("which", [CLEAR, SECURE])
def test_first_and_last_byte_are_the_brackets(result: Result, wanted_ms: Wanted, which: int) -> None:
    first, recorded, last = (wanted_ms[which, name][1:] for name in ("first-byte", "recorded", "last-byte"))
    assert len(set(first)) == len(set(last)) == 1
    assert first[0] <= min(recorded)
    assert max(recorded) <= last[0] + 1  # the requests found before take their place in the queue
    (begun,) = {
        row["first_byte_ms"]
        for row in result.rows
        if (row["visit_id"], row["discovery"]) == (which, "first-byte")
    }
    (ended,) = {
        row["document_ms"]
        for row in result.rows
        if (row["visit_id"], row["discovery"]) == (which, "last-byte")
    }
    assert (first[0], last[0]) == (begun, ended)


def test_the_browsers_delay_comes_before_each_request_and_not_in_the_brackets(wanted_ms: Wanted) -> None:
    _, first, *rest = wanted_ms[NESTED, "recorded"]
    assert first == pytest.approx(arrival_ms(1, 1) + DELAY_US / 1e3, abs=6)
    # Each of the chain is on a host of its own: two round trips, and the delay.
    step = 2 * RTT_MS + DELAY_US / 1e3
    assert rest == pytest.approx([first + step, first + 2 * step], abs=6)
    _, first, *rest = wanted_ms[NESTED, "first-byte"]
    assert rest == pytest.approx([first + 2 * RTT_MS, first + 4 * RTT_MS], abs=6)


def test_without_a_place_a_child_is_wanted_at_the_last_byte(wanted_ms: Wanted) -> None:
    assert wanted_ms[PLACELESS, "recorded"] == wanted_ms[PLACELESS, "last-byte"]
    assert len(set(wanted_ms[PLACELESS, "last-byte"][1:])) == 1

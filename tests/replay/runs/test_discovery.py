"""When a replayed browser asks for what a document leads to, from one guest."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.recipes.tls_records import RECORD_BYTES, RECORD_OVERHEAD_BYTES
from replay.runs.cells import make_cells
from replay.runs.conditions import DISCOVERY
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, Rows, load_responses, make_page, plain

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
    children = [{"place": place, "browser_delay_us": DELAY_US if chain else 0} for place in places]
    hosts = [{"host": f"{number}.test"} for number in range(len(places) + 1)]
    return make_page(
        visit_id,
        DOCUMENT_BYTES,
        *children,
        origins=hosts,
        is_chain=chain,
        port=443,
        tls_flight_bytes=tls_flight_bytes,
        h2=True,
    )


@pytest.fixture(scope="module")
def loaded(lab: Lab) -> tuple[Rows, Wanted]:
    """Pages over clear text and TLS, a chain, and a page without places, with each discovery: rows of the
    loads, and times in ms at which each response was wanted, by page and discovery."""
    pages = [
        page(CLEAR, PLACES),
        page(SECURE, PLACES, tls_flight_bytes=1_000),
        page(NESTED, (1, None, None), chain=True),
        page(PLACELESS, (None,) * len(PLACES)),
    ]
    arms = [plain(discovery=name) for name in DISCOVERY]
    rows, each = load_responses(
        lab, make_cells(pages, [FAST], policies=at_once(IW), seeds=1, conditions=arms)
    )
    return rows, {
        (load[0]["visit_id"], load[0]["discovery"]): [row["wanted_ms"] for row in load] for load in each
    }


@pytest.fixture(scope="module")
def wanted_ms(loaded: tuple[Rows, Wanted]) -> Wanted:
    return loaded[1]


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
def test_first_and_last_byte_are_the_brackets(loaded: tuple[Rows, Wanted], which: int) -> None:
    rows, wanted_ms = loaded
    first, recorded, last = (wanted_ms[which, name][1:] for name in ("first-byte", "recorded", "last-byte"))
    assert len(set(first)) == len(set(last)) == 1
    assert first[0] <= min(recorded)
    assert max(recorded) <= last[0] + 1  # the requests found before take their place in the queue
    begun, ended = (
        next(row[time] for row in rows if (row["visit_id"], row["discovery"]) == (which, name))
        for name, time in (("first-byte", "first_byte_ms"), ("last-byte", "document_ms"))
    )
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

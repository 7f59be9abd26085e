"""Where in its parent each response is found, and the browser's own delay, from made-up rows."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.recipes.discovery import TOLD_APART_US, Discovery, discoveries

Row = dict[str, Any]

DOCUMENT, SIZE, HEADER = 1, 10_000, 1_000
FIRST_US, SLOW_US, QUICK_US = 100_000, 1_100_000, 110_000


def response(number: int, **other: Any) -> Row:
    standard: Row = {
        "id": number,
        "connection_id": 1,
        "initiator_id": None,
        "redirected_from_id": None,
        "resource_type": "image",
        "wire_bytes": SIZE,
        "header_bytes": HEADER,
        "request_sent_us": None,
        "first_byte_us": None,
        "last_byte_us": None,
    }
    assert other.keys() <= {*standard, "began_us", "browser_delay_first_byte_us", "mime_type"}
    return standard | other


def document(last_us: int | None) -> Row:
    first_us = None if last_us is None else FIRST_US
    return response(DOCUMENT, resource_type="document", first_byte_us=first_us, last_byte_us=last_us)


def discover_all(*responses: Row, parents: dict[int, int | None] | None = None) -> list[Discovery]:
    """The discoveries of all but the document; unless `parents` says otherwise each hangs off it."""
    hangs = parents or {row["id"]: None if row["id"] == DOCUMENT else DOCUMENT for row in responses}
    connection = {"id": 1, "opened_us": 0, "connected_us": 1}
    given_ = discoveries(responses, {1: connection}, hangs, DOCUMENT)
    return [given_[row["id"]] for row in responses if row["id"] in hangs and row["id"] != DOCUMENT]


def test_what_began_while_its_parent_arrived_has_the_place_of_that_moment() -> None:
    (half,) = discover_all(document(SLOW_US), response(2, began_us=(FIRST_US + SLOW_US) // 2))
    assert half == Discovery(place=HEADER + (SIZE - HEADER) // 2, browser_delay_us=0)


def test_what_began_after_a_slow_parent_was_found_at_its_end_and_the_rest_is_the_browsers() -> None:
    assert SLOW_US - FIRST_US > TOLD_APART_US
    (late,) = discover_all(document(SLOW_US), response(2, began_us=SLOW_US + 30_000))
    assert late == Discovery(place=None, browser_delay_us=30_000)


def test_a_parent_that_came_at_once_does_not_tell_and_its_siblings_are_spread_over_it_in_order() -> None:
    siblings = [response(number, began_us=QUICK_US + 5_000) for number in (2, 3, 4)]
    quarters = [HEADER + (SIZE - HEADER) * share // 4 for share in (1, 2, 3)]
    assert [discovery.place for discovery in discover_all(document(QUICK_US), *siblings)] == quarters
    assert [discovery.place for discovery in discover_all(document(None), *siblings)] == quarters


@pytest.mark.parametrize(("kind", "place"), [("script", None), ("style", None), ("iframe", 5_500)])
def test_only_of_html_a_part_is_of_use(kind: str, place: int | None) -> None:
    parent = response(2, resource_type=kind, first_byte_us=FIRST_US, last_byte_us=QUICK_US)
    child = response(3, began_us=QUICK_US)
    _, last = discover_all(document(None), parent, child, parents={1: None, 2: 1, 3: 2})
    assert last.place == place


def test_a_redirect_is_followed_when_its_header_is_there() -> None:
    redirect = response(2, resource_type="script", first_byte_us=FIRST_US, last_byte_us=QUICK_US)
    target = response(3, redirected_from_id=2, began_us=QUICK_US)
    _, last = discover_all(document(None), redirect, target, parents={1: None, 2: 1, 3: 2})
    assert last.place == HEADER


def test_what_the_browser_may_have_waited_for_comes_before_its_own_delay() -> None:
    began_us = QUICK_US + 500_000
    script = response(2, resource_type="script", began_us=QUICK_US, last_byte_us=began_us - 40_000)
    image = response(3, began_us=QUICK_US, last_byte_us=began_us - 10_000)
    *_, last = discover_all(document(QUICK_US), script, image, response(4, began_us=began_us))
    assert (last.waits_for, last.browser_delay_us) == (2, 40_000)


def test_nothing_is_waited_for_that_came_before_the_place_in_the_parent() -> None:
    script = response(2, resource_type="script", began_us=FIRST_US, last_byte_us=FIRST_US + 10_000)
    *_, last = discover_all(document(SLOW_US), script, response(3, began_us=SLOW_US + 5_000))
    assert (last.waits_for, last.browser_delay_us) == (None, 5_000)


def test_a_response_does_not_wait_for_what_it_leads_to() -> None:
    parent = response(
        2, resource_type="script", first_byte_us=FIRST_US, last_byte_us=QUICK_US, began_us=QUICK_US + 90
    )
    child = response(3, resource_type="script", began_us=QUICK_US + 10, last_byte_us=QUICK_US + 50)
    first, _ = discover_all(document(FIRST_US), parent, child, parents={1: None, 2: 1, 3: 2})
    assert first.waits_for is None


def test_a_response_does_not_wait_for_one_that_is_not_replayed() -> None:
    lost = response(2, resource_type="script", began_us=QUICK_US, last_byte_us=QUICK_US + 50)
    *_, last = discover_all(
        document(QUICK_US), lost, response(3, began_us=QUICK_US + 60), parents={1: None, 3: 1}
    )
    assert last.waits_for is None


def test_what_came_before_its_parent_is_asked_for_at_the_parents_first_byte() -> None:
    (early,) = discover_all(document(SLOW_US), response(2, began_us=FIRST_US - 1))
    assert early == Discovery(place=1, browser_delay_us=0)


def test_a_crawl_tells_when_the_browser_began_and_else_the_time_of_opening_or_sending() -> None:
    timed = response(2, initiator_id=DOCUMENT, browser_delay_first_byte_us=17_000, request_sent_us=900_000)
    sent = response(3, initiator_id=DOCUMENT, request_sent_us=QUICK_US + 20_000)
    first, second = discover_all(document(QUICK_US), timed, sent)
    assert (first.browser_delay_us, second.browser_delay_us) == (FIRST_US + 17_000 - QUICK_US, 20_000)


@given(
    first_us=st.integers(0, 10**6),
    arriving_us=st.integers(0, 10**7),
    began_us=st.none() | st.integers(0, 10**7),
    siblings=st.integers(1, 50),
)
def test_every_place_is_within_the_parent_and_no_delay_is_negative(
    first_us: int, arriving_us: int, began_us: int | None, siblings: int
) -> None:
    parent = document(0) | {"first_byte_us": first_us, "last_byte_us": first_us + arriving_us}
    children = [response(2 + number, began_us=began_us) for number in range(siblings)]
    for discovery in discover_all(parent, *children):
        assert discovery.place is None or 1 <= discovery.place <= SIZE
        assert discovery.browser_delay_us >= 0

"""Second visits: when a replayed browser asks for what hangs off responses that it has in its cache,
from one guest."""

import pytest

from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.conditions import DISCOVERY
from replay.runs.responses import response_tables
from replay.runs.run import Result, replay
from tests.factories.lab_networks import FAST, RTT_MS, plain

pytestmark = pytest.mark.lab

HOUR_S = 3_600
SCRIPT_MS, WAITER_MS, CHILD_MS = 170, 20, 40
"""The browser's delays before the cached script, what waits for it, and what it leads to."""

DOCUMENT, SCRIPT, WAITER, CHILD, DIRECT, REDUNDANT = range(1, 7)


def an_object(number: int, **others: int | bool | None) -> Object:
    """An object of one segment, on a host of its own, found in the document's first byte."""
    facts = {"parent": 0, "place": 1, "fresh_s": 0, "response_bytes": 1_000, "is_document": False}
    return Object(response_id=number, origin=number - 1, **(facts | others))  # type: ignore[arg-type]


PAGE = Recipe(
    page="a.test",
    visit_id=1,
    origins=tuple(
        Origin(host=f"{number}.test", port=80, h2=True, tls_flight_bytes=0, tls_after_bytes=0)
        for number in range(6)
    ),
    objects=(
        an_object(DOCUMENT, parent=-1, place=None, is_document=True),
        an_object(SCRIPT, fresh_s=HOUR_S, browser_delay_us=SCRIPT_MS * 1_000, response_bytes=50_000),
        an_object(WAITER, waits_for=1, browser_delay_us=WAITER_MS * 1_000),
        an_object(CHILD, parent=1, place=40_000, browser_delay_us=CHILD_MS * 1_000),
        an_object(DIRECT),
        an_object(REDUNDANT, fresh_s=HOUR_S, browser_delay_us=60_000_000),
    ),
    left_out=0,
)
"""A document that leads to a script in the cache, an image that waits for the script, what the script leads
to, an image that waits for nothing, and a cached image that the browser needs long after everything else."""


@pytest.fixture(scope="module")
def result(lab: Lab) -> Result:
    arms = [plain(warm_cache=True, discovery=name) for name in DISCOVERY]
    return replay(
        lab, plan([PAGE], [FAST], windows=(10,), seeds=1, conditions=arms), guests=1, responses=True
    )


@pytest.fixture(scope="module")
def wanted_ms(result: Result) -> dict[str, dict[int, float]]:
    """Times in ms at which each response was wanted, by discovery and response."""
    rows = [row for table in response_tables(result) for row in table.to_pylist()]
    return {
        name: {row["response_id"]: row["wanted_ms"] for row in rows if row["discovery"] == name}
        for name in DISCOVERY
    }


def test_what_waits_for_a_cached_response_waits_for_that_responses_own_moment(
    wanted_ms: dict[str, dict[int, float]],
) -> None:
    found_ms = 2 * RTT_MS  # the document's only segment
    assert wanted_ms["recorded"][DIRECT] == pytest.approx(found_ms, abs=6)
    assert wanted_ms["recorded"][WAITER] == pytest.approx(found_ms + SCRIPT_MS + WAITER_MS, abs=6)


def test_what_a_cached_response_leads_to_is_wanted_after_it_wherever_it_stands_in_it(
    wanted_ms: dict[str, dict[int, float]],
) -> None:
    found_ms = 2 * RTT_MS + SCRIPT_MS
    assert wanted_ms["recorded"][CHILD] == pytest.approx(found_ms + CHILD_MS, abs=6)


def test_without_delays_nothing_waits_for_the_cache(wanted_ms: dict[str, dict[int, float]]) -> None:
    for bracket in ("first-byte", "last-byte"):
        assert {wanted_ms[bracket][which] for which in (WAITER, CHILD, DIRECT)} == {
            wanted_ms[bracket][DIRECT]
        }


def test_cached_responses_are_none_of_the_loads(
    result: Result, wanted_ms: dict[str, dict[int, float]]
) -> None:
    assert list(wanted_ms["recorded"]) == [DOCUMENT, WAITER, CHILD, DIRECT]
    assert {row["responses"] for row in result.rows} == {4}
    (row,) = (row for row in result.rows if row["discovery"] == "recorded")
    # The child is the last to come, two round trips after it was wanted;
    # the redundant image comes a minute later.
    assert row["page_ms"] == pytest.approx(wanted_ms["recorded"][CHILD] + 2 * RTT_MS, abs=6)

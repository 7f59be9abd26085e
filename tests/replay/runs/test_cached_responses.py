"""Second visits: when a replayed browser asks for what hangs off responses that it has in its cache,
from one guest."""

import pytest

from replay.lab.guest_process import Lab
from replay.runs.cells import make_cells
from replay.runs.conditions import DISCOVERY
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, Rows, load_responses, make_page, plain

pytestmark = pytest.mark.lab

FOUND = {"place": 1, "fresh_s": 0}
"""An object that is found in the document's first byte."""
IN_CACHE = {"place": 1, "fresh_s": 3_600}
SCRIPT_MS, WAITER_MS, CHILD_MS = 170, 20, 40
"""The browser's delays before the cached script, what waits for it, and what it leads to."""

DOCUMENT, SCRIPT, WAITER, CHILD, DIRECT, REDUNDANT = range(1, 7)


PAGE = make_page(
    1,
    {},
    {**IN_CACHE, "browser_delay_us": SCRIPT_MS * 1_000, "response_bytes": 50_000},
    {**FOUND, "waits_for": 1, "browser_delay_us": WAITER_MS * 1_000},
    {**FOUND, "parent": 1, "place": 40_000, "browser_delay_us": CHILD_MS * 1_000},
    FOUND,
    {**IN_CACHE, "browser_delay_us": 60_000_000},
    page="a.test",
    origins=[{"host": f"{number}.test"} for number in range(6)],
    h2=True,
)
"""A document that leads to a script in the cache, an image that waits for the script, what the script leads
to, an image that waits for nothing, and a cached image that the browser needs long after everything else."""


Loaded = tuple[Rows, dict[str, dict[int, float]]]


@pytest.fixture(scope="module")
def loaded(lab: Lab) -> Loaded:
    """Rows of the loads, and times in ms at which each response was wanted, by discovery and response."""
    arms = [plain(warm_cache=True, discovery=name) for name in DISCOVERY]
    rows, each = load_responses(
        lab, make_cells([PAGE], [FAST], policies=at_once(10), seeds=1, conditions=arms)
    )
    return rows, {
        load[0]["discovery"]: {row["response_id"]: row["wanted_ms"] for row in load} for load in each
    }


@pytest.fixture(scope="module")
def wanted_ms(loaded: Loaded) -> dict[str, dict[int, float]]:
    return loaded[1]


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


def test_cached_responses_are_none_of_the_loads(loaded: Loaded) -> None:
    rows, wanted_ms = loaded
    assert list(wanted_ms["recorded"]) == [DOCUMENT, WAITER, CHILD, DIRECT]
    assert {row["responses"] for row in rows} == {4}
    (row,) = (row for row in rows if row["discovery"] == "recorded")
    # The child is the last to come, two round trips after it was wanted;
    # the redundant image comes a minute later.
    assert row["page_ms"] == pytest.approx(wanted_ms["recorded"][CHILD] + 2 * RTT_MS, abs=6)

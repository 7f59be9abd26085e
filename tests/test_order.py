"""Files run in an order in which mistakes show early and slow ones overlap with others."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import COSTLY, in_order

SLOW = len(COSTLY)


@given(st.dictionaries(st.integers(), st.integers(0, SLOW)))
def test_every_file_runs_once_and_the_fast_before_all_others(cost: dict[int, int]) -> None:
    found = in_order(cost)
    assert sorted(found) == sorted(cost)
    costly = [bool(cost[file]) for file in found]
    assert costly == sorted(costly)
    others = [cost[file] for file in found if cost[file] < SLOW]
    fast = costly.count(False)
    assert others[fast:] == sorted(others[fast:], reverse=True)


def test_slow_files_are_spread_over_the_others_and_none_is_last() -> None:
    cost = {f"slow {number}": SLOW for number in range(5)} | {f"lab {number}": 4 for number in range(50)}
    found = in_order(cost)
    places = [place for place, file in enumerate(found) if cost[file] == SLOW]
    assert all(6 <= later - before <= 9 for before, later in itertools.pairwise(places))
    assert places[0] == 0
    assert places[-1] < len(found) * 0.7

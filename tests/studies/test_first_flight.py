"""The estimate of initial windows, held against a real TCP stack whose window is known.

It boots the guest's kernel.
"""

from collections import Counter

import pytest

from firstflight.settings import from_environment
from replay.lab import kernel, player
from replay.lab.guest_process import Lab
from studies.first_flight.__main__ import HEAD, rows, verdict
from studies.first_flight.grid import EXCHANGES, NETWORKS, measure, work

pytestmark = pytest.mark.lab

WALL_S = 60


def test_the_estimate_is_exact_where_it_says_so_and_never_above_the_truth() -> None:
    cache = from_environment().cache_dir
    lab = Lab(kernel=kernel.locate(cache), player=player.build_player(cache, lambda _line: None))
    found = measure(lab, work(NETWORKS[:2], EXCHANGES, ("cubic", "bbr"), (2, 10, 32)), silence_s=WALL_S)
    verdicts = Counter(verdict(one) for one in found)
    assert set(verdicts) <= {"exact", "equal", "below"}
    clear = [verdict(one) for one in found if one.exchange == "cleartext" and one.is_longer]
    assert Counter(clear) == {"exact": len(clear)}
    assert len(clear) > 40
    assert all(len(cells) == len(HEAD) for cells in rows(found))

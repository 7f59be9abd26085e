"""The small reproductions, for real: these boot the guest's kernel."""

from __future__ import annotations

import pytest

from firstflight.settings import from_environment
from reports.replay.lab import kernel, player
from reports.replay.lab.machine import Lab
from reports.replay.reproduce import cs244, dukkipati, rfc6928
from reports.replay.reproduce.verdict import errors
from reports.replay.transfers import transfer

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab() -> Lab:
    cache = from_environment().cache_dir
    return Lab(kernel=kernel.locate(cache), player=player.build_player(cache, print))


def test_the_kernel_takes_the_rounds_that_its_arithmetic_has(lab: Lab) -> None:
    found = rfc6928.run(lab)
    assert found.reproduced, [row for row in found.rows if row.ours != row.published]


def test_the_published_cells_of_the_rerun_come_out_within_its_bounds(lab: Lab) -> None:
    cells = [cell for cell in cs244.published_cells() if cell[1].startswith("segments")]
    times = transfer(lab, [one for one, _, _ in cells], shaper="netem", congestion_control="cubic")
    off = sorted(abs(time.seconds / seconds - 1) for (_, _, seconds), time in zip(cells, times, strict=True))
    assert off[len(off) // 2] <= cs244.MEDIAN
    assert off[-1] <= cs244.P90


def test_a_burst_of_fifteen_kilobytes_makes_short_transfers_too_fast(lab: Lab) -> None:
    asked = cs244.asked(256.0, 70.0, 10, 5_087)
    (right,) = transfer(lab, [asked], shaper="netem", congestion_control="cubic")
    (burst,) = transfer(lab, [asked], shaper="mininet", congestion_control="cubic")
    assert burst.seconds < 0.75 * right.seconds


def test_arithmetic_and_kernel_agree_on_sampled_clients(lab: Lab) -> None:
    off = errors(dukkipati.kernel_rows(lab, dukkipati.draw(12)))
    assert off[len(off) // 2] <= dukkipati.KERNEL_MEDIAN
    assert off[-1] <= dukkipati.KERNEL_P90

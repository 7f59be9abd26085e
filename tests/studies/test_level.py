"""The level of single responses is a mean of the draws' shares by weight."""

import pytest

from replay.networks.mlab.draws import draw_networks
from studies.level.__main__ import RESPONSE_BYTES, is_slow_class, level_cells, level_of


def test_the_level_is_of_slow_lines_by_weight_and_its_error_is_of_draws() -> None:
    networks = draw_networks(range(2), seed=1)
    cells = level_cells(networks, seeds=2)
    assert {cell.profile.down_bps < 6_000_000 for cell in cells} == {True}
    assert {cell.recipe.response_bytes for cell in cells} == {RESPONSE_BYTES}
    draw_of = {network.profile.id: network.draw for network in networks}
    rows = [
        {
            "profile": cell.profile.id,
            "state": "done",
            "segments_sent": 10,
            "segments_retransmitted": draw_of[cell.profile.id],
            "responses": 1,
            "responses_retransmitted": draw_of[cell.profile.id],
        }
        for cell in cells
    ]
    level = level_of(rows, networks)
    assert level.networks == sum(map(is_slow_class, networks))
    assert (level.packets_percent, level.packets_error) == pytest.approx((5, 5))
    assert (level.responses_percent, level.responses_error) == pytest.approx((50, 50))
    assert level.mean_mbps == pytest.approx(2, abs=1)

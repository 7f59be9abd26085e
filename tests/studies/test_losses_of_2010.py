"""Mixtures of lines that meet 2010's web search at three segments."""

import numpy as np
import pytest

from replay.backcast.published import BASE, EXPERIMENT, RESPONSES, RETRANSMITTED, DataCenter
from studies.losses_of_2010.__main__ import Kind, is_met, mix

CENTER: DataCenter = "AvgDC"
SEGMENTS, TOUCHED = RETRANSMITTED[CENTER, "search"][BASE], RESPONSES[CENTER, "search"][BASE]


def kind(segments: float, responses: float, *, more: float = 0.0) -> Kind:
    """Lines that send so much again, in percent, and of segments more at ten."""
    return Kind(
        {
            window: np.array([segments + extra, 100.0, responses, 100.0])
            for window, extra in ((BASE, 0.0), (EXPERIMENT, more))
        }
    )


def test_a_mixture_meets_both_quantities_at_three_and_scales_what_each_kind_adds_at_ten() -> None:
    half = kind(2 * SEGMENTS, TOUCHED, more=4.0), kind(0.5 * SEGMENTS, TOUCHED, more=1.0)
    mixture = mix(*half, CENTER)
    assert mixture.is_exact
    assert (mixture.shallow, mixture.random) == pytest.approx((1 / 3, 2 / 3))
    assert mixture.at[BASE] == pytest.approx((SEGMENTS, TOUCHED))
    assert mixture.at[EXPERIMENT][0] - mixture.at[BASE][0] == pytest.approx(4 / 3 + 2 / 3)


@pytest.mark.parametrize("shallow", [kind(0.0, 0.0), kind(SEGMENTS / 10, TOUCHED / 12), kind(3.0, 3.0)])
def test_where_no_shares_meet_both_the_nearer_kind_stands_alone(shallow: Kind) -> None:
    mixture = mix(shallow, kind(SEGMENTS, 0.9 * TOUCHED), CENTER)
    assert not mixture.is_exact
    assert (mixture.shallow, mixture.random > 1) == (0.0, True)


def test_a_rise_is_met_within_a_factor_of_two_either_way() -> None:
    assert [is_met(ours, 0.18) for ours in (0.08, 0.1, 0.35, 0.4, -0.1)] == [False, True, True, False, False]

"""A network that the lab cannot be is refused where it is described."""

import dataclasses
from typing import Any

import pytest

from replay.networks.profiles import symmetric
from replay.runs.conditions import Loss

GOOD = symmetric("good", bps=1_000_000, rtt_us=50_000, source="tests")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"id": "two words"}, "not 'two words'"),
        ({"id": ""}, "not ''"),
        ({"id": "n" * 65}, "up to 64"),
        ({"down_bps": 0}, "good: rates and queue must be above 0"),
        ({"up_bps": -1}, "good: rates and queue must be above 0"),
        ({"queue_bytes": 0}, "good: rates and queue must be above 0"),
        ({"rtt_us": -1}, "the round trip not below"),
        ({"loss": 1.0, "loss_burst": 3.0}, "from 0 to below 1"),
        ({"loss": 0.9, "loss_burst": 3.0}, "with runs of 3 packets at most 0.75 can be lost"),
        ({"loss_burst": 0.5}, "in runs of 1 packet or more"),
    ],
)
def test_a_network_that_cannot_be_is_refused_in_one_line(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        dataclasses.replace(GOOD, **wrong)
    assert "\n" not in str(caught.value)


def test_a_loss_of_all_packets_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to below 1"):
        Loss(share=1.0, burst=4.0)


def test_half_of_all_packets_can_be_lost_in_runs() -> None:
    assert dataclasses.replace(GOOD, loss=0.5, loss_burst=2.0).loss == Loss(share=0.5, burst=2.0).share

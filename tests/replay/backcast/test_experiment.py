"""The experiment of the back-cast: its pages of production, and round trips beyond Linux's first timer."""

import dataclasses
from typing import Any

import pytest

from replay.backcast.experiment import COUNTED, FIRST_IDS, Experiment, production
from replay.backcast.measure import CONDITIONS
from replay.backcast.networks import LONGEST_RTT_MS, SHALLOW_QUEUE_BYTES, networks, strata
from replay.backcast.published import BASE, DATA_CENTERS, EXPERIMENT, SERVICES, mix
from replay.backcast.services import Shape, pages
from replay.lab.guest_process import Lab
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from replay.runs.run import replay
from tests.factories.lab_networks import FAST


def loads(service: str, *, responses: int, again: int) -> list[dict[str, Any]]:
    """One load at each window; `again` of the responses were sent again at the larger one."""
    return [
        {
            "visit_id": FIRST_IDS[service],  # type: ignore[index]
            "profile": "one",
            "iw": iw,
            "seed": 1,
            "page_ms": 100.0,
            **dict.fromkeys(COUNTED, 0),
            "segments_sent": 10 * responses,
            "responses": responses,
            "responses_own_retransmitted": again if iw == EXPERIMENT else 0,
        }
        for iw in (BASE, EXPERIMENT)
    ]


def experiment(**again: int) -> Experiment:
    sizes = {"search": 1, "maps": 100, "photos": 10}
    return {
        (center, service): loads(service, responses=sizes[service], again=again.get(service, 0))
        for center in DATA_CENTERS
        for service in SERVICES
    }


def share(rows: list[dict[str, Any]]) -> float:
    (at_ten,) = (row for row in rows[:2] if row["iw"] == EXPERIMENT)
    return float(at_ten["responses_own_retransmitted"] / at_ten["responses"])


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_its_share_of_production_however_many_responses_its_pages_have(service: str) -> None:
    whole = {"search": 1, "maps": 100, "photos": 10}[service]
    rows = production(experiment(**{service: whole}), dict.fromkeys(DATA_CENTERS, 0.0))
    assert share(rows) == pytest.approx(mix()[service])  # type: ignore[index]


def test_the_page_time_of_production_is_that_of_search_with_its_back_end() -> None:
    rows = production(experiment(), dict.fromkeys(DATA_CENTERS, 200.0))
    assert {row["page_ms"] for row in rows} == {300.0}
    assert len(rows) == 4, "a page of each data centre at each window"


def test_a_count_that_one_service_lacks_is_unknown_of_the_page() -> None:
    lacking = dict(experiment())
    lacking["AvgDC", "maps"] = [row | {"responses": None} for row in lacking["AvgDC", "maps"]]
    assert [row["responses"] is None for row in production(lacking, dict.fromkeys(DATA_CENTERS, 0.0))] == [
        True,
        True,
        False,
        False,
    ]


def test_a_share_of_the_networks_has_a_shallow_queue_at_any_rate() -> None:
    profiles = networks("AvgDC", queue_bytes=100_000, shallow_share=0.4)
    shallow = [profile.queue_bytes == SHALLOW_QUEUE_BYTES for profile in profiles]
    weights = strata("AvgDC").weights
    assert sum(weights[shallow]) == pytest.approx(0.4, abs=0.05)
    rates = sorted(
        profile.down_bps for profile, is_shallow in zip(profiles, shallow, strict=True) if is_shallow
    )
    middle = sorted(profile.down_bps for profile in profiles)[len(profiles) // 2]
    assert rates[0] < middle < rates[-1]


@pytest.mark.lab
def test_the_longest_round_trip_leaves_a_server_its_initial_window(lab: Lab) -> None:
    """Linux sends a SYN-ACK again after a second; that it need not have must not
    cost the window (RFC 6298 §5.7)."""
    far = dataclasses.replace(FAST, id="far", rtt_us=round(1000 * LONGEST_RTT_MS))
    (page,) = pages("search", Shape(1, 1), 1)
    ten = dataclasses.replace(page, objects=(dataclasses.replace(page.objects[0], response_bytes=10 * 1448),))
    (row,) = replay(
        lab, make_cells([ten], [far], policies=at_once(10), seeds=1, conditions=[CONDITIONS]), guests=1
    ).rows
    assert (row["state"], row["reason"]) == ("done", None)
    assert row["snd_cwnd_min"] == 10
    assert row["page_ms"] == pytest.approx(2 * LONGEST_RTT_MS, rel=0.02)

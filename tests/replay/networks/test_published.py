"""Published queues and distances against the tables that they are read from."""

import csv
import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from replay.networks.distances import DISTANCE, FAR, NEAR, RECORDED_DISTANCE, draw_distance_us
from replay.networks.mlab.draws import draw_networks
from replay.networks.profiles import FRAME_BYTES, symmetric
from replay.networks.queues import PERCENTS, PUBLISHED, QUEUES, read_depths
from replay.recipes.page_recipe import Origin
from replay.runs.origins import ONE_SENDER, SENDERS, OriginSetting, origin_commands, origin_settings

MBPS = (0.3, 3, 12, 100)


def test_low_queues_are_nowhere_deeper_than_the_default_and_high_ones_nowhere_shallower() -> None:
    with (PUBLISHED / "queues_ms.csv").open(encoding="utf-8") as file:
        rows = {(row.pop("variant"), row.pop("rate_mbps")): row for row in csv.DictReader(file)}
    for variant, rate in rows:
        for name, value in rows[variant, rate].items():
            default = float(rows["default", rate][name])
            assert float(value) <= default or variant == "high", (variant, rate, name)
            assert float(value) >= default or variant != "high", (variant, rate, name)


def test_every_depth_of_a_class_has_a_fifth_of_its_lines() -> None:
    sizes = Counter(QUEUES["at-least-2"].bytes(12_000_000, place / 1000) for place in range(1000))
    assert sorted(sizes) == [round(1500 * ms) for ms in read_depths()["default", "6-25"]]
    assert set(sizes.values()) == {1000 // len(PERCENTS)}


@pytest.mark.parametrize("mbps", MBPS)
def test_a_queue_has_its_least_packets_and_at_most_the_receive_window(mbps: float) -> None:
    for queues in QUEUES.values():
        sizes = [queues.bytes(round(1e6 * mbps), place) for place in (0.0, 0.5, 0.99)]
        assert queues.least_packets * FRAME_BYTES <= sizes[0] <= sizes[-1] <= 16_000_000


def test_a_reading_replaces_the_queue_of_a_drawn_network_alone() -> None:
    drawn = draw_networks(range(20), seed=3)
    for queues in QUEUES.values():
        profiles = [queues.over(network.profile) for network in drawn]
        share = sum(profile.discipline == "fq_codel" for profile in profiles) / len(profiles)
        assert share == pytest.approx(queues.fq_codel_share, abs=0.04)
    assert [QUEUES["default"].over(network.profile) for network in drawn] == [
        network.profile for network in drawn
    ]
    own = symmetric("own", bps=1_000_000, rtt_us=20_000, source="tests")
    assert QUEUES["high"].over(own) == own


def drawn_ms(which: str, country: str | None = None) -> list[float]:
    numbers = random.Random(1)
    return [
        draw_distance_us(
            which, country=country, kind=numbers.random(), other=numbers.random(), place=numbers.random()
        )
        / 1e3
        for _ in range(20_000)
    ]


def test_drawn_distances_have_the_published_percentiles() -> None:
    assert np.quantile(drawn_ms(NEAR), [0.5, 0.75, 0.9]) == pytest.approx([0.8, 11.8, 59.6], rel=0.1, abs=0.2)
    assert np.quantile(drawn_ms(FAR), [0.5, 0.75, 0.9]) == pytest.approx([20.7, 53.8, 231.8], rel=0.1)
    assert np.quantile(drawn_ms(NEAR, "NG"), 0.5) == pytest.approx(59.6, rel=0.1)
    assert drawn_ms(NEAR, "FJ") == drawn_ms(NEAR)


def test_with_the_line_the_default_meets_the_published_median() -> None:
    networks = draw_networks(range(100), seed=1)
    numbers = random.Random(2)
    whole, weights = [], []
    for network in networks:
        distance_us = draw_distance_us(
            RECORDED_DISTANCE,
            country=network.profile.country,
            kind=numbers.random(),
            other=numbers.random(),
            place=numbers.random(),
        )
        whole.append((network.profile.rtt_us + distance_us) / 1e3)
        weights.append(network.weight)
    order = np.argsort(whole)
    ends = np.cumsum(np.array(weights)[order]) / sum(weights)
    median = np.array(whole)[order][np.searchsorted(ends, 0.5)]
    assert median == pytest.approx(36, abs=4)  # 39 at a large edge in 2019


def origin(host: str, **more: Any) -> Origin:
    return Origin(host=host, port=443, h2=True, tls_flight_bytes=3000, tls_after_bytes=0, **more)


def settings(origins: list[Origin], **changes: str) -> list[OriginSetting]:
    values = {"senders": "published", "distance": "recorded", "http3": "stand-in"} | changes
    return origin_settings(origins, country=None, random_state=7, **values)


def test_a_recorded_distance_stays_and_all_else_is_drawn_by_host() -> None:
    origins = [origin("a", distance_us=5_000), origin("b"), origin("b", is_http3=True)]
    recorded, drawn, shared = settings(origins)
    assert recorded.distance_us == 5_000
    assert (drawn.distance_us, shared.sender) == (shared.distance_us, "3")
    assert [setting.distance_us for setting in settings(origins, distance="none")] == [0, 0, 0]
    assert settings(origins, distance="far")[0].distance_us != 5_000
    assert settings(origins, http3="tcp")[1] == settings(origins, http3="tcp")[2]


def test_senders_have_their_published_shares() -> None:
    origins = [origin(str(number)) for number in range(20_000)]
    shares = {
        "published": (0.63, 0.055, 0.315),
        "unknown-cubic": (0.73, 0.04, 0.23),
        "unknown-bbr": (0.46, 0.04, 0.5),
        ONE_SENDER: (1, 0, 0),
    }
    assert set(shares) == set(SENDERS)
    for name, expected in shares.items():
        counts = Counter(setting.sender for setting in settings(origins, senders=name))
        assert [counts[letter] / len(origins) for letter in "cpb"] == pytest.approx(expected, abs=0.01)


def test_commands_are_short_lines_and_plain_where_nothing_differs() -> None:
    origins = [origin(str(number), distance_us=499_999) for number in range(450)]
    lines = list(origin_commands(settings(origins)))
    assert [line.split()[1] for line in lines] == ["0", "200", "400"]
    assert max(map(len, lines)) < 4_000
    plain = settings(origins, senders=ONE_SENDER, distance="none")
    assert list(origin_commands(plain)) == ["origins plain"]
    assert len(set(itertools.chain(DISTANCE, SENDERS))) == len(DISTANCE) + len(SENDERS)

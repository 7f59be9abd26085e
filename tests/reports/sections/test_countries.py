"""The section by country: a country's gain is that of the networks on which its tests lie."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from replay.networks.mlab.by_country import shares_by_country
from replay.networks.representatives import representatives
from replay.networks.stored_populations import BUNDLED, find_population
from reports.decision.draws import Draws, Frame
from reports.recommendation.rule import RULE
from reports.sections.evidence import Evidence
from reports.sections.networks.countries import countries_section
from reports.statistics.paired_loads import NUMERIC_COLUMNS

WORLD = "mlab-2025-10"
PAGES = 40
RULED = dataclasses.replace(RULE, minimum_pages=20)

SAVED = {True: 0.2, False: 0.01}
"""Share of page time that IW 16 saves, on slow and on other networks."""

SENT_AGAIN = {True: 0.05, False: 0.0}
"""Share of the payload that IW 16 sends again and IW 10 does not."""


def evidence(networks: int = 64) -> Evidence:
    """Three loads of each page over each network, of which IW 16 changes each by SAVED and SENT_AGAIN."""
    whole = representatives(find_population(BUNDLED, WORLD), networks)
    average, slow = (dict(one.weights) for one in whole.populations)
    chance = np.random.default_rng(1)
    places = [(page, at) for page in range(PAGES) for at in range(len(whole.profiles)) for _ in range(3)]
    is_slow = np.array([whole.profiles[at].id in slow for _, at in places])
    base = chance.lognormal(7, 0.5, len(places))
    values = {name: np.full((len(places), 2), np.nan) for name in NUMERIC_COLUMNS}
    values["page_ms"] = np.stack([base, base * (1 - np.where(is_slow, SAVED[True], SAVED[False]))], axis=1)
    values["payload_bytes"] = np.full((len(places), 2), 1e6)
    values["bytes_retransmitted"] = np.stack(
        [np.full(len(places), 1e3), 1e3 + 1e6 * np.where(is_slow, SENT_AGAIN[True], 0)], axis=1
    )
    frame = Frame(
        pages=tuple(range(PAGES)),
        networks=tuple(one.id for one in whole.profiles),
        down_bps=np.array([float(one.down_bps) for one in whole.profiles]),
    )
    draws = Draws(
        frame=frame,
        pages=np.array([page for page, _ in places]),
        networks=np.array([at for _, at in places]),
        windows=(10, 16),
        values=values,
        again={},
    )
    return Evidence(
        draws={"ordinary": draws},
        visits=frame.pages,
        networks=tuple(dataclasses.asdict(one) for one in whole.profiles),
        weights={
            "average": np.array([average[name] for name in frame.networks]),
            "slow": np.array([slow.get(name, 0.0) for name in frame.networks]),
        },
        rule=RULED,
        incumbent=10,
        windows=(16,),
        source="tests",
        query="none",
    )


def rows(networks: int) -> dict[str, Any]:
    section = countries_section(evidence(networks), {"id": WORLD, "is_stored": True}, window=16)
    return {row["country"]: row for row in section.tables[0].rows}


@pytest.mark.parametrize("networks", [64, 8])
def test_a_countrys_gain_and_cost_are_those_of_the_networks_that_its_tests_lie_on(networks: int) -> None:
    found = rows(networks)
    for one in shares_by_country(WORLD)[:30]:
        assert one.shares is not None
        slow = float(one.shares[:16].sum())
        ratio = slow * math.log1p(-SAVED[True]) + (1 - slow) * math.log1p(-SAVED[False])
        row = found[one.name]
        assert row["slow"] == pytest.approx(100 * slow, abs=1e-4)
        assert row["saved"]["estimate"] == pytest.approx(-100 * math.expm1(ratio), abs=1e-6)
        assert row["sent_again"]["estimate"] == pytest.approx(100 * slow * SENT_AGAIN[True], abs=1e-6)
    assert found["the world"]["slow"] == pytest.approx(10)
    assert found["Yemen"]["saved"]["estimate"] > 3 * found["Germany"]["saved"]["estimate"]


def test_pages_show_the_largest_and_the_slowest_countries_and_the_data_have_all() -> None:
    section = countries_section(evidence(), {"id": WORLD, "is_stored": True}, window=16)
    every, slowest = section.tables
    assert (len(every.rows), every.shown) == (1 + 238, 1 + 20)
    assert (len(slowest.rows), slowest.shown) == (20, None)
    assert [len(one.rows) for one in section.figures] == [21, 21]
    few = [row for row in every.rows if row["tests"] < 1_000]
    assert few
    assert all(row["saved"] is row["sent_again"] is None for row in few)


@pytest.mark.parametrize(
    ("population", "why"),
    [
        ({"id": WORLD, "is_stored": False}, "is not made of M-Lab's countries"),
        ({"id": "mlab-2025-10-users", "is_stored": True}, "is not made of M-Lab's countries"),
        ({"id": "mlab-2025-10-crux", "is_stored": True}, "the replay took other networks"),
    ],
)
def test_networks_that_are_not_told_apart_by_country_are_said_to_be_so(
    population: dict[str, Any], why: str
) -> None:
    section = countries_section(evidence(), population, window=16)
    assert section.missing is not None
    assert why in section.missing
    assert not section.tables

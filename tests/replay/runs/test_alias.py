"""A window by a second route, in another guest and another order. These boot the guest's kernel."""

import dataclasses
from typing import Any

import pyarrow as pa
import pytest

from replay.lab.guest_process import Lab
from replay.networks.populations import profile
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.policy import Policy, at_once
from replay.runs.run import replay
from schema.computed_tables import CELL
from tests.factories.lab_networks import make_page, plain
from verdict.effects import measure_again
from verdict.evidence import Network, evidence_of

pytestmark = pytest.mark.lab

TEN = Policy(10)

MID = profile("avgdc-2010-mid")
BURSTY = dataclasses.replace(MID, id="bursty", loss=0.01, loss_burst=4.0)
CONDITIONS = [plain(), plain(alias=True)]


def page(number: int) -> Recipe:
    """A document and a dozen objects from two origins over TLS and HTTP/2."""
    sizes = (9_000 * number + 4_000 * index for index in range(13))
    return make_page(
        number, *sizes, origins=2, port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=500
    )


@pytest.fixture(scope="module")
def rows(lab: Lab) -> list[dict[str, Any]]:
    """Loads of three pages over two networks with loss at IW 3 and 10, by their own routes and by aliases."""
    pages = [page(number) for number in (1, 2, 3)]
    result = replay(
        lab,
        make_cells(pages, [MID, BURSTY], policies=at_once(3, 10), seeds=2, conditions=CONDITIONS),
        guests=2,
    )
    assert {row["reason"] for row in result.rows} == {None}
    assert len(result.guests) >= 2
    return result.rows


def test_loads_by_the_alias_equal_those_of_the_windows_own_route(rows: list[dict[str, Any]]) -> None:
    own, alias = (
        {
            (row["visit_id"], row["profile"], row["iw"], row["seed"]): {
                name: value for name, value in row.items() if name != "route"
            }
            for row in rows
            if row["route"] == route
        }
        for route in ("own", "alias")
    )
    assert len(own) == 24
    assert alias == own
    assert {row["snd_cwnd_min"] for row in rows if row["iw"] == 10} == {10}


def test_the_comparison_finds_a_window_equal_to_itself_and_not_to_another(rows: list[dict[str, Any]]) -> None:
    networks = [Network(id=profile.id) for profile in (MID, BURSTY)]

    def again(loads: list[dict[str, Any]]) -> float:
        evidence = evidence_of(pa.Table.from_pylist(loads, schema=CELL), networks, incumbent=TEN)
        return measure_again(evidence, incumbent=TEN).of("page", TEN).value

    own = [row for row in rows if row["route"] == "own"]
    assert again(rows) == 0
    others = [row | {"iw": 10, "policy": "10"} for row in rows if row["route"] == "alias" and row["iw"] == 3]
    assert abs(again([*own, *others])) > 0.001

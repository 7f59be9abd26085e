"""Evidence from loads: pairing, unknown values, the incumbent against itself."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from replay.networks.profiles import Population
from replay.runs.conditions import Conditions
from replay.runs.policy import PACED, Policy
from schema.computed_tables import CELL
from verdict.evidence import EvidenceError, Network, read_evidence, weighted_networks

TEN, SIXTEEN = Policy(10), Policy(16)


def load(policy: Policy = TEN, *, arm: Conditions | None = None, **values: object) -> dict[str, object]:
    row = dict.fromkeys(CELL.names) | {"page": "p.test", "visit_id": 1, "profile": "a", "seed": 1}
    row |= {"iw": policy.window, "policy": str(policy)}
    return row | (arm or Conditions()).columns() | {"state": "done", "page_ms": 100.0} | values


def table(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=CELL)


def test_a_draw_has_its_loads_at_every_window() -> None:
    evidence = read_evidence(
        table(load(), load(SIXTEEN, page_ms=90.0), load(Policy(16, PACED), page_ms=80.0)),
        [Network(id="a")],
        incumbent=TEN,
    )
    assert evidence.windows == (TEN, Policy(16, PACED), SIXTEEN)
    assert [evidence.at(window)["page_ms"].tolist() for window in evidence.windows] == [
        [100.0],
        [80.0],
        [90.0],
    ]
    assert evidence.states == {"done": 3}


def test_a_failed_load_is_unknown_and_counted() -> None:
    evidence = read_evidence(
        table(load(), load(SIXTEEN, state="failed", page_ms=None)), [Network(id="a")], incumbent=TEN
    )
    assert np.isnan(evidence.at(SIXTEEN)["page_ms"]).all()
    assert evidence.states == {"done": 1, "failed": 1}


def test_an_alias_is_the_incumbent_again_and_no_window() -> None:
    alias = dataclasses.replace(Conditions(), alias=True)
    evidence = read_evidence(table(load(), load(arm=alias, page_ms=101.0)), [Network(id="a")], incumbent=TEN)
    assert evidence.windows == (TEN,)
    assert evidence.again["page_ms"].tolist() == [101.0]


def test_loads_of_other_arms_and_networks_are_left_out() -> None:
    warm = dataclasses.replace(Conditions(), warm_cache=True)
    evidence = read_evidence(
        table(load(), load(arm=warm), load(profile="b")), [Network(id="a")], incumbent=TEN
    )
    assert len(evidence) == 1


def test_a_draw_is_touched_where_a_connection_of_the_incumbents_load_is_beyond_the_threshold() -> None:
    handshakes_ms = (20.0, 100.0, 100.001, 250.0, None)
    rows = [load(handshake_max_ms=ms, seed=seed) for seed, ms in enumerate(handshakes_ms)]
    evidence = read_evidence(
        table(*rows, load(SIXTEEN, handshake_max_ms=900.0)), [Network(id="a")], incumbent=TEN
    )
    far, everywhere = (
        evidence.touched(policy, incumbent=TEN) for policy in (Policy(16, PACED, 100), SIXTEEN)
    )
    assert far.tolist() == [False, False, True, True, False]
    assert everywhere.tolist() == [True, True, True, True, False]


def test_a_load_that_occurs_twice_is_an_error() -> None:
    with pytest.raises(EvidenceError, match="visit 1 over a with seed 1 occurs twice"):
        read_evidence(table(load(), load()), [Network(id="a")], incumbent=TEN)


def test_without_loads_there_is_no_draw() -> None:
    assert len(read_evidence(table(), [Network(id="a")], incumbent=TEN)) == 0


def test_the_networks_of_a_population_keep_its_weights() -> None:
    average, slow = (
        Population(
            id=name, version=1, weights=weights, slow=name == "slow", measured="2025", source="made up"
        )
        for name, weights in (("all", (("a", 0.9), ("b", 0.1))), ("slow", (("b", 1.0),)))
    )
    assert [
        (weighted_network.id, weighted_network.weight, weighted_network.slow_share)
        for weighted_network in weighted_networks([average, slow])
    ] == [("a", 0.9, 0.0), ("b", 0.1, 1.0)]

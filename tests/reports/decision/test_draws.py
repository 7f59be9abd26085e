"""Draws are gathered from the rows of loads: each value at its page, network, seed and window."""

import dataclasses
import math
from typing import Any

import numpy as np

from replay.runs.initial_window import Paced
from reports.decision.draws import Draws, Frame, gather, loads_of
from reports.decision.stage import Stage, draws_after_each, draws_of
from reports.decision.until_decided import Budget, until_decided
from reports.statistics.paired_loads import NUMERIC_COLUMNS
from tests.reports.decision.worlds import World, problem

FRAME = Frame(pages=(7, 5), networks=("slow", "fast"), down_bps=np.array([1e6, 1e7]))


def load(visit: int, network: str, iw: int, seed: int, page_ms: float | None, **other: Any) -> dict[str, Any]:
    row = {
        "visit_id": visit,
        "profile": network,
        "iw": int(iw),
        "pacing": isinstance(iw, Paced),
        "seed": seed,
    }
    return row | {"state": "done"} | dict.fromkeys(NUMERIC_COLUMNS, 1) | {"page_ms": page_ms} | other


def times(draws: Draws) -> dict[tuple[int, str, int], float]:
    """Page time by page, network and window, where it is known."""
    found: dict[tuple[int, str, int], float] = {}
    for window in draws.windows:
        places = zip(draws.pages, draws.networks, draws.at("page_ms", window), strict=True)
        found |= {(FRAME.pages[page], FRAME.networks[net], window): value for page, net, value in places}
    return {key: value for key, value in found.items() if not math.isnan(value)}


def test_each_load_stands_at_its_page_network_and_window_and_a_paced_one_apart_from_the_burst() -> None:
    rows = [
        load(5, "fast", 16, 1, 30.0),
        load(5, "fast", Paced(16), 1, 31.0),
        load(7, "fast", 16, 1, 20.0),
        load(5, "slow", 10, 3, 10.0),
        load(99, "fast", 16, 1, 1.0),
        load(5, "other", 16, 1, 1.0),
    ]
    draws = gather([loads_of(rows, FRAME)], FRAME, incumbent=10)
    assert draws.windows == (10, Paced(16), 16)
    assert list(zip(draws.pages, draws.networks, strict=True)) == [(0, 1), (1, 0), (1, 1)]
    assert times(draws) == {
        (7, "fast", 16): 20.0,
        (5, "fast", 16): 30.0,
        (5, "fast", Paced(16)): 31.0,
        (5, "slow", 10): 10.0,
    }


def test_what_was_not_done_or_is_unknown_is_no_number() -> None:
    rows = [load(5, "fast", 10, 1, 9.0, state="failed"), load(7, "fast", 10, 1, None)]
    draws = gather([loads_of(rows, FRAME)], FRAME, incumbent=10)
    assert len(draws) == 2
    assert times(draws) == {}
    assert draws.values["payload_bytes"][:, 0].tolist()[0] == 1
    assert math.isnan(draws.values["payload_bytes"][1, 0])


def test_an_even_seed_is_the_incumbent_again_in_the_draw_before_it() -> None:
    parts = [
        loads_of([load(5, "fast", 10, 3, 9.0)], FRAME),
        loads_of([load(5, "fast", 10, 4, 9.5), load(5, "fast", 10, 6, 8.0)], FRAME),
    ]
    draws = gather(parts, FRAME, incumbent=10)
    np.testing.assert_array_equal(draws.at("page_ms", 10), [9.0, np.nan])
    np.testing.assert_array_equal(draws.again["page_ms"], [9.5, 8.0])


def test_without_loads_there_is_no_draw() -> None:
    draws = gather([loads_of([], FRAME)], FRAME, incumbent=10)
    assert len(draws) == 0
    assert draws.at("page_ms", 10).shape == (0,)


def test_the_draws_after_a_stage_are_those_of_all_loads_so_far_at_once() -> None:
    kept: list[Stage] = []
    until_decided(
        problem(),
        [],
        budget=Budget(amount=8.0),
        guests=1,
        load=World(saves={16: -0.06, 30: -0.061}, sends_again={16: 0.0, 30: 3.0}).load,
        keep=lambda _number, stage: kept.append(stage),
    )
    assert len(kept) > 1
    for number, after in enumerate(draws_after_each(problem(), kept), start=1):
        rows = [row for stage in kept[:number] for row in stage.rows]
        at_once = draws_of(problem(), [dataclasses.replace(kept[0], rows=rows)])
        assert after.keys() == at_once.keys()
        for name, draws in at_once.items():
            assert after[name].windows == draws.windows
            for column in NUMERIC_COLUMNS:
                np.testing.assert_array_equal(after[name].values[column], draws.values[column])
                np.testing.assert_array_equal(after[name].again[column], draws.again[column])

"""Answers and rows of many cells, and the memory that they take."""

import gc
import tracemalloc
from dataclasses import replace
from typing import Any

from replay.networks.populations import profile
from replay.runs.cells import Cell, plan
from replay.runs.guests import Answers, Guest, NetworkJob
from replay.runs.run import Result, result_of
from tests.factories.lab_networks import single_response

MEASURED = {f"value_{number}_ns": 10**9 + number for number in range(12)} | {
    "page_ns": 5_628_352_599,
    "responses": 24,
    "segments_sent": 544,
    "segments_retransmitted": 39,
    "bytes_retransmitted": 55_484,
}


def test_answers_come_back_as_they_were_given() -> None:
    answers = Answers()
    expected: dict[str, dict[str, Any]] = {
        "a": {"page_ns": 2**62, "responses": 3},
        "b": {"failed": "connection reset"},
        "c": {},
    }
    expected["d"] = {"page_ns": 7, "responses": 1, "each": [[0, 1, 2, 3, 10, 0]]}
    answers.update(expected)
    assert dict(answers) == expected
    del answers["b"]
    assert ("b" in answers, answers.get("b"), len(answers)) == (False, None, 3)


def test_a_cell_takes_less_than_a_kilobyte_of_the_driver() -> None:
    page = single_response(5_000)
    where = profile("wpt-cable")
    cells = plan([page, replace(page, visit_id=2)], [where], windows=(3, 10, 16, 30), seeds=500)

    def replayed(share: list[Cell]) -> tuple[Guest, Result]:
        job = NetworkJob(profile=where, flights=[], cells=share)
        for cell in share:
            job.answers[cell.id] = {name: value + cell.seed for name, value in MEASURED.items()}
        guest = Guest(jobs=[job], recipes=[], origins=1, offloads_on=0)
        return guest, result_of([guest], wall_s=1.0, programs={})

    replayed(cells[:1])  # what is imported and kept once is no cell's
    tracemalloc.start()
    try:
        guest, result = replayed(cells)
        gc.collect()  # and empty the lists of freed tuples
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.table.num_rows == len(guest.jobs[0].answers) == 4_000
    assert (kept + result.table.nbytes) / len(cells) < 1_000

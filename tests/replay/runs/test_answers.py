"""Answers and rows of many cells, and the memory that they take."""

import gc
import tracemalloc
from dataclasses import replace
from typing import Any

from replay.networks.populations import profile
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell, plan
from replay.runs.guests import Answers, Guest, NetworkJob
from replay.runs.run import Result, result_of

MEASURED = {f"value_{number}_ns": 10**9 + number for number in range(12)} | {
    "page_ns": 5_628_352_599,
    "responses": 24,
    "segments_sent": 544,
    "segments_retransmitted": 39,
    "bytes_retransmitted": 55_484,
}


def test_answers_come_back_as_they_were_given() -> None:
    answers = Answers()
    given: dict[str, dict[str, Any]] = {
        "a": {"page_ns": 2**62, "responses": 3},
        "b": {"failed": "connection reset"},
        "c": {},
    }
    given["d"] = {"page_ns": 7, "responses": 1, "each": [[0, 1, 2, 3, 10, 0]]}
    answers.update(given)
    assert dict(answers) == given
    del answers["b"]
    assert ("b" in answers, answers.get("b"), len(answers)) == (False, None, 3)


def test_a_cell_takes_less_than_a_kilobyte_of_the_driver() -> None:
    origin = Origin(host="a.test", port=80, h2=True, tls_flight_bytes=0, tls_after_bytes=0)
    one = Object(response_id=1, origin=0, parent=-1, response_bytes=5_000, is_document=True)
    page = Recipe(page="a.test", visit_id=1, origins=(origin,), objects=(one,), left_out=0)
    where = profile("wpt-cable")
    cells = plan([page, replace(page, visit_id=2)], [where], windows=(3, 10, 16, 30), seeds=500)

    def replayed(some: list[Cell]) -> tuple[Guest, Result]:
        job = NetworkJob(profile=where, flights=[], cells=some)
        for cell in some:
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

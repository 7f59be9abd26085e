"""Which loads are left to make, and what a visit says of a load."""

import dataclasses
import json
from pathlib import Path

from crawler.visit.attempt import Observation
from studies.page_loads.loading import ATTEMPTS, RealLoad, Step, fault, left, read_loads, steps, times
from studies.page_loads.networks import NETWORKS, WINDOWS

SLOW = NETWORKS[0]


def make_load(step: Step, refused: str | None = None) -> RealLoad:
    return RealLoad(**dataclasses.asdict(step), refused=refused, late_us=0, dropped=0)


def response(number: int, sent: int, first: int, last: int, **more: object) -> dict[str, object]:
    times = {"request_sent_us": sent, "first_byte_us": first, "last_byte_us": last}
    named = {"id": number, "host": "a.test", "path": f"/{number}"}
    return {**named, **times, "from_cache": False, "is_complete": True, **more}


def seen(*responses: dict[str, object]) -> Observation:
    visit = {"outcome": "ok", "stop_reason": "quiet", "main_response_id": 1}
    return Observation(
        visit=visit, connections=[{"opened_us": 9000}, {"opened_us": 5000}], responses=responses
    )


def test_windows_take_turns_and_every_page_has_a_load_before_any_has_two() -> None:
    planned = list(steps(SLOW, ["a.test", "b.test"], 2))
    assert [step.iw for step in planned[: len(WINDOWS)]] == list(WINDOWS)
    assert [step.number for step in planned] == [1] * 6 + [2] * 6


def test_a_run_goes_on_with_what_is_neither_done_nor_given_up() -> None:
    first, second, third, *_ = planned = list(steps(SLOW, ["a.test"], 2))
    kept = [make_load(first), make_load(second, "late"), *[make_load(third, "late")] * ATTEMPTS]
    assert left(iter(planned), kept) == [second, *planned[3:]]


def test_kept_loads_are_read_as_they_were_written(tmp_path: Path) -> None:
    load = dataclasses.replace(
        make_load(next(steps(SLOW, ["a.test"], 1))), responses=(("a.test/", 1.0, 2.0, 3.0),)
    )
    file = tmp_path / "loads.jsonl"
    file.write_text(json.dumps(dataclasses.asdict(load)) + "\n")
    assert read_loads(file) == [load]
    assert read_loads(tmp_path / "none.jsonl") == []


def test_times_count_from_the_first_syn_to_the_last_byte_of_any_response() -> None:
    load_times = times(seen(response(1, 6000, 8000, 20_000), response(2, 21_000, 22_000, 30_000)))
    assert (load_times["first_byte_ms"], load_times["document_ms"], load_times["page_ms"]) == (
        3.0,
        15.0,
        25.0,
    )
    assert load_times["responses"][1] == ("a.test/2", 16.0, 17.0, 25.0)


def test_a_load_with_an_incomplete_response_does_not_count() -> None:
    assert fault(seen(response(1, 0, 1, 2))) is None
    assert fault(seen(response(1, 0, 1, 2, is_complete=False))) == "a response is incomplete"

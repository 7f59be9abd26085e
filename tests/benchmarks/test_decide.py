"""The benchmark of decisions: runs that contradict each other, and its section of the document."""

from dataclasses import asdict

from benchmarks.decide import Run, find_contradictions
from benchmarks.document import decide


def run(number: int, **verdicts: str) -> Run:
    return Run(
        run=number,
        answer="IW 10 stays",
        is_settled="open" not in verdicts.values(),
        verdicts=verdicts,
        core_minutes=29.8,
        loads=35_656,
        peak_mb=512.0,
    )


def test_runs_contradict_each_other_on_a_window_that_is_worth_it_for_one_and_not_for_another() -> None:
    first, second = run(1, w16="worth it", w30="not worth it"), run(2, w16="open", w30="not worth it")
    assert find_contradictions([first, second]) == []
    assert find_contradictions([first, second, run(3, w16="not worth it", w30="open")]) == ["w16"]


def test_the_document_has_a_row_for_each_run_and_names_what_they_contradict_each_other_on() -> None:
    machine = {"cpus": 2, "cpu": "a processor", "kernel": "6", "load_before": 0.0}
    facts = {"measured_at": "2026-11-26", "commit": "c0ffee", "machine": machine, "budget_minutes": 30.0}
    verdicts = {"16 paced": "worth it", "20 paced": "not worth it"}
    first, second = run(1, **verdicts), run(2, **{"16 paced": "not worth it", "20 paced": "worth it"})
    text = decide(facts | {"runs": [asdict(first), asdict(second)]})
    assert "or 30 minutes of a core are used" in text
    assert text.count("| IW 10 stays | yes | 29.8 | 35,656 | 512 |") == 2
    assert "The runs contradict each other on IW 16 paced, IW 20 paced." in text

"""Paced windows are candidates of their own: never equal to a burst, in an order of their own,
and never lost in JSON."""

import itertools

import numpy as np
import pytest

from replay.networks.populations import PROFILES
from replay.runs.cells import plan
from replay.runs.conditions import Conditions
from replay.runs.initial_window import Paced, is_paced, window_of
from tests.factories.lab_networks import single_response

WINDOWS = [3, 10, 16, Paced(10), Paced(16), Paced(20)]


def test_a_paced_window_comes_before_the_burst_of_as_many_segments_and_after_fewer() -> None:
    ordered = [3, Paced(10), 10, Paced(16), 16, Paced(20)]
    assert all(sorted(windows) == ordered for windows in itertools.permutations(WINDOWS))
    assert [max(pair) for pair in itertools.combinations(ordered, 2)] == [
        ordered[place] for _, place in itertools.combinations(range(len(ordered)), 2)
    ]


def test_no_set_or_mapping_takes_a_burst_for_a_paced_window() -> None:
    assert len({16, Paced(16)}) == 2
    assert {16: "burst", Paced(16): "paced"}[Paced(16)] == "paced"
    assert (16, Paced(16)).index(Paced(16)) == 1
    assert {Paced(16)} - {16} == {Paced(16)}
    assert Paced(16) == Paced(16) != 16


def test_arithmetic_takes_the_segments() -> None:
    assert (np.array([10, Paced(16)], dtype=np.float64) * 1448).tolist() == [14480.0, 23168.0]
    assert not is_paced(Paced(16) + 2)


def test_words_and_sentences_are_read_back() -> None:
    for window in WINDOWS:
        for text in (repr(window), str(window)):
            assert window_of(text) == window
            assert is_paced(window_of(text)) == is_paced(window)


@pytest.mark.parametrize("word", ["", "p", "10.5", "-3", "paced", "10 p", "10p paced", "\u0661\u0660"])
def test_what_is_no_window_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="no initial window"):
        window_of(word)


def test_a_paced_window_is_loaded_paced_and_no_load_is_planned_twice() -> None:
    arms = [Conditions(), Conditions(pacing=True)]
    cells = plan(
        [single_response(10_000)], PROFILES[:1], windows=(10, Paced(10), Paced(16)), seeds=2, conditions=arms
    )
    keys = [(cell.iw, cell.conditions.pacing, cell.seed) for cell in cells]
    assert sorted(keys) == [
        (10, False, 1), (10, False, 2), (10, True, 1), (10, True, 2), (16, True, 1), (16, True, 2)
    ]  # fmt: skip
    assert len({cell.id for cell in cells}) == len(cells)

"""Answers that are possible while statements are open: exactly those that some way to end them gives."""

import functools
import itertools
import random

import pytest

from replay.runs.initial_window import Paced
from reports.decision.standing import possible_answers
from reports.recommendation.candidate_verdicts import choose

Truth = bool | None

INCUMBENT = 10
CANDIDATES = (3, Paced(16), 16, 30)
PAIRS = tuple(
    (one, other)
    for one, other in itertools.permutations((*CANDIDATES, INCUMBENT), 2)
    if one > other or other == INCUMBENT
)


def ends(truth: Truth) -> tuple[bool, ...]:
    return (True, False) if truth is None else (truth,)


def is_among(pairs: set[tuple[int, int]], one: int, other: int) -> bool:
    return (one, other) in pairs


def by_trying_all_ends(
    admissible: dict[int, Truth], is_worthwhile: dict[tuple[int, int], Truth]
) -> set[int | None]:
    found = set()
    for harmless in itertools.product(*map(ends, admissible.values())):
        for gains in itertools.product(*map(ends, is_worthwhile.values())):
            holds = {pair for pair, is_shown in zip(is_worthwhile, gains, strict=True) if is_shown}
            found.add(
                choose(
                    CANDIDATES,
                    incumbent=INCUMBENT,
                    admissible=[one for one, is_in in zip(admissible, harmless, strict=True) if is_in],
                    is_worthwhile=functools.partial(is_among, holds),
                )
            )
    return found


@pytest.mark.parametrize("seed", range(30))
def test_possible_answers_are_those_of_the_rule_over_all_ends_of_open_statements(seed: int) -> None:
    rng = random.Random(seed)
    admissible: dict[int, Truth] = {one: rng.choice((True, False, None)) for one in CANDIDATES}
    is_worthwhile: dict[tuple[int, int], Truth] = dict.fromkeys(PAIRS)
    for pair in rng.sample(PAIRS, len(PAIRS) - 6):
        is_worthwhile[pair] = rng.random() < 0.5
    assert possible_answers(
        CANDIDATES, incumbent=INCUMBENT, admissible=admissible, is_worthwhile=is_worthwhile
    ) == by_trying_all_ends(admissible, is_worthwhile)


def test_statements_that_are_all_shown_leave_the_one_answer_of_the_rule() -> None:
    assert possible_answers(
        CANDIDATES,
        incumbent=INCUMBENT,
        admissible=dict.fromkeys(CANDIDATES, True),
        is_worthwhile={pair: pair == (16, 10) for pair in PAIRS},
    ) == {16}

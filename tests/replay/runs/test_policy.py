"""Policies are told apart by window, sending and threshold, have one order, and one form as text."""

import itertools

import pytest

from replay.runs.policy import PACED, SPREAD, Policy

ORDERED = [
    Policy(3),
    Policy(10, PACED),
    Policy(10),
    Policy(16, SPREAD),
    Policy(16, PACED, 150),
    Policy(16, PACED, 100),
    Policy(16, PACED),
    Policy(16),
    Policy(20, SPREAD, 100),
]


def test_fewer_segments_come_first_then_what_sends_less_at_once_and_is_for_fewer_connections() -> None:
    assert all(sorted(mixed) == ORDERED[2:8] for mixed in itertools.permutations(ORDERED[2:8]))
    assert [max(pair) for pair in itertools.combinations(ORDERED, 2)] == [
        ORDERED[place] for _, place in itertools.combinations(range(len(ORDERED)), 2)
    ]


def test_no_two_policies_are_equal_in_a_set_or_a_mapping() -> None:
    assert len({*ORDERED}) == len(ORDERED)
    assert {Policy(16): "burst", Policy(16, PACED): "paced"}[Policy(16, PACED)] == "paced"


def test_the_text_of_a_policy_is_read_back() -> None:
    assert [Policy.parse(str(policy)) for policy in ORDERED] == ORDERED


def test_the_forms_of_version_1_0_are_read() -> None:
    assert [Policy.parse(text) for text in (16, "16", "16p", "16 paced")] == [
        Policy(16),
        Policy(16),
        Policy(16, PACED),
        Policy(16, PACED),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p",
        "10.5",
        "-3",
        "paced",
        "10 p",
        "10p paced",
        "\u0661\u0660",
        "10 beyond 100",
        "10 beyond ms",
        "10  paced",
    ],
)
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no policy such as 16"):
        Policy.parse(text)

"""The whole verdict over a list of pages and those that are to confirm it."""

import dataclasses

import numpy as np

from tests.verdict.made_up import FAR, noisy
from verdict.judgement import Look
from verdict.rule import RULE
from verdict.verdict import PageList, verdict_of

LOADS = noisy(np.random.default_rng(1), 2000, {FAR: (6.0, 0.05)})
RULE_OF_ONE = dataclasses.replace(RULE, candidates=(FAR,), shown=(), guards=())
AUGUST = PageList(looks=(Look(evidence=LOADS),), rule=RULE_OF_ONE, month="2025-08", crawl="2025-08")


def test_what_fewer_than_two_other_lists_confirm_is_recommended_with_less_confidence() -> None:
    others = [dataclasses.replace(AUGUST, crawl=month, month=month) for month in ("2023-11", "2024-11")]
    verdicts = [verdict_of(AUGUST, others[:count], ends=True) for count in (0, 1, 2)]
    assert {verdict.policy for verdict in verdicts} == {FAR}
    reasons = [[reason.sentence for reason in verdict.reasons] for verdict in verdicts]
    assert reasons[0][-1] == "No other list of pages confirms it yet."
    assert reasons[1][-1] == "One other list of pages alone confirms it yet."
    assert not any("other list" in sentence for sentence in reasons[2])


def test_a_list_whose_loads_were_stopped_confirms_nothing() -> None:
    noise = noisy(np.random.default_rng(1), 400, {FAR: (6.0, 0.05)}, noise=0.3)
    looks = [Look(evidence=noise, fraction=fraction) for fraction in (0.5, 1.0)]
    stopped, whole = (
        verdict_of(AUGUST, [dataclasses.replace(AUGUST, looks=(look,), crawl="2023-11")], ends=True).lists[0]
        for look in looks
    )
    assert stopped.broken == ("Its loads were stopped before their budget.",)
    assert (stopped.confirms, whole.broken) == ((), ())

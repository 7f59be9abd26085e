"""verdict.json: equal bytes for equal loads."""

import dataclasses
import json
from pathlib import Path

import numpy as np

from replay.runs.policy import Policy
from tests.verdict.worlds import PACED, TEN, saving
from verdict.effects import measure
from verdict.judgement import Look, judge
from verdict.ledger import make_ledger
from verdict.rule import RULE
from verdict.stored import FILE, encode_verdict, verdict_of, write_verdict

RULE_OF_ONE = dataclasses.replace(RULE, candidates=(TEN, PACED))


def make_verdict(order: np.random.Generator | None = None) -> bytes:
    evidence = saving(3, 0.1).evidence(np.random.default_rng(1), pages=100, networks=64, each=2)
    if order is not None:
        places = order.permutation(len(evidence))
        evidence = dataclasses.replace(
            evidence,
            visits=evidence.visits[places],
            places=evidence.places[places],
            values={name: array[places] for name, array in evidence.values.items()},
            again={name: array[places] for name, array in evidence.again.items()},
        )
    looks = [Look(evidence=evidence)]
    return encode_verdict(
        verdict_of(
            judge(looks, RULE_OF_ONE),
            RULE_OF_ONE,
            effects=measure(evidence, [PACED], incumbent=TEN),
            ledger=make_ledger(looks, RULE_OF_ONE),
        )
    )


def test_equal_loads_in_any_order_make_equal_bytes() -> None:
    assert make_verdict() == make_verdict() == make_verdict(np.random.default_rng(4))


def test_a_verdict_is_written_as_it_is(tmp_path: Path) -> None:
    content = json.loads(make_verdict())
    write_verdict(tmp_path, content)
    assert (tmp_path / FILE).read_bytes() == encode_verdict(content)
    assert content["candidates"][0]["beside"]["document"]["estimate"] == 0


def test_what_is_unknown_is_null() -> None:
    evidence = saving(3, 0.1).evidence(np.random.default_rng(1), pages=100, networks=64, each=2)
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, Policy(30)))
    content = verdict_of(judge([Look(evidence=evidence)], rule), rule)
    lacking = content["candidates"][-1]
    assert lacking["window"] == "30"
    assert lacking["gain_percent"] == {"estimate": None, "lower": None, "upper": 100.0}
    assert lacking["verdict"] == "open"

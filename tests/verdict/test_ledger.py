"""The ledger: other prices, other quantities, other inputs."""

import dataclasses

import numpy as np

from tests.verdict.worlds import PACED, RULE_OF_ONE, SIXTEEN, TEN, quiet, saving
from verdict.judgement import Look
from verdict.ledger import Arm, make_ledger
from verdict.rule import RULE


def test_a_price_turns_the_answer_and_says_so() -> None:
    evidence = quiet(5, 0.2).evidence(np.random.default_rng(1), pages=100, networks=256, each=2)
    rows = {entry.id: entry for entry in make_ledger([Look(evidence=evidence)], RULE_OF_ONE)}
    assert (rows["own"].kind, rows["own"].turns) == ("raise", False)
    assert (rows["price 0.027"].kind, rows["price 0.027"].turns) == ("stays", True)
    assert (rows["price 0.05"].kind, rows["price 0.05"].turns) == ("raise", False)
    assert rows["time alone"].kind == "raise"
    assert abs((rows["own"].price_pp or 0) - 0.2 / 5) < 0.02


def test_an_arm_with_other_loads_is_judged_by_the_same_rule() -> None:
    rng = np.random.default_rng(1)
    default, near = (quiet(5, resent).evidence(rng, pages=100, networks=256, each=2) for resent in (0.6, 0.1))
    arms = [Arm(id="queues high", title="deep queues", evidence=near)]
    rows = {entry.id: entry for entry in make_ledger([Look(evidence=default)], RULE_OF_ONE, arms=arms)}
    assert (rows["queues high"].kind, rows["queues high"].turns) == ("raise", True)


def test_harm_to_others_alone_asks_short_flows_and_no_payload() -> None:
    evidence = quiet(5, 3.0).evidence(np.random.default_rng(1), pages=100, networks=256, each=2)
    rng, kinds = np.random.default_rng(2), {}
    for longer in (1.0, 1.2):
        values = dict(evidence.values)
        values["short_flow_ms"] = np.column_stack(
            [np.full(len(evidence), 1.0), longer * np.exp(0.01 * rng.standard_normal(len(evidence)))]
        )
        everyone = dataclasses.replace(evidence, values=values)
        rule = dataclasses.replace(RULE_OF_ONE, guards=RULE.guards)
        kinds[longer] = {
            entry.id: entry.kind for entry in make_ledger([Look(evidence=evidence)], rule, everyone=everyone)
        }
    assert (kinds[1.0]["own"], kinds[1.0]["others alone"], kinds[1.2]["others alone"]) == (
        "stays",
        "raise",
        "stays",
    )


def test_an_input_whose_loads_leave_the_answer_open_cannot_tell_whether_it_turns() -> None:
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, SIXTEEN), guards=())
    world = dataclasses.replace(
        saving(2, 0.154),
        log_time={PACED: -0.02, SIXTEEN: -0.02},
        resent={PACED: 0.154, SIXTEEN: 0.154},
        of_pairs=0.3,
    )
    own = world.evidence(np.random.default_rng(1), pages=60, networks=64, each=1)
    paced = dataclasses.replace(
        own, windows=own.windows[:2], values={name: array[:, :2] for name, array in own.values.items()}
    )
    near = Arm(id="near", title="near", evidence=paced)
    rows = {entry.id: entry for entry in make_ledger([Look(evidence=own)], rule, arms=[near])}
    assert rows["own"].kind == rows["near"].kind == "open"
    assert rows["near"].turns is None
    decided = quiet(5, 0.1).evidence(np.random.default_rng(1), pages=100, networks=256, each=2)
    rows = {entry.id: entry for entry in make_ledger([Look(evidence=decided)], RULE_OF_ONE, arms=[near])}
    assert (rows["own"].kind, rows["near"].kind, rows["near"].turns) == ("raise", "open", None)

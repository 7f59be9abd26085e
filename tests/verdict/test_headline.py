"""The one sentence of the answer: each kind says what to do and why, from the verdict's data alone."""

import dataclasses

import numpy as np
import pytest

from replay.runs.policy import Policy
from tests.verdict.test_groups import with_lines
from tests.verdict.worlds import PACED, RULE_OF_ONE, TEN, World, quiet, saving
from verdict.headline import candidate_clause
from verdict.judgement import Look, judge
from verdict.ledger import judge_groups
from verdict.rule import RULE, Rule
from verdict.stored import VerdictFacts, verdict_of

TWENTY = Policy(20, "paced")


def verdict(
    world: World,
    rule: Rule = RULE_OF_ONE,
    *,
    networks: int = 256,
    mark: str = "",
    broken: tuple[str, ...] = (),
) -> VerdictFacts:
    evidence = world.evidence(np.random.default_rng(2), pages=100, networks=networks, each=2)
    return verdict_of(judge([Look(evidence=evidence)], rule, broken=broken), rule, mark=mark)


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        (
            quiet(5, 0.2),
            "Set the initial window to 16 segments, paced: that saves 5.0 % of page time, and sends 0.20 pp "
            "more of the payload again.",
        ),
        (quiet(0.5, 0), "IW 10 stays: no other window saves 1 % of page time."),
        (quiet(5, 0.6), "IW 10 stays: no other window saves enough for what it sends again."),
        (quiet(5, 0.077 * 5), "IW 10 stays: 16 paced costs what 2010 paid for as much."),
    ],
)
def test_a_settled_answer_says_what_to_do_and_why(world: World, sentence: str) -> None:
    assert verdict(world)["headline"].replace("\u202f", " ") == sentence


def test_a_window_that_is_not_shown_to_send_more_again_is_not_said_to() -> None:
    calm = dataclasses.replace(saving(5, 0.0), of_networks=0.002)
    said = verdict(calm)["headline"]
    assert said.endswith("of page time, and sends no more again as far as the loads tell.")


def test_an_open_answer_names_what_is_open_and_what_the_loads_do_not_tell() -> None:
    priced = verdict(saving(4, 0.3))
    assert priced["headline"] == (
        "IW 10 stays; 16 paced is open: "
        "the loads do not tell whether 16 paced saves enough for what it sends again."
    )
    assert priced["is_told"]
    few = verdict(saving(2, 0.1), networks=16)
    assert few["headline"] == "IW 10 stays; 16 paced is open: too few loads tell what larger windows save."
    assert not few["is_told"]


def test_an_open_answer_says_on_which_lines_most_of_what_is_sent_again_falls() -> None:
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, TWENTY), guards=())
    world = dataclasses.replace(
        saving(4, 0.05), log_time={PACED: -0.03, TWENTY: -0.03}, resent={PACED: 0.0, TWENTY: 0.1}
    )
    lines = world.evidence(np.random.default_rng(2), pages=100, networks=256, each=2)
    # A quarter of the lines is slow, and has nearly all of it.
    slow = tuple(
        dataclasses.replace(network, down_bps=1e6 if network.stratum % 4 == 0 else 50e6)
        for network in lines.networks
    )
    again = lines.values["bytes_retransmitted"].copy()
    again[:, 1:] += 8 * np.array([network.down_bps < 6e6 for network in slow])[lines.places][:, None]
    evidence = dataclasses.replace(
        lines, networks=slow, values={**lines.values, "bytes_retransmitted": again}
    )
    look = Look(evidence=evidence)
    judged = judge([look], rule)
    assert judged.having("open") == (PACED, TWENTY)
    told = verdict_of(judged, rule, groups=judge_groups(look, rule))["headline"]
    assert told == (
        "IW 10 stays; 16 and 20 paced are open: nearly all of what 16 paced sends again falls below 6 Mbps."
    )
    assert "falls" not in verdict_of(judged, rule)["headline"]


def test_what_is_spread_over_all_lines_is_not_said_to_fall_on_some() -> None:
    evidence = with_lines(
        saving(4, 0.3).evidence(np.random.default_rng(2), pages=100, networks=256, each=2), slow_resent_pp=0
    )
    look = Look(evidence=evidence)
    judged = judge([look], RULE_OF_ONE)
    assert judged.kind == "open"
    assert "falls" not in verdict_of(judged, RULE_OF_ONE, groups=judge_groups(look, RULE_OF_ONE))["headline"]


def test_the_answer_of_inputs_that_are_no_evidence_is_marked() -> None:
    marked = verdict(quiet(0.5, 0), mark="By the bundled pages, illustrative")["headline"]
    assert marked.startswith("By the bundled pages, illustrative: IW 10 stays: no other window")


def test_a_broken_chain_says_what_is_broken() -> None:
    broken = verdict(quiet(5, 0.1), broken=("The replay is damaged.",))
    assert broken["headline"] == "No answer: The replay is damaged."
    assert broken["sentences"][0].startswith("IW 16 paced saves 5.0")


def clause(world: World, *, long_pages_lose: bool = False) -> str:
    evidence = world.evidence(np.random.default_rng(2), pages=100, networks=256, each=2)
    if long_pages_lose:
        times = evidence.values["page_ms"] * np.where(evidence.visits[:, None] < 10, 100, 1)
        times[:, 1] *= np.where(evidence.visits < 10, 1.1, 1)
        evidence = dataclasses.replace(evidence, values={**evidence.values, "page_ms": times})
    judged = judge([Look(evidence=evidence)], RULE_OF_ONE)
    assert judged.rival is not None
    return candidate_clause(judged.rival, RULE_OF_ONE).replace("\u202f", " ")


def test_what_a_window_saves_and_costs_is_said_with_its_sign() -> None:
    assert clause(quiet(5, 0.1)).startswith("IW 16 paced saves 5.0")
    assert " ms a page; it sends 0.09" in clause(quiet(5, 0.1))
    assert "more of the payload again" in clause(quiet(5, 0.1))
    assert clause(quiet(-5, 0.1)).startswith("IW 16 paced takes 4.9")
    assert clause(quiet(5, -0.1)).endswith("less of the payload again")
    assert clause(saving(-0.7, 0.1)).startswith("the loads do not tell whether IW 16 paced saves page time: ")


def test_each_sentence_begins_with_a_capital() -> None:
    said = verdict(saving(-0.7, 0.1))["sentences"]
    assert said[0].startswith("The loads do not tell")


def test_two_means_that_differ_in_sign_are_told_apart() -> None:
    told = clause(quiet(5, 0.1), long_pages_lose=True)
    assert told.startswith("IW 16 paced saves ")
    assert " by the mean ratio, but " in told
    assert " ms longer a page, where long pages weigh more; it sends" in told

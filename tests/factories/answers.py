"""Made-up answers: one of each kind, with the limits of the bundled recorded pages before it."""

import functools

import numpy as np

from recordings.pages.sets import AUGUST_2025, SETS, read_source
from reports.answer import Answer, KeyNumber, answer_of
from reports.content import RecordedFacts
from reports.document.illustrative import limits_sentence
from tests.verdict.worlds import RULE_OF_ONE, World, quiet, saving
from verdict.closing import find_closing
from verdict.judgement import Kind, Look, judge
from verdict.stored import round_numbers, verdict_of

WORLDS: dict[Kind, tuple[World, tuple[str, ...]]] = {
    "raise": (quiet(5, 0.1), ()),
    "stays": (quiet(0.5, 0.1), ()),
    "open": (saving(4, 0.3), ()),
    "no answer": (quiet(5, 0.1), ("The back-cast is damaged; run `firstflight replay backcast`.",)),
}
"""Worlds, and what is wrong with the chain of evidence, by the kind of answer that they give."""


@functools.cache
def bundled_facts() -> RecordedFacts:
    """Whence the recorded pages are that come with the code, which are read once."""
    source = read_source(SETS[AUGUST_2025])
    facts: RecordedFacts = {
        "pages": 591,
        "requests": 0,
        "source": source.source,
        "recorded": source.recorded,
        "commit": None,
        "inferred": {"connections": {"share": 0.8156, "requests": {}, "rules": {}}},
        "limits": [],
    }
    return facts


def bundled_limits() -> str:
    """The limits of the recorded pages that come with the code."""
    return limits_sentence(bundled_facts(), vantage=read_source(SETS[AUGUST_2025]).vantage)


def made_up_answer(kind: Kind) -> Answer:
    """The answer of this kind, as report.json has it, of recorded pages."""
    world, broken = WORLDS[kind]
    evidence = world.evidence(np.random.default_rng(1), pages=100, networks=128, each=2)
    look = Look(evidence=evidence)
    judgement = judge([look], RULE_OF_ONE, broken=broken)
    needs = tuple(
        find_closing(look.effects(RULE_OF_ONE), judgement.of(candidate), RULE_OF_ONE)
        for candidate in judgement.having("open")
    )
    result = answer_of(
        round_numbers(verdict_of(judgement, RULE_OF_ONE, closing=needs)),
        illustrative_because=(),
        limits=bundled_limits(),
        fits=KeyNumber(id="fits", label="of responses fit into 10 segments", unit="%", value=62.1),
        command="firstflight replay run edition",
    )
    assert result.kind == kind
    return result

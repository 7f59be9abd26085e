"""Made-up verdicts by rule 7 and answers: one of each kind, with the limits of the bundled recorded pages
before it."""

import dataclasses
import functools

import numpy as np

from recordings.pages.sets import AUGUST_2025, SETS, read_source
from replay.runs.policy import Policy
from reports.answer import Answer, KeyNumber, answer_of
from reports.content import RecordedFacts
from reports.document.compose import limits_sentence
from tests.verdict.made_up import FAR, PACED, TEN, noisy
from verdict.evidence import Evidence
from verdict.judgement import Kind, Look
from verdict.ledger import Arm
from verdict.rule import RULE
from verdict.verdict import PageList, Verdict, verdict_of

EFFECTS: dict[Kind, tuple[float, float]] = {
    "raise": (6.0, 0.05),
    "stays": (0.1, 0.5),
    "open": (7.0, 0.35),
    "no answer": (6.0, 0.05),
}
"""Per cent saved beyond 100 ms and percentage points sent again there, by the kind of answer that follows."""

KINDS = tuple(EFFECTS)

BROKEN = "The back-cast is damaged; run `firstflight replay backcast`."


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
    return limits_sentence(bundled_facts(), vantage=read_source(SETS[AUGUST_2025]).vantage)


def made_up_loads(
    seed: int, far: tuple[float, float], *, size: int = 4000, noise: float = 0.02, paced: float = 1.5
) -> Evidence:
    """Loads of 16 segments, paced, for all and beyond 100 ms, over lines of three rates, where others' short
    flows take 1 % longer."""
    rng = np.random.default_rng(seed)
    loads = noisy(rng, size, {PACED: (paced, 0.4), FAR: far}, noise=noise)
    rates = (3e6, 15e6, 50e6)
    networks = tuple(
        dataclasses.replace(network, down_bps=rates[at % 3]) for at, network in enumerate(loads.networks)
    )
    flows_ms = 100 * np.exp(noise * rng.standard_normal((size, len(loads.windows))))
    flows_ms[:, [at for at, policy in enumerate(loads.windows) if policy != TEN]] *= 1.01
    quiet = {name: np.zeros_like(flows_ms) for name in ("bytes_dropped", "bytes_spurious")}
    values = {**loads.values, **quiet, "short_flow_ms": flows_ms}
    return dataclasses.replace(loads, networks=networks, values=values)


@functools.cache
def made_up_verdict(kind: Kind, *, noise: float = 0.02, size: int = 4000) -> Verdict:
    """The verdict of this kind over August's pages, with one list that is to confirm it, loads where everyone
    has a policy, and an arm."""
    rule = RULE.over(PACED, FAR)
    far = EFFECTS[kind]
    noise = 0.3 if kind == "open" else noise
    one = made_up_loads(1, far, noise=noise, size=size)
    deep = dataclasses.replace(one, values={**one.values, "page_ms": one.values["page_ms"] * 1.5})
    own = PageList(
        looks=(Look(evidence=one),),
        rule=dataclasses.replace(rule, shown=(Policy(3),)),
        crawl="2025-08.desktop.ar-vpn.quic.recorded",
        month="2025-08",
        everyone=made_up_loads(3, far, noise=noise, size=size),
        arms=(Arm(id="deep", title="deep queues", evidence=deep, base=one),),
    )
    other = dataclasses.replace(
        own,
        looks=(Look(evidence=made_up_loads(2, far, noise=noise, size=size)),),
        crawl="2023-11.desktop.california.tcp.recorded",
        month="2023-11",
        everyone=None,
        arms=(),
    )
    return verdict_of(own, [other], ends=True, broken=(BROKEN,) if kind == "no answer" else ())


def made_up_answer(kind: Kind) -> Answer:
    """The answer of this kind, as report.json has it, of recorded pages."""
    result = answer_of(
        made_up_verdict(kind),
        illustrative_because=(),
        limits=bundled_limits(),
        fits=KeyNumber(id="fits", label="of responses fit into 10 segments", unit="%", value=62.1),
        command="firstflight replay run edition",
    )
    assert result.kind == kind
    return result

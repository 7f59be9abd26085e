"""How often a replay in stages settles on a wrong answer: over worlds whose effects lie near their limits."""

import dataclasses
import itertools

import numpy as np

from reports.decision.bounds import Measured
from reports.decision.spending import increments
from reports.decision.standing import Look, Standing, stand
from reports.decision.statements import Statement, statements_of
from reports.decision.weighted_sample import WeightedSample
from reports.recommendation.candidate_verdicts import choose
from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import Floats
from tests.reports.decision.worlds import INCUMBENT, ordinary

WORLDS = 500
WINDOWS = (INCUMBENT, 16, 30)
FRACTIONS = (1 / 12, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0)
PAGES, NETWORKS, DRAWS = 150, 4, 900
RULE = dataclasses.replace(
    Rule(), margins=ordinary("retransmitted_bytes_average"), harm_conditions=(), aa_tolerance_percent=50.0
)
STATEMENTS = statements_of(RULE, WINDOWS, incumbent=INCUMBENT)
LIMIT = np.log(0.99)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Truth:
    """True effects of a world."""

    gains: dict[int, float]
    """Log ratio of page time to the incumbent's by window."""
    harms: dict[int, float]
    """Percentage points by window."""

    def of(self, one: Statement) -> float:
        """The effect of a statement."""
        if one.kind == "harm":
            return self.harms[one.candidate]
        return 0.0 if one.kind == "self" else self.gains[one.candidate] - self.gains[one.other]

    @property
    def answer(self) -> int | None:
        """What the rule would say if it knew."""
        return choose(
            WINDOWS,
            incumbent=INCUMBENT,
            admissible=[window for window, harm in self.harms.items() if harm < 0.5],
            is_worthwhile=lambda window, other: self.gains[window] - self.gains[other] <= LIMIT,
        )


def world(rng: np.random.Generator) -> Truth:
    """Effects within a few standard errors of the limits, where a wrong answer is likeliest."""
    near = rng.choice([-0.002, 0.002, -0.01, 0.01, -0.04], size=2)
    return Truth(
        gains={INCUMBENT: 0.0, 16: LIMIT + near[0], 30: LIMIT + near[0] + rng.choice([0.0, LIMIT + near[1]])},
        harms={window: 0.5 + rng.choice([-0.05, 0.05, -0.3, 0.3]) for window in (16, 30)},
    )


def settle(truth: Truth, rng: np.random.Generator) -> list[Standing]:
    """What is known after each look at skewed draws; pages return, and their own effects with them."""
    pages = np.arange(DRAWS) % PAGES
    networks = rng.permutation(DRAWS) % NETWORKS
    own, chance = rng.gamma(0.7, size=(PAGES, 5)), rng.gamma(0.4, size=(DRAWS, 5))
    noise = 0.6 * (own - 0.7)[pages] + 1.0 * (chance - 0.4)
    columns = {"16": 0, "30": 1, "harm16": 2, "harm30": 3, "self": 4}

    def values(one: Statement) -> Floats:
        if one.kind == "harm":
            return 2 * noise[:, columns[f"harm{one.candidate}"]]
        if one.kind == "self":
            return one.sign * 0.05 * noise[:, columns["self"]]
        mine, others = (
            noise[:, columns[str(window)]] if window != INCUMBENT else np.zeros(DRAWS)
            for window in (one.candidate, one.other)
        )
        found: Floats = 0.06 * (mine - others)
        return found

    looks: list[Look] = []
    for fraction in FRACTIONS:
        some = int(DRAWS * fraction)
        counts = np.bincount(networks[:some])[networks[:some]]
        sample = WeightedSample(pages[:some], networks[:some], 1 / NETWORKS / counts, counts, PAGES, NETWORKS)
        measured: dict[str, Measured] = {}
        for one in STATEMENTS:
            drawn = values(one)[:some] + truth.of(one)
            limit = one.margin.limit if one.margin else one.log_limit
            measured[one.id] = sample.measured(drawn, sample.mean(drawn), limit)
        looks.append(Look(fraction=fraction, measured=measured))
    return [stand(STATEMENTS, looks[:number], incumbent=INCUMBENT) for number in range(1, len(looks) + 1)]


def test_over_five_hundred_worlds_an_answer_is_settled_wrongly_in_at_most_a_twentieth() -> None:
    rng = np.random.default_rng(20261123)
    wrong = settled = 0
    for _ in range(WORLDS):
        truth = world(rng)
        first = next((one for one in settle(truth, rng) if one.is_settled), None)
        if first is not None:
            settled += 1
            wrong += first.answers != {truth.answer}
    assert wrong <= (1 - RULE.confidence) * WORLDS
    assert settled >= WORLDS / 10, "worlds in which nothing is settled test nothing"


def test_the_answers_that_are_left_only_become_fewer() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        found = settle(world(rng), rng)
        assert all(after.answers <= before.answers for before, after in itertools.pairwise(found))


def test_all_statements_of_a_run_together_spend_the_rules_error_probability() -> None:
    gains = sum(max(one.confirm_tail, one.refute_tail) for one in STATEMENTS if one.kind == "gain")
    admitted = sum(
        max(one.confirm_tail for one in STATEMENTS if one.kind == "harm" and one.candidate == window)
        for window in (16, 30)
    )
    refused = sum(one.refute_tail for one in STATEMENTS if one.kind == "harm")
    assert gains + max(admitted, refused) <= 1 - RULE.confidence + 1e-12
    assert sum(increments(FRACTIONS)) == 1.0
    assert all(one.confirm_tail <= (1 - RULE.confidence) / 2 for one in STATEMENTS)

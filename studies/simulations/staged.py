"""Operating characteristics of a replay in stages: its answers in simulated worlds whose truth is known,
by the code that decides.

Statements, their error probabilities, what each stage loads, bounds and answers are the product's. Simulated
are the loads alone: as values of each statement, with the errors that the replay of the edition 2026 reached,
and with skewed pages and draws.
"""

import collections
import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from replay.runs.initial_window import Paced
from reports.decision.bounds import Measured
from reports.decision.forecast import SPREADS
from reports.decision.standing import Look, Standing, stand, targets, windows_of
from reports.decision.statements import Statement, statements_of
from reports.decision.until_decided import STEPS
from reports.decision.weighted_sample import WeightedSample
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.rule import MARGINS, RULE, Rule
from reports.statistics.bootstrap import Floats
from studies.simulations.characteristics import WORLDS, World

INCUMBENT = 10
SMALLEST = Paced(16)
"""The smallest window that saves: pacing changes nothing in these worlds, and is preferred."""
NETWORKS = 4

ERRORS: Mapping[str, float] = {
    "gain": 0.0012,
    "self": 0.00056,
    "retransmitted_bytes_average": 0.032,
    "retransmitted_bytes_slow": 0.14,
    "responses_retransmitted_average": 0.066,
    "responses_retransmitted_slow": 0.254,
    "connections_initial_loss": 0.124,
    "page_time_p95": 0.56,
    "slow_mean": 0.33,
}
"""Standard errors in ordinary loads at the end of 45 minutes of two cores with 591 pages, in each effect's
unit: those of IW 16 against 10 in the edition 2026, version 10. Responses were counted otherwise there:
theirs are times 0.62 and 0.94, as in the first 26,704 loads of version 11 by both counts."""
PAGES_SHARE = 0.64
"""Part of their squares that only more pages reduce:
then errors after the first stage are six times those at the end, as there."""

REFERENCE_PAGES, REFERENCE_SECONDS = 600, 2 * 45 * 60
FIRST_DRAWS, FIRST_FRACTION = 30, 1 / 80
"""Draws of the first stage, and the part of 45 minutes that the first stage of the edition 2026 took."""
LOAD_S, HARM_LOAD_S = 0.75, 0.2
"""Seconds of a core for a load: an ordinary one here stands for 28 over other networks, so that 2,400 draws
of three loads are 45 minutes."""
NOTHING: Floats = np.zeros(0)
REFERENCE_DRAWS = REFERENCE_SECONDS / 3 / LOAD_S


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A rule, and what its replay may use."""

    id: str
    rule: Rule
    pages: int = REFERENCE_PAGES
    budgets: int = 1
    """Multiple of 45 minutes of two cores."""

    @property
    def loads_more(self) -> float:
        """How many more loads an ordinary one stands for,
        so that each page is drawn four times by the end."""
        return self.budgets * REFERENCE_PAGES / self.pages


WHOLE: Rule = dataclasses.replace(RULE, has_queues_in_population=True)
TWO_BOUNDS: Rule = dataclasses.replace(
    WHOLE,
    harm_conditions=(),
    margins=tuple(one for one in MARGINS if one.measure in ("retransmitted_bytes", "page_time_mean")),
)
SETTINGS: tuple[Setting, ...] = (
    Setting(id="two bounds, 45 minutes", rule=TWO_BOUNDS),
    Setting(id="every bound, 45 minutes", rule=WHOLE),
    Setting(id="every bound, 4,200 pages, 12 hours", rule=WHOLE, pages=4_200, budgets=16),
)


class Loads:
    """Simulated loads of one replay: values of each statement under each condition,
    drawn when they are asked for."""

    def __init__(self, world: World, setting: Setting, rng: np.random.Generator) -> None:
        """`rng` gives every value, in the order in which stages ask for them."""
        self._world, self._setting, self._rng = world, setting, rng
        self._own: dict[str, Floats] = {}
        self._noise: dict[str, Floats] = {}
        self._samples: dict[tuple[str, int], WeightedSample] = {}

    def measured(self, one: Statement, draws: int) -> Measured:
        """A statement's effect from the first `draws` of its condition."""
        sample = self._sample(one.condition, draws)
        values = effect(one, self._world) + self._deviations(one, draws)
        return sample.measured(one.sign * values, one.sign * sample.mean(values), limit(one))

    def _sample(self, condition: str, draws: int) -> WeightedSample:
        key = (condition, draws)
        if key not in self._samples:
            pages, networks = np.arange(draws) % self._setting.pages, (np.arange(draws) * 7 // 3) % NETWORKS
            counts = np.bincount(networks)[networks]
            self._samples[key] = WeightedSample(
                pages, networks, 1 / NETWORKS / counts, counts, self._setting.pages, NETWORKS
            )
        return self._samples[key]

    def _deviations(self, one: Statement, draws: int) -> Floats:
        """What the draws' values add to the effect; gains over several
        windows have each window's in common."""
        if one.kind == "gain":
            mine, others = (
                self._drawn(f"page time {window}", one.condition, "gain", draws)
                for window in (one.candidate, one.other)
            )
            found: Floats = (mine - others) / math.sqrt(2)
            return found
        if one.margin is None:
            return self._drawn("self", one.condition, "self", draws)
        return self._drawn(one.id, one.condition, one.margin.id, draws)

    def _drawn(self, key: str, condition: str, name: str, draws: int) -> Floats:
        """The first deviations of a name; those that earlier stages drew stay as they are."""
        of_page, of_draw = spreads(name, condition, self._setting)
        if of_page and key not in self._own:
            self._own[key] = of_page * skewed(self._rng, 0.7, self._setting.pages)
        known = self._noise.get(key, NOTHING)
        if len(known) < draws:
            more = of_draw * skewed(self._rng, 0.4, draws - len(known))
            if of_page:
                more += self._own[key][np.arange(len(known), draws) % self._setting.pages]
            known = self._noise[key] = np.concatenate([known, more])
        return known[:draws]


def spreads(name: str, condition: str, setting: Setting) -> tuple[float, float]:
    """Standard deviations of a page's own effect and of a draw's around it."""
    if condition == ORDINARY:
        error = ERRORS[name]
        return error * math.sqrt(PAGES_SHARE * REFERENCE_PAGES), error * math.sqrt(
            (1 - PAGES_SHARE) * REFERENCE_DRAWS / setting.loads_more
        )
    measure = next(one.measure for one in MARGINS if one.id == name)
    return 0.0, SPREADS[measure]


def skewed(rng: np.random.Generator, shape: float, count: int) -> Floats:
    """Numbers of a gamma distribution, of mean 0 and standard deviation 1."""
    found: Floats = (rng.standard_gamma(shape, size=count) - shape) / math.sqrt(shape)
    return found


def effect(one: Statement, world: World) -> float:
    """The true effect of a statement: from the smallest that saves, all windows save the same and harm the
    same; smaller ones do neither."""
    saved = {
        window: math.log1p(-world.gain_percent / 100) * (window >= SMALLEST)
        for window in (one.candidate, one.other)
    }
    if one.margin is None:
        return saved[one.candidate] - saved[one.other]
    if one.margin.unit == "%" and one.margin.measure.startswith("page_time"):
        return 100 * (saved[one.candidate] - saved[one.other])
    return world.harm_pp * (one.margin.measure == "retransmitted_bytes" and one.candidate >= SMALLEST)


def limit(one: Statement) -> float:
    """The limit in the unit that effects are measured in: of shares that the incumbent exceeds,
    that of the worsening."""
    if one.margin is None:
        return one.log_limit
    if one.margin.unit == "%":
        return 100 * math.log1p(one.margin.limit / 100)
    return one.margin.worsening_limit or one.margin.limit


def play(world: World, setting: Setting, rng: np.random.Generator) -> Standing:
    """What is known at the end of a replay in stages: when an answer is settled, or the budget is used."""
    windows = [one.window for one in CANDIDATES]
    statements = statements_of(setting.rule, windows, incumbent=INCUMBENT)
    loads, draws = Loads(world, setting, rng), collections.Counter({ORDINARY: FIRST_DRAWS})
    looks: list[Look] = []
    measured: dict[str, Measured] = {}
    standing = stand(statements, looks, incumbent=INCUMBENT)
    used = 0.0
    for step in (FIRST_FRACTION / setting.budgets, *STEPS):
        wanted = targets(statements, standing)
        if looks:
            draws += further_draws(
                wanted,
                seconds=(step - used) * REFERENCE_SECONDS * setting.budgets,
                load_s=LOAD_S * setting.loads_more,
            )
        # Lost candidates are loaded no more, so that what is known of them stays as it is.
        measured |= {
            one.id: loads.measured(one, draws[one.condition])
            for one in statements
            if one.candidate not in standing.lost
            and standing.holds[one.id] is None
            and draws[one.condition] >= setting.rule.minimum_pages
        }
        looks.append(Look(fraction=step, measured=dict(measured)))
        standing = stand(statements, looks, incumbent=INCUMBENT)
        if standing.is_settled or standing.is_sound is False:
            break
        used = step
    return standing


def further_draws(wanted: list[Statement], *, seconds: float, load_s: float) -> collections.Counter[str]:
    """Draws of a stage by condition: half of the time for ordinary loads,
    half for the harm conditions that are asked for."""
    asked = {one.condition: windows_of(wanted, one.condition, incumbent=INCUMBENT) for one in wanted}
    others = len(asked.keys() - {ORDINARY})
    half = 0.5 if others and ORDINARY in asked else 1.0
    found: collections.Counter[str] = collections.Counter()
    for condition, windows in asked.items():
        if condition == ORDINARY:
            again = any(one.kind == "self" for one in wanted)
            found[condition] = int(seconds * half / (load_s * (len(windows) + again)))
        else:
            found[condition] = int(seconds * half / others / (HARM_LOAD_S * len(windows)))
    return found


def right_answer(world: World) -> int | None:
    """The window to recommend in a world; None for no change."""
    return None if world.answer is None else SMALLEST


def verdict(world: World, setting: Setting, repetition: int) -> str:
    """right, wrong or undecided: the answer of one replay of the world."""
    place = [WORLDS.index(world), SETTINGS.index(setting), repetition]
    standing = play(world, setting, np.random.Generator(np.random.PCG64(place)))
    if not standing.is_settled:
        return "undecided"
    return "right" if standing.answers == {right_answer(world)} else "wrong"


def run(world: World, setting: Setting, begin: int, end: int) -> collections.Counter[str]:
    """Verdicts of the replays numbered `begin` to `end`."""
    return collections.Counter(verdict(world, setting, repetition) for repetition in range(begin, end))

"""The ledger: every input that could turn the answer, its range, and the answer and the gain at each end.

Choices of the rule are applied to all loads, with their intervals. Inputs of the replay are loaded at each
end on a few pages: too few for intervals that decide, so that the rule is applied to the estimates alone
there, of the same pages at the default and at the ends. Harm that so few pages cannot show, and harm under
the harm conditions, stays as in the whole replay. Estimates alone have no chance in them: the A/A comparisons
are left out.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from releases.interval import Interval
from reports.recommendation.effects import Gain, Harm, log_ratio
from reports.recommendation.estimates import Estimates, estimates_of
from reports.recommendation.inputs import INPUTS, End
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import Role, Rule
from reports.recommendation.self_comparison import SelfComparison
from reports.recommendation.sensitivity import Variant
from reports.recommendation.window_family import NotEstimable, TooFewLoads, WindowFamily
from reports.statistics.paired_loads import PairedLoads
from reports.statistics.simultaneous import LEAST_PAGES, page_means

UNDECIDED = "undecided"

NO_CHANCE = SelfComparison(longer_percent=Interval(0.0, 0.0, 0.0), pairs=0)

Weights = Mapping[Role, Mapping[str, float]]


Basis = Literal[
    "all loads, by intervals",
    "all loads in stages, by intervals",
    "a few pages, by estimates",
    "a few pages, by estimates, with harm in ordinary loads alone",
]
"""What answers rest on."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An input, its range, and the answer and the gain of one window at each end;
    None where an end was not replayed."""

    input: str
    title: str
    unit: str
    low: str | None
    default: str
    high: str | None
    answer_low: str | None
    answer_default: str
    answer_high: str | None
    gain_low: Interval | None
    """Gain of `window` over the incumbent in percent, with the rule's interval."""
    gain_default: Interval | None
    gain_high: Interval | None
    more_low: Interval | None = None
    """What the gain at the low end is more than with nothing changed, in percentage points, of the same pages
    one by one; None for choices of the rule."""
    more_high: Interval | None = None
    window: int | None
    """The window that gains are of: the recommended one, or else its nearest rival;
    None without a candidate."""
    basis: Basis
    pages: int
    """Pages that the answers rest on."""
    source: str

    @property
    def turns(self) -> bool:
        """Return whether an end has another answer than the default."""
        return any(end not in (None, self.answer_default) for end in (self.answer_low, self.answer_high))


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """A choice of the rule, with the variants at its ends (reports.recommendation.sensitivity)."""

    id: str
    title: str
    unit: str
    low: tuple[str, str] | None
    """Value and variant."""
    default: str
    high: tuple[str, str] | None
    source: str


CHOICES: tuple[Choice, ...] = (
    Choice(
        "worthwhile", "least gain that is worthwhile", "%", ("0.5", "worthwhile_half"), "1", ("2", "worthwhile_double"), "ours: half and twice",  # noqa: E501
    ),
    Choice(
        "margins", "harm margins", "times", ("0.5", "margins_half"), "1", ("2", "margins_double"), "ours: half and twice",  # noqa: E501
    ),
    Choice(
        "confidence", "confidence of the intervals", "%", ("90", "confidence_90"), "95", ("99", "confidence_99"), "customary levels",  # noqa: E501
    ),
    Choice(
        "harm_conditions", "conditions in which harm is measured", "", ("ordinary cells", "harm_ordinary"), "core", ("at 80 % load too", "harm_beyond_core"), "ours",  # noqa: E501
    ),
    Choice(
        "aa_tolerance", "tolerance of the incumbent's difference from itself", "%", None, "0.3 or as attained", ("3", "aa_wide"), "ours",  # noqa: E501
    ),
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Loads of a few pages at one end of an input, and the weights of their networks."""

    loads: PairedLoads
    weights: Weights


def ledger(
    estimates: Estimates,
    answer: Recommendation,
    variants: Sequence[tuple[Variant, Recommendation]],
    samples: Mapping[End, Sample],
    default: Sample | None,
    *,
    window: int | None,
    rule: Rule,
    choices: Sequence[Choice] = CHOICES,
) -> list[Entry]:
    """All entries: the `choices` of the rule first, then the inputs of which an end was replayed;
    gains are those of `window`.

    `samples` are the loads at the ends, `default` those of the same pages and seeds without a change.
    """
    found = [_of_rule(one, estimates, answer, variants, window, rule) for one in choices]
    if default is None:
        return found
    at_default = _at(default, estimates, rule)
    more = {
        end: more_saved(one, default, window=window, other=estimates.incumbent, rule=rule)
        for end, one in samples.items()
    }
    for one in INPUTS:
        low, high = (
            _at(samples[end], estimates, rule) if end and end in samples else None
            for end in (one.low, one.high)
        )
        if low or high:
            found.append(
                Entry(
                    input=one.id,
                    title=one.title,
                    unit=one.unit,
                    low=one.low.value if one.low and low else None,
                    default=one.default,
                    high=one.high.value if one.high and high else None,
                    answer_low=low and _answer(low[1]),
                    answer_default=_answer(at_default[1]),
                    answer_high=high and _answer(high[1]),
                    gain_low=low and _gain(low[0], window, rule),
                    gain_default=_gain(at_default[0], window, rule),
                    gain_high=high and _gain(high[0], window, rule),
                    more_low=more.get(one.low) if one.low else None,
                    more_high=more.get(one.high) if one.high else None,
                    window=window,
                    basis="a few pages, by estimates"
                    if rule.harm_conditions
                    else "a few pages, by estimates, with harm in ordinary loads alone",
                    pages=len(default.loads.pages),
                    source=one.source,
                )
            )
    return found


def more_saved(
    sample: Sample, default: Sample, *, window: int | None, other: int, rule: Rule
) -> Interval | None:
    """How much more page time `window` saves against `other` in a sample than by default, in percentage
    points; None with too few pages.

    Each page is compared with itself: how pages differ is no part of the interval, nor is how their gains do.
    """
    if window is None:
        return None
    changed, unchanged = (_log_ratios(one, window, other, rule) for one in (sample, default))
    pages = sorted(changed.keys() & unchanged.keys())
    if len(pages) < LEAST_PAGES:
        return None
    values = np.array([[changed[page] - unchanged[page]] for page in pages])
    (found,) = page_means(values, seed=rule.bootstrap_seed, replicates=rule.replicates).intervals(
        rule.confidence
    )
    whole = 100 * math.exp(sum(unchanged[page] for page in pages) / len(pages))
    return Interval(*(-whole * math.expm1(end) for end in (found.estimate, found.upper, found.lower)))


def _log_ratios(sample: Sample, window: int, other: int, rule: Rule) -> dict[str, float]:
    """The mean log ratio of page time of each page; none with too few loads."""
    family = WindowFamily(
        arms=[(sample.loads, 1.0)],
        windows=(window,),
        other=other,
        population=sample.weights["average"],
        rule=rule,
    )
    try:
        ((found, _),) = family.samples(["page_ms"])
    except TooFewLoads:
        return {}
    ratios = log_ratio(found, family, window, "page_ms")
    return dict(zip(found.pages, map(float, ratios), strict=True))


def _of_rule(
    one: Choice,
    estimates: Estimates,
    answer: Recommendation,
    variants: Sequence[tuple[Variant, Recommendation]],
    window: int | None,
    rule: Rule,
) -> Entry:
    known = {variant.id: (variant.rule, found) for variant, found in variants}
    low, high = (end if end and end[1] in known else None for end in (one.low, one.high))
    return Entry(
        input=one.id,
        title=one.title,
        unit=one.unit,
        low=low and low[0],
        default=one.default,
        high=high and high[0],
        answer_low=low and _answer(known[low[1]][1]),
        answer_default=_answer(answer),
        answer_high=high and _answer(known[high[1]][1]),
        gain_low=low and _gain(estimates, window, known[low[1]][0]),
        gain_default=_gain(estimates, window, rule),
        gain_high=high and _gain(estimates, window, known[high[1]][0]),
        window=window,
        basis="all loads, by intervals",
        pages=estimates.pages,
        source=one.source,
    )


def _at(sample: Sample, whole: Estimates, rule: Rule) -> tuple[Estimates, Recommendation]:
    """The estimates of a sample, with what it cannot show from the whole replay,
    and the rule's answer by estimates alone."""
    own = estimates_of(sample.loads, sample.weights, rule=rule, last_years=whole.incumbent)
    harms = {
        key: {**by_condition, **_known(own.harms.get(key, {}))} for key, by_condition in whole.harms.items()
    }
    merged = dataclasses.replace(
        own,
        harms=harms,
        incumbents=whole.incumbents,
        aa=NO_CHANCE,
        harm_conditions=whole.harm_conditions,
    )
    return own, decide(merged, rule=dataclasses.replace(rule, confidence=0.0, asks_for_alias=False))


def _known(harms: Mapping[str, Harm | NotEstimable]) -> dict[str, Harm | NotEstimable]:
    return {
        name: harm for name, harm in harms.items() if name == ORDINARY and not isinstance(harm, NotEstimable)
    }


def _answer(found: Recommendation) -> str:
    return found.answer if found.is_decided else UNDECIDED


def _gain(estimates: Estimates, window: int | None, rule: Rule) -> Interval | None:
    found = estimates.gains.get((window or 0, estimates.incumbent))
    return found.effect.interval(rule.confidence) if isinstance(found, Gain) else None

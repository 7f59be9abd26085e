"""Measures the effect of each statement from the draws so far.

An effect is a mean over pages and over the population's networks, of log ratios for times and of percentage
points for shares, as in the rule. A share is that of a load: what the load has in all hardly depends on its
network.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reports.decision.bounds import Measured
from reports.decision.draws import Draws, known
from reports.decision.statements import Statement
from reports.decision.weighted_sample import LEAST_DRAWS, WeightedSample, weighted_sample
from reports.recommendation.effects import PAYLOAD_OF_FRAME, QUANTILES, SHARES, TIMES
from reports.recommendation.rule import Margin, Role, Rule
from reports.statistics.bootstrap import Floats, weighted_quantile

LEAST_PAGES_WITH_EVENTS = 10
"""Fewest pages with an event, at either window, whose spread is that of the event: of fewer,
pages with an event are counted. Ours."""

Populations = Mapping[Role, Floats]
"""Weights of the frame's networks by role."""


def measure(
    statements: Sequence[Statement],
    draws: Mapping[str, Draws],
    populations: Populations,
    rule: Rule,
    *,
    expected: Mapping[int, Floats] | None = None,
) -> dict[str, Measured]:
    """The effects by statement; those without enough draws are left out.

    `expected` has for each window the logarithm of page time by arithmetic, [page, network] of the frame
    (`reports.decision.problem.expected_log_ms`): gains are measured as their distance from it.
    """
    found = {}
    for one in statements:
        if one.condition in draws and len(draws[one.condition]):
            effect = _effect(one, draws[one.condition], populations[one.population], rule, expected)
            if effect is not None and math.isfinite(effect.error):
                found[one.id] = effect
    return found


def _effect(
    one: Statement, draws: Draws, weights: Floats, rule: Rule, expected: Mapping[int, Floats] | None
) -> Measured | None:
    if one.kind == "self":
        return _itself(one, draws, weights, rule)
    if one.margin is None:
        return _gain(one, draws, weights, rule, expected)
    if one.margin.measure in SHARES:
        return _share(one.margin, one, draws, weights, rule)
    if one.margin.measure in QUANTILES:
        return _quantile(one.margin, one, draws, weights, rule)
    return _time(one.margin, one, draws, weights, rule)


def _gain(
    one: Statement, draws: Draws, weights: Floats, rule: Rule, expected: Mapping[int, Floats] | None
) -> Measured | None:
    """The mean log ratio of page time."""
    times = draws.at("page_ms", one.candidate), draws.at("page_ms", one.other)
    sample, (mine, others) = _known(draws, times, weights, rule)
    if sample is None:
        return None
    ratios = np.log(mine / others)
    if expected is None:
        return sample.measured(ratios, sample.mean(ratios), one.log_limit)
    control = expected[one.candidate] - expected[one.other]
    return with_control(sample, ratios, control, weights, one.log_limit)


def _itself(one: Statement, draws: Draws, weights: Floats, rule: Rule) -> Measured | None:
    """The mean log ratio of the incumbent's page time with another seed, over the pairs that have loss.

    Loads without loss do not depend on chance and would only dilute the comparison.
    """
    times = draws.again["page_ms"], draws.at("page_ms", one.other)
    lost = sum(
        np.nan_to_num(array)
        for name in ("bottleneck_drops", "bytes_retransmitted")
        for array in (draws.again[name], draws.at(name, one.other))
    )
    usable = known(times) & (lost > 0)
    enough = np.bincount(draws.networks[usable], minlength=len(weights)) >= LEAST_DRAWS
    counted = np.where(enough, weights, 0.0)
    if not counted.any():
        return None
    masked = [np.where(usable, array, np.nan) for array in times]
    sample, (again, first) = _known(draws, masked, counted, rule)
    if sample is None:
        return None
    ratios = one.sign * np.log(again / first)
    return sample.measured(ratios, sample.mean(ratios), one.log_limit)


def with_control(
    sample: WeightedSample, values: Floats, control: Floats, weights: Floats, limit: float
) -> Measured:
    """The mean of `values` with a control variate [page, network] whose mean over all pages is known."""
    drawn = control[sample.pages, sample.networks]
    deviations = sample.contributions(drawn)
    squares = float(deviations @ deviations)
    slope = float(deviations @ sample.contributions(values)) / squares if squares > 0 else 0.0
    rest = values - slope * drawn
    of_pages = slope * (control @ weights) / weights.sum()
    value = sample.mean(rest) + float(of_pages.mean())
    return sample.measured(rest, value, limit, of_pages=(of_pages - of_pages.mean()) / len(of_pages))


def _share(margin: Margin, one: Statement, draws: Draws, weights: Floats, rule: Rule) -> Measured | None:
    """A share's worsening in percentage points of a load's whole,
    or its level where the margin bounds that."""
    part, whole = SHARES[margin.measure]
    arrays = [
        100 * draws.at(part, window) / np.where(draws.at(whole, window) > 0, draws.at(whole, window), np.nan)
        for window in (one.candidate, one.other)
    ]
    sample, (mine, others) = _known(draws, arrays, weights, rule)
    if sample is None:
        return None
    limit, values = margin.limit, mine - others
    is_level = False
    if margin.is_level:
        if margin.worsening_limit is not None and sample.mean(others) >= margin.limit:
            limit = margin.worsening_limit
        else:
            values, is_level = mine, True
    if len(np.unique(sample.pages[(mine > 0) | (others > 0)])) < LEAST_PAGES_WITH_EVENTS:
        worse, better = (mine, others) if one.sign > 0 else (others, mine)
        return sample.rare(worse, None if is_level else better, one.sign * sample.mean(values), limit)
    return sample.measured(one.sign * values, one.sign * sample.mean(values), limit)


def _time(margin: Margin, one: Statement, draws: Draws, weights: Floats, rule: Rule) -> Measured | None:
    """A time's worsening: the mean difference in milliseconds, or the mean log ratio in percent.

    A bulk flow's time is that for the bytes that it receives during a load at the other window.
    """
    column = TIMES.get(margin.measure, "page_ms")
    arrays = [draws.at(column, window) for window in (one.candidate, one.other)]
    if margin.measure == "bulk_time":
        more, fewer = (draws.at("competition_bytes", window) for window in (one.other, one.candidate))
        payload_per_ms = draws.frame.down_bps[draws.networks] * PAYLOAD_OF_FRAME / 8e3
        arrays[0] = np.maximum(arrays[0] + (more - fewer) / payload_per_ms, 1e-3)
    sample, (mine, others) = _known(draws, arrays, weights, rule)
    if sample is None:
        return None
    if margin.unit == "ms":
        values, limit = mine - others, margin.limit
    else:
        values, limit = 100 * np.log(mine / others), 100 * math.log1p(margin.limit / 100)
    return sample.measured(one.sign * values, one.sign * sample.mean(values), limit)


def _quantile(margin: Margin, one: Statement, draws: Draws, weights: Floats, rule: Rule) -> Measured | None:
    """The log ratio of two quantiles of page time in percent, with the error of its linear form."""
    share = QUANTILES[margin.measure]
    arrays = [draws.at("page_ms", window) for window in (one.candidate, one.other)]
    sample, arrays = _known(draws, arrays, weights, rule)
    if sample is None:
        return None
    first, second = (_quantile_side(sample, values, share, rule.quantile_loads) for values in arrays)
    if first is None or second is None:
        return None
    (mine, value), (others, others_value) = first, second
    linear = 100 * (mine / value - others / others_value)
    limit = 100 * math.log1p(margin.limit / 100)
    return sample.measured(linear, 100 * math.log(value / others_value), limit)


def _quantile_side(
    sample: WeightedSample, values: Floats, share: float, least_loads: int
) -> tuple[Floats, float] | None:
    """A weighted quantile in linear form, and its value; None with too few draws beyond it.

    The density at the quantile is that between the quantiles one standard error of the share below and above.
    """
    order = np.argsort(values, kind="stable")
    ordered, shares = values[order], sample.shares[order][np.newaxis]
    value = float(weighted_quantile(ordered, shares, share)[0])
    above = (values > value).astype(np.float64)
    error = sample.measured(above, 0.0, 0.0).error
    if above.sum() < least_loads or share + error >= 1 or error <= 0:
        return None
    low, high = (float(weighted_quantile(ordered, shares, share + step)[0]) for step in (-error, error))
    return (above * (high - low) / (2 * error), value) if high > low else None


def _known(
    draws: Draws, arrays: Sequence[Floats], weights: Floats, rule: Rule
) -> tuple[WeightedSample | None, list[Floats]]:
    """The draws on networks with weight in which all arrays are known."""
    mask = known(arrays)
    sample = weighted_sample(draws, mask, weights, least_pages=rule.minimum_pages)
    kept = mask & (weights[draws.networks] > 0)
    return sample, [array[kept] for array in arrays]

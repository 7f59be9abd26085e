"""Effects of policies in two units, each an estimate that is linear in the draws.

Every quantity becomes a value of each draw whose weighted mean is the estimate, and whose spread around it is
that of the estimate by the delta method: of a mean the value itself, of a ratio of means or a function of one
its linearisation (Deville, Survey Methodology 25, 1999). So one estimator of the mean with its two-way
clustered error (verdict.effects) serves them all; a net benefit, a difference of policies or of inputs is
that of the values.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import LEAST_EQUAL, SLOW, Effects, Name, effects_of, weigh
from verdict.evidence import Evidence, Load
from verdict.rule import IN_SUM, PER_LOAD, UNITS, Rule, Unit
from verdict.student import Floats, Mask

GAIN, RESENT, NET_BENEFIT = "gain", "resent", "net benefit"
"""Page time saved in per cent, payload sent again in percentage points, and price times the first less the
second.
"""

PARTS = {"dropped": "bytes_dropped", "spurious": "bytes_spurious"}
"""Of what is sent again, what the bottleneck's queue dropped and what had arrived before, in percentage
points, by column; the rest was lost on the line. They decide nothing."""

TOUCHED = "gain of touched loads"
"""Page time saved of the loads with a connection that the policy is for, in per cent."""

MILLISECONDS = "milliseconds"

SHORT_FLOWS = "short flows"
"""Time saved by others' short flows, in per cent, per load."""


def name_of(quantity: str, unit: Unit) -> str:
    """Return the name of a quantity in a unit.

    >>> name_of(NET_BENEFIT, IN_SUM)
    'net benefit in sum'
    """
    return f"{quantity} {unit}"


FAMILY = (name_of(NET_BENEFIT, PER_LOAD), name_of(NET_BENEFIT, IN_SUM), TOUCHED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Complete pairs of loads, at a policy and at the incumbent, with their weights."""

    known: Mask
    """[draw] Whether both loads are complete."""
    weights: Floats
    """[pair]; they sum to 1."""
    load: Load
    """[pair] by column."""
    base: Load

    def spread(self, values: Floats) -> Floats:
        """Return values along all draws."""
        whole = np.full(len(self.known), np.nan)
        whole[self.known] = values
        return whole

    def mean(self, values: Floats) -> float:
        return float(self.weights @ values)


def pairs_of(
    evidence: Evidence, policy: Policy, columns: Sequence[str], *, incumbent: Policy, of_slow: bool = False
) -> Pairs:
    load, base = evidence.at(policy), evidence.at(incumbent)
    complete = np.all([np.isfinite(side[name]) for name in columns for side in (load, base)], axis=0)
    known, weights = weigh(evidence, complete, of_slow=of_slow)
    return Pairs(
        known=known,
        weights=weights,
        load={name: load[name][known] for name in columns},
        base={name: base[name][known] for name in columns},
    )


PAYLOAD = "payload_bytes"
RESENT_COLUMNS = ("bytes_retransmitted", PAYLOAD)


def measure(
    evidence: Evidence, policies: Sequence[Policy], rule: Rule, *, quantities: Collection[str] | None = None
) -> Effects:
    """Return the policies' quantities against the incumbent; by default all."""
    changes: dict[Name, Floats] = {
        (name, policy): values
        for policy in policies
        for name, values in values_of(evidence, policy, rule, quantities).items()
    }
    return effects_of(evidence, changes, clusters=evidence.clusters)


def values_of(
    evidence: Evidence, policy: Policy, rule: Rule, quantities: Collection[str] | None = None
) -> dict[str, Floats]:
    """Return each draw's value of these quantities; NaN where a pair is incomplete."""
    pairs = pairs_of(evidence, policy, (rule.time, *RESENT_COLUMNS), incumbent=rule.incumbent)
    values: dict[str, Floats] = {}
    for unit in UNITS:
        gain, resent = (
            (_gain_per_load(pairs, rule.time), _share_per_load(pairs, *RESENT_COLUMNS))
            if unit == PER_LOAD
            else (_gain_in_sum(pairs, rule.time), _share_in_sum(pairs, *RESENT_COLUMNS))
        )
        values[name_of(GAIN, unit)] = gain
        values[name_of(RESENT, unit)] = resent
        values[name_of(NET_BENEFIT, unit)] = rule.price_pp(unit) * gain - resent
    touched = evidence.touched(policy, incumbent=rule.incumbent)[pairs.known]
    values[TOUCHED] = _gain_per_load(pairs, rule.time, of=touched)
    values[MILLISECONDS] = pairs.base[rule.time] - pairs.load[rule.time]
    parts = [name_of(name, unit) for name in PARTS for unit in UNITS]
    wanted = {*values, *parts, SLOW, SHORT_FLOWS} if quantities is None else {*quantities}
    whole = {name: pairs.spread(array) for name, array in values.items() if name in wanted}
    for part, column in PARTS.items():
        if name_of(part, PER_LOAD) in wanted:
            sent = pairs_of(evidence, policy, (column, PAYLOAD), incumbent=rule.incumbent)
            whole[name_of(part, PER_LOAD)] = sent.spread(_share_per_load(sent, column, PAYLOAD))
            whole[name_of(part, IN_SUM)] = sent.spread(_share_in_sum(sent, column, PAYLOAD))
    for name, column in ((SLOW, rule.time), (SHORT_FLOWS, "short_flow_ms")):
        if name in wanted:
            of_slow = name == SLOW
            others = pairs_of(evidence, policy, (column,), incumbent=rule.incumbent, of_slow=of_slow)
            whole[name] = others.spread(_gain_per_load(others, column))
    return whole


def _gain_per_load(pairs: Pairs, column: str, *, of: Mask | None = None) -> Floats:
    """Return values whose mean is per cent saved, by geometric means; `of` selects pairs."""
    counts = np.ones(len(pairs.weights)) if of is None else of.astype(float)
    share = pairs.mean(counts)
    if share <= 0:
        return np.full(len(counts), np.nan)
    change = np.log(pairs.load[column] / pairs.base[column])
    mean = pairs.mean(counts * change) / share
    gain: Floats = -100 * math.expm1(mean) - 100 * math.exp(mean) * counts * (change - mean) / share
    return gain


def _gain_in_sum(pairs: Pairs, column: str) -> Floats:
    """Return values whose mean is per cent saved, by means."""
    return -100 * (_ratio(pairs, pairs.load[column], pairs.base[column]) - 1)


def _share_per_load(pairs: Pairs, part: str, whole: str) -> Floats:
    """Return how much larger a part of each load is, in pp."""
    difference: Floats = 100 * (pairs.load[part] / pairs.load[whole] - pairs.base[part] / pairs.base[whole])
    return difference


def _share_in_sum(pairs: Pairs, part: str, whole: str) -> Floats:
    """Return values whose mean is how much larger a part of all loads is, in pp."""
    now, before = (_ratio(pairs, side[part], side[whole]) for side in (pairs.load, pairs.base))
    return 100 * (now - before)


def _ratio(pairs: Pairs, above: Floats, below: Floats) -> Floats:
    """Return values whose mean is the ratio of two means."""
    if not len(above):
        return above
    scale = pairs.mean(below)
    ratio = pairs.mean(above) / scale
    values: Floats = ratio + (above - ratio * below) / scale
    return values


def correlate(effects: Effects, names: Sequence[Name]) -> Floats:
    """Return the correlation of estimates, [estimate, estimate]; 0 without an error."""
    at = [effects.names[name] for name in names]
    page, network, pair = (
        np.nan_to_num(sums[:, at]) for sums in (effects.by_page, effects.by_network, effects.by_pair)
    )
    covariance = page.T @ page + network.T @ network - pair.T @ pair
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    has_error = deviation > 0
    scale = np.where(has_error, deviation, 1.0)
    correlation: Floats = np.clip(covariance / np.outer(scale, scale), -1, 1)
    correlation[~has_error, :] = correlation[:, ~has_error] = 0
    np.fill_diagonal(correlation, 1)
    return correlation


def difference(
    evidence: Evidence, base: Evidence, policy: Policy, rules: tuple[Rule, Rule], *, tail: float
) -> Mapping[Unit, Interval]:
    """Return how far net benefits differ between two evidences over the same draws, by unit; each end
    fails with probability `tail`.

    `rules` are the first's and the second's. ValueError if the draws are others.
    """
    if not (np.array_equal(evidence.visits, base.visits) and np.array_equal(evidence.places, base.places)):
        raise ValueError("a paired difference needs the same draws in both")
    names = [name_of(NET_BENEFIT, unit) for unit in UNITS]
    mine, theirs = (
        values_of(side, policy, rule, names) for side, rule in zip((evidence, base), rules, strict=True)
    )
    changes: dict[Name, Floats] = {(name, policy): mine[name] - theirs[name] for name in names}
    effects = effects_of(base, changes, clusters=base.clusters)
    if effects.is_equal(least=LEAST_EQUAL):
        return dict.fromkeys(UNITS, Interval(0.0, 0.0, 0.0))
    return {unit: effects.of(name, policy).interval(tail) for unit, name in zip(UNITS, names, strict=True)}

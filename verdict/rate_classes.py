"""What the policy in force sends again, drops and sends in vain by class of line rate; and what policies do
to a half-loaded line where everyone follows them. Neither decides anything."""

from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import Name, effects_of
from verdict.estimates import GAIN, SHORT_FLOWS, measure, name_of, pairs_of
from verdict.evidence import Evidence, select_draws, share_of_draws
from verdict.rule import PER_LOAD, Rule
from verdict.student import Floats, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class RateClass:
    """Lines between two rates."""

    # Stable: written into every verdict.
    id: str
    title: str
    above_bps: float = -np.inf
    up_to_bps: float = np.inf

    def of(self, evidence: Evidence) -> Mask:
        rates_bps = evidence.of_network("down_bps")
        mask: Mask = (rates_bps > self.above_bps) & (rates_bps <= self.up_to_bps)
        return mask


RATES = (
    RateClass(id="slow", title="lines below 6 Mbps", up_to_bps=6e6),
    RateClass(id="middle", title="lines of 6 to 25 Mbps", above_bps=6e6, up_to_bps=25e6),
    RateClass(id="quick", title="lines above 25 Mbps", above_bps=25e6),
)

PUBLISHED_PACKETS_PERCENT, PUBLISHED_RESPONSES_PERCENT, PUBLISHED_MBPS = 2.8, 6.1, 1.9
"""Packets sent again, responses of which any was, and mean rate of the clients.

Google's web, May 2011: N. Dukkipati et al., Proportional Rate Reduction for TCP, IMC 2011.
"""

PAYLOAD = "payload_bytes"

PARTS = {
    "resent": ("bytes_retransmitted", None, PAYLOAD),
    "for loss": ("bytes_retransmitted", "bytes_spurious", PAYLOAD),
    "spurious": ("bytes_spurious", None, PAYLOAD),
    "dropped": ("bytes_dropped", None, PAYLOAD),
    "responses": ("responses_own_retransmitted", None, "responses"),
}
"""Columns of a part, of what is not of it, and of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateClassResult:
    """The share that the policy in force sends again over a class of lines, the mean of each load's share
    in per cent; each interval by itself at 95 %."""

    id: str
    title: str
    share: float
    resent_percent: Interval
    """The sum of the next two."""
    for_loss_percent: Interval
    """No earlier copy arrived."""
    spurious_percent: Interval
    """An earlier copy arrived."""
    dropped_percent: Interval
    """Dropped by the bottleneck's queue; the rest was lost on the line."""
    responses_percent: Interval
    """Of whose bytes any were sent again."""


def measure_rate_classes(evidence: Evidence, rule: Rule) -> tuple[RateClassResult, ...]:
    """Return what the policy in force sends again by class of rate."""
    results = []
    for rates in RATES:
        mask = rates.of(evidence)
        if not mask.any():
            continue
        inside = select_draws(evidence, mask)
        changes: dict[Name, Floats] = {(part, None): _percent(inside, part, rule) for part in PARTS}
        effects = effects_of(inside, changes, clusters=inside.clusters)
        intervals = {part: effects.of(part, None).interval(rule.error / 2) for part in PARTS}
        results.append(
            RateClassResult(
                id=rates.id,
                title=rates.title,
                share=share_of_draws(evidence, mask),
                resent_percent=intervals["resent"],
                for_loss_percent=intervals["for loss"],
                spurious_percent=intervals["spurious"],
                dropped_percent=intervals["dropped"],
                responses_percent=intervals["responses"],
            )
        )
    return tuple(results)


def _percent(evidence: Evidence, part: str, rule: Rule) -> Floats:
    name, other, whole = PARTS[part]
    columns = [column for column in (name, other, whole) if column is not None]
    pairs = pairs_of(evidence, rule.incumbent, columns, incumbent=rule.incumbent)
    amount = pairs.base[name] if other is None else pairs.base[name] - pairs.base[other]
    return pairs.spread(100 * amount / pairs.base[whole])


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedResult:
    """The time that a policy saves on a half-loaded line where everyone follows it, by itself at 95 %."""

    policy: Policy
    page_percent: Interval
    short_flows_percent: Interval
    pairs: int


def measure_shared(everyone: Evidence | None, rule: Rule) -> tuple[SharedResult, ...]:
    if everyone is None:
        return ()
    policies = [policy for policy in everyone.windows if policy != rule.incumbent]
    page = name_of(GAIN, PER_LOAD)
    effects = measure(everyone, policies, rule, quantities=[page, SHORT_FLOWS])
    return tuple(
        SharedResult(
            policy=policy,
            page_percent=effects.of(page, policy).interval(rule.error / 2),
            short_flows_percent=effects.of(SHORT_FLOWS, policy).interval(rule.error / 2),
            pairs=int(effects.draws[effects.names[SHORT_FLOWS, policy]]),
        )
        for policy in policies
    )

"""The recommendation's rule as data: harm margins and adequacy limits, each with its source.

Every report contains the ids, so renaming one breaks past reports.
"""

import dataclasses
from typing import Literal

from reports.recommendation.estimands import ESTIMANDS, Estimand
from reports.recommendation.harm_conditions import HARM_CONDITIONS, ConditionKind, HarmCondition

RULE_VERSION = 5
"""Version of the rule; increased when a bound, an estimand or the order of decisions changes."""


HarmMeasure = Literal[
    "retransmitted_bytes",
    "responses_retransmitted",
    "connections_initial_loss",
    "page_time_p95",
    "page_time_p99",
    "page_time_p999",
    "page_time_mean",
    "short_flow_time",
    "bulk_time",
    "probe_p95",
]
"""Quantity that a margin bounds; `reports.recommendation.effects` estimates it from the replay's cells."""

Role = Literal["average", "slow"]
"""Population that a margin applies to."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Limit of an accepted harm: the upper bound of the worsening must lie below it."""

    id: str
    title: str
    measure: HarmMeasure
    population: Role
    limit: float
    unit: Literal["pp", "%", "ms"]
    source: str
    is_level: bool = False
    """True if the limit bounds the candidate's own level, and not its worsening over the incumbent."""
    worsening_limit: float | None = None
    """Limit of the worsening, used for a level if the incumbent's own level reaches `limit`."""
    is_equivalence: bool = False
    """True if an improvement is limited too (two one-sided tests)."""
    asked_in: tuple[ConditionKind, ...] = ("ordinary", "idle", "alone", "everyone")
    """Kinds of conditions that the margin applies to; the worst in the rule's core set decides."""
    held_against: Literal["worst", "mixture"] = "worst"
    """worst: the bound must hold in each condition that it is asked in. mixture: in their weighted mixture,
    because the source saw the margin over the mixed queues of production."""
    is_required: bool = True
    """True if a candidate is admissible only when the bound holds;
    False if the harm is shown and decides nothing."""
    over_step_from: int | None = None
    """Set for a bound that the instrument calibrates itself: the worsening is less that of the permanent
    incumbent over this window, in the same cells."""


MARGINS: tuple[Margin, ...] = (
    Margin(
        id="retransmitted_bytes_average",
        title="retransmitted bytes, average population",
        measure="retransmitted_bytes",
        population="average",
        limit=0.5,
        unit="pp",
        source="Dukkipati et al. 2010, §4.2",
        held_against="mixture",
    ),
    Margin(
        id="retransmitted_bytes_slow",
        title="retransmitted bytes, slow population",
        measure="retransmitted_bytes",
        population="slow",
        limit=1.0,
        unit="pp",
        source="Dukkipati et al. 2010, §4.2",
        held_against="mixture",
    ),
    Margin(
        id="responses_retransmitted_average",
        title="responses with any retransmission, average population",
        measure="responses_retransmitted",
        population="average",
        limit=0.2,
        unit="pp",
        source="Dukkipati et al. 2010, Table 7, all services",
        held_against="mixture",
    ),
    Margin(
        id="responses_retransmitted_slow",
        title="responses with any retransmission, slow population",
        measure="responses_retransmitted",
        population="slow",
        limit=2.3,
        unit="pp",
        source="Dukkipati et al. 2010, Table 7, Photos in the slow data centre",
        held_against="mixture",
    ),
    Margin(
        id="connections_initial_loss",
        title="connections with a loss inside the initial window",
        measure="connections_initial_loss",
        population="average",
        limit=5.0,
        unit="pp",
        source="RFC 9040, Appendix C.3; where the incumbent lies beyond it itself, the worsening that "
        "Dukkipati et al. 2010 accepted of the worst service in the average data centre (Table 7, Photos: "
        "11.14 against 10.38 %), which is ours",
        is_level=True,
        worsening_limit=0.76,
        held_against="mixture",
    ),
    Margin(
        id="page_time_p95",
        title="95th percentile of page time",
        measure="page_time_p95",
        population="average",
        limit=1.0,
        unit="%",
        source="ours",
        asked_in=("ordinary",),
    ),
    Margin(
        id="page_time_p99",
        title="99th percentile of page time",
        measure="page_time_p99",
        population="average",
        limit=2.3,
        unit="%",
        source="Dukkipati et al. 2010, Table 8",
        asked_in=("ordinary",),
        is_required=False,
    ),
    Margin(
        id="page_time_p999",
        title="99.9th percentile of page time",
        measure="page_time_p999",
        population="average",
        limit=4.0,
        unit="%",
        source="Dukkipati et al. 2010, Table 8",
        asked_in=("ordinary",),
        is_required=False,
    ),
    Margin(
        id="slow_mean",
        title="mean page time, slow population",
        measure="page_time_mean",
        population="slow",
        limit=0.5,
        unit="%",
        source="RFC 6928 §10 asks for no regression; a margin of zero would pass only on proven gain",
    ),
    Margin(
        id="competing_short_flows",
        title="time of short flows of others, of at most 3 segments",
        measure="short_flow_time",
        population="average",
        limit=3.0,
        unit="%",
        source="ours, near Dukkipati et al. 2010, Fig. 7; "
        "a window of 3 and one of 10 send such a flow at once",
        asked_in=("alone",),
    ),
    Margin(
        id="competing_bulk_flow",
        title="time of a competing bulk flow for the same bytes",
        measure="bulk_time",
        population="average",
        limit=5.5,
        unit="%",
        source="the FLD_TCP simulations of 2012",
        asked_in=("bulk",),
    ),
    Margin(
        id="probe_delay",
        title="95th percentile of a probe's delay, 50 packets a second",
        measure="probe_p95",
        population="average",
        limit=20.0,
        unit="ms",
        source="ours; RFC 6928 §12 asks for the evidence",
        asked_in=("idle",),
    ),
)


OWN_STEP: tuple[Margin, ...] = tuple(
    dataclasses.replace(
        margin,
        id=f"{margin.id}_own_step",
        title=f"{margin.title}, beyond what IW 10 added to IW 3",
        limit=0.0,
        source="ours: RFC 6928 accepted the step from 3 to 10; measured by the same replay in the same cells",
        is_required=False,
        over_step_from=3,
    )
    for margin in MARGINS
    if margin.measure in ("retransmitted_bytes", "responses_retransmitted")
)
"""Bounds that the replay calibrates itself, shown beside the paper's:
a replay's bursts may lose more than production did."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unmeasured:
    """A known harm that no cell of this edition measures."""

    id: str
    title: str
    bound: str
    source: str
    needs: str


UNMEASURED: tuple[Unmeasured, ...] = (
    Unmeasured(
        "worst_application",
        "retransmitted bytes of the worst application (6 connections to each of 2 hosts)",
        "+0.9 pp average, +1.85 pp slow",
        "Dukkipati et al. 2010, Table 7, Maps",
        "cells of a synthetic page of that shape",
    ),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Every choice that a recommendation depends on; the sensitivity analysis tries other values."""

    version: int = RULE_VERSION
    permanent_incumbent: int = 10
    """Window that harm is always compared with, so that bounds cannot ratchet from year to year."""
    congestion_control: str = "cubic"
    """Congestion control of the cells that decide."""
    worthwhile_percent: float = 1.0
    """Minimum for the lower bound of a gain."""
    confidence: float = 0.95
    """Confidence of the two-sided intervals whose ends are the bounds;
    each end is stricter than a one-sided 95 %."""
    replicates: int = 2000
    bootstrap_seed: int = 6928
    estimands: tuple[Estimand, ...] = ESTIMANDS
    margins: tuple[Margin, ...] = (*MARGINS, *OWN_STEP)
    has_queues_in_population: bool = False
    """True if the population's networks have queues of their own kinds:
    the ordinary cells are the mixture of queues then."""
    rare_pages: int = 10
    """Fewest pages with an event whose spread shows how large an event is; below,
    Clopper and Pearson's bound. Ours."""
    aa_tolerance_percent: float = 0.3
    """Least tolerance of the permanent incumbent's difference from itself;
    a wider half interval of a gain is the tolerance."""
    asks_for_alias: bool = True
    """True if the permanent incumbent must also equal itself by another route, in other guests,
    in another order."""
    minimum_pages: int = 20
    """Smallest sample of pages whose spread a bootstrap can estimate. Ours."""
    windows_in_use: int = 30
    """Second baseline, shown beside the first: the median window of content networks (CDN Planet, February
    2017: 10, 10, 14, 25, 30, 32, 44, 46, 66)."""
    minimum_coverage_percent: float = 95.0
    """Minimum percentage of planned cells that are done. Ours."""
    maximum_half_width_pp: float = 2.0
    """Widest half interval of a gain that straddles the worthwhile bound. Ours."""
    harm_conditions: tuple[HarmCondition, ...] = HARM_CONDITIONS
    counts_beyond_core: bool = False
    """True if conditions outside the core set decide too."""
    quantile_loads: int = 10
    """Minimum number of loads beyond an estimated quantile. Ours."""
    rfc9040_step: int = 2
    """Segments by which RFC 9040's automatic window may grow in a calendar year."""

    @property
    def deciding_conditions(self) -> tuple[HarmCondition, ...]:
        """The harm conditions of which the worst decides, along with the ordinary cells."""
        return tuple(one for one in self.harm_conditions if one.is_core or self.counts_beyond_core)


RULE = Rule()

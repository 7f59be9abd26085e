"""Analysis of a replay: its loads paired, summarised by window, and decided upon."""

import dataclasses
from collections.abc import Mapping

import pyarrow as pa

from releases.ranks import Rank, ranks_of
from replay.runs.conditions import Conditions
from reports.document.replay_summary import WindowResult, summarise
from reports.inputs.errors import ReportError
from reports.inputs.replays import Replay, weights_of
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.estimates import Estimates, estimates_of
from reports.recommendation.inputs import End
from reports.recommendation.ledger import CHOICES, Entry, Sample, ledger
from reports.recommendation.ledger_samples import SensitivityCells
from reports.recommendation.mixture import queues_are_mixed
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import RULE, Rule
from reports.recommendation.sensitivity import Variant, sensitivity
from reports.recommendation.strata import StratumGain, gains_by_stratum
from reports.statistics.arithmetic import DocumentTime, document_times
from reports.statistics.paired_loads import PairedLoads, pair_loads


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayAnalysis:
    """Results of a replay, and the rule's recommendation."""

    replay: Replay
    rule: Rule
    loads: PairedLoads
    harm_loads: Mapping[str, PairedLoads]
    """Loads of the replayed harm conditions by id."""
    results: list[WindowResult]
    document_times: list[DocumentTime]
    recommendation: Recommendation
    sensitivity: list[tuple[Variant, Recommendation]]
    strata: list[StratumGain]
    """Gains by the popularity of pages; empty where ranks are not known."""
    estimates: Estimates
    """What the recommendation rests on."""


def analyse(inputs: ReportInputs, replay: Replay, *, rule: Rule = RULE) -> ReplayAnalysis:
    """Pair and summarise the replay's cells, and decide on them by `rule`; raises ReportError."""
    rule = dataclasses.replace(
        rule, has_queues_in_population=queues_are_mixed(one.get("queue_bytes") for one in replay.profiles)
    )
    cells = replay.own_cells
    loads = pair_loads(cells, congestion_control=rule.congestion_control, networks=replay.profiles)
    if not loads.pages:
        raise ReportError(
            f"the replay has no cell with {rule.congestion_control} under the default conditions; run "
            f"`firstflight replay run --crawl {inputs.release.crawl}`"
        )
    harm_loads = _harm_loads(cells, replay, rule)
    estimates = estimates_of(
        _under(Conditions(), cells, replay, rule),
        replay.population_weights,
        rule=rule,
        last_years=inputs.last_years_iw,
        harm_loads=harm_loads,
        alias_loads=_under(Conditions(alias=True), cells, replay, rule),
    )
    places = {profile["id"]: place for place, profile in enumerate(replay.profiles)}

    def place(one: WindowResult | DocumentTime) -> int:
        return places.get(one.profile, len(places))

    times = document_times(inputs.release, cells, replay.profiles, congestion_control=rule.congestion_control)
    answer = decide(estimates, rule=rule)
    varied = sensitivity(estimates, rule=rule)
    return ReplayAnalysis(
        replay=replay,
        rule=rule,
        loads=loads,
        harm_loads=harm_loads,
        results=sorted(summarise(loads, incumbent=estimates.incumbent, rule=rule), key=place),
        document_times=sorted(times, key=place),
        recommendation=answer,
        sensitivity=varied,
        strata=gains_by_stratum(
            loads,
            _ranks(inputs, cells),
            replay.population_weights["average"],
            incumbent=estimates.incumbent,
            rule=rule,
        ),
        estimates=estimates,
    )


def ledger_of(found: ReplayAnalysis, *, window: int | None, is_beside: bool = False) -> list[Entry]:
    """Every input that could turn the answer, with the answer and the gain of
    `window` at the ends of its range.

    The ledger of a replay that stands beside stages has no choice of the rule, for those are applied to the
    stages; without loads under harm conditions it takes the harm of ordinary loads alone, at the ends as with
    nothing changed.
    """
    has_conditions = found.harm_loads or not is_beside
    return ledger(
        found.estimates,
        found.recommendation,
        found.sensitivity,
        *_ends(found.replay, found.rule),
        window=window,
        rule=found.rule if has_conditions else dataclasses.replace(found.rule, harm_conditions=()),
        choices=() if is_beside else CHOICES,
    )


def _harm_loads(cells: pa.Table, replay: Replay, rule: Rule) -> dict[str, PairedLoads]:
    """The loads of each harm condition that was replayed."""
    under = {one.id: _under(one.conditions, cells, replay, rule) for one in rule.harm_conditions}
    return {name: loads for name, loads in under.items() if loads.pages}


def _ends(replay: Replay, rule: Rule) -> tuple[dict[End, Sample], Sample | None]:
    """The loads at the ends of inputs, and those of the same pages with nothing changed."""
    cells = SensitivityCells(
        cells=replay.cells,
        networks=replay.profiles,
        weights=replay.population_weights,
        weights_at={name: weights_of(some) for name, some in replay.sensitivity_populations.items()},
        congestion_control=rule.congestion_control,
    )
    ends = cells.at_ends()
    return ends, cells.at_default(ends)


def _ranks(inputs: ReportInputs, cells: pa.Table) -> dict[str, Rank]:
    """Ranks of the replayed pages by host; empty where they are not known."""
    hosts = dict(zip(cells["visit_id"].to_pylist(), cells["page"].to_pylist(), strict=True))
    return {hosts[visit]: rank for visit, rank in ranks_of(inputs.release).items() if visit in hosts}


def _under(conditions: Conditions, cells: pa.Table, replay: Replay, rule: Rule) -> PairedLoads:
    """The loads under these conditions, at paced windows too."""
    return pair_loads(
        cells,
        congestion_control=rule.congestion_control,
        conditions=conditions,
        networks=replay.profiles,
        with_paced=True,
    )

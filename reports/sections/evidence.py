"""The loads behind a report's sections, as draws of a page over a network at several windows,
however they were replayed."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from releases.interval import Interval
from reports.decision.draws import Draws, Frame, known
from reports.decision.weighted_sample import weighted_sample
from reports.recommendation.rule import Role, Rule
from reports.statistics.bootstrap import Floats
from reports.statistics.paired_loads import PairedLoads

POPULATIONS: dict[Role, str] = {"average": "all networks", "slow": "slowest tenth"}
"""Names of the populations of networks in figures, by role."""

TOO_FEW = "too few loads to tell"
"""Reading of an interval that holds values on either side of a limit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Draws by condition, with the networks and their weights."""

    draws: Mapping[str, Draws]
    """By condition; "ordinary" are the loads that gains are measured in."""
    visits: tuple[int, ...]
    """Visit ids of the frame's pages, in its order."""
    networks: tuple[Mapping[str, Any], ...]
    """Facts of the frame's networks, in its order."""
    weights: Mapping[Role, Floats]
    """Weights of the networks by role."""
    rule: Rule
    incumbent: int
    windows: tuple[int, ...]
    """Candidates besides the incumbent."""
    source: str
    query: str

    @property
    def well_known(self) -> tuple[int, ...]:
        """Candidates with a tenth of the incumbent's ordinary loads at least: of fewer,
        parts of the networks tell nothing. Ours."""
        draws = self.draws["ordinary"]
        loads = {
            window: np.isfinite(draws.at("page_ms", window)).sum()
            for window in (*self.windows, self.incumbent)
        }
        return tuple(window for window in self.windows if 10 * loads[window] >= loads[self.incumbent])


def draws_of_loads(loads: PairedLoads) -> Draws:
    """Every page, network and seed of a whole replay as a draw; pages are numbered as they come.

    No draw has a second load of the incumbent: its seeds are draws of their own.
    """
    pages, networks, seeds = np.nonzero(np.isfinite(loads.values["page_ms"]).any(axis=2))
    frame = Frame(pages=tuple(range(len(loads.pages))), networks=loads.profiles, down_bps=loads.down_bps)
    return Draws(
        frame=frame,
        pages=pages,
        networks=networks,
        windows=loads.windows,
        values={name: array[pages, networks, :, seeds] for name, array in loads.values.items()},
        again={name: np.full(len(pages), np.nan) for name in loads.values},
    )


def on_pages(evidence: Evidence, visits: Set[int]) -> Evidence:
    """The evidence of some pages alone, in its ordinary loads."""
    draws = evidence.draws["ordinary"]
    is_there = np.array([visit in visits for visit in evidence.visits], dtype=np.bool_)
    kept = is_there[draws.pages]
    some = dataclasses.replace(
        draws,
        pages=draws.pages[kept],
        networks=draws.networks[kept],
        values={name: values[kept] for name, values in draws.values.items()},
        again={name: values[kept] for name, values in draws.again.items()},
    )
    return dataclasses.replace(evidence, draws={"ordinary": some})


def mean_of(
    draws: Draws,
    weights: Floats,
    rule: Rule,
    columns: tuple[Floats, ...],
    value: Callable[..., Floats],
) -> Interval | None:
    """Mean of `value` of some columns [draw] over pages and weighted networks, with its 95 % interval.

    None with too few pages, or where a network has too few draws.
    """
    mask = known(columns)
    sample = weighted_sample(draws, mask, weights, least_pages=rule.minimum_pages)
    if sample is None:
        return None
    kept = mask & (weights[draws.networks] > 0)
    values = value(*(one[kept] for one in columns))
    return sample.measured(values, sample.mean(values), 0.0).interval


def saved_percent(evidence: Evidence, window: int, weights: Floats) -> Interval | None:
    """Page time saved against the incumbent on the networks with `weights`, from the mean log ratio."""
    draws = evidence.draws["ordinary"]
    times = (draws.at("page_ms", window), draws.at("page_ms", evidence.incumbent))
    return shorter_percent(draws, weights, evidence.rule, times)


def shorter_percent(
    draws: Draws, weights: Floats, rule: Rule, times: tuple[Floats, Floats]
) -> Interval | None:
    """How much shorter the first times [draw] are than the second, in percent, from the mean log ratio."""
    ratio = mean_of(draws, weights, rule, times, lambda mine, others: np.log(mine / others))
    if ratio is None:
        return None
    return Interval(*(-100 * float(np.expm1(end)) for end in (ratio.estimate, ratio.upper, ratio.lower)))


def saved_ms(evidence: Evidence, window: int, weights: Floats) -> Interval | None:
    """Mean page time saved against the incumbent, in milliseconds."""
    draws = evidence.draws["ordinary"]
    times = (draws.at("page_ms", window), draws.at("page_ms", evidence.incumbent))
    return mean_of(draws, weights, evidence.rule, times, lambda mine, others: others - mine)


def level_percent(evidence: Evidence, part: str, whole: str, window: int, weights: Floats) -> Interval | None:
    """Mean over pages of a share of a load at a window, in percent."""
    draws = evidence.draws["ordinary"]
    counts, totals = draws.at(part, window), draws.at(whole, window)
    totals = np.where(totals > 0, totals, np.nan)
    return mean_of(draws, weights, evidence.rule, (counts, totals), lambda some, all_of: 100 * some / all_of)


def more_sent_again(evidence: Evidence, window: int, weights: Floats) -> Interval | None:
    """Payload sent again as a share of a load's payload, at a window less at the incumbent:
    mean in percentage points."""
    draws = evidence.draws["ordinary"]
    shares = []
    for at in (window, evidence.incumbent):
        payload = draws.at("payload_bytes", at)
        shares.append(100 * draws.at("bytes_retransmitted", at) / np.where(payload > 0, payload, np.nan))
    return mean_of(draws, weights, evidence.rule, tuple(shares), lambda mine, others: mine - others)


def more_saved(mine: Evidence, others: Evidence, window: int) -> Interval | None:
    """How much more page time a window saves in one arm of a replay than in another,
    in percentage points over all networks.

    Each arm is compared with its own incumbent; None with too few draws that both have.
    """
    their_places = {key: place for place, key in enumerate(keys(others))}
    places = [their_places.get(key, -1) for key in keys(mine)]
    theirs = [
        np.where(np.array(places) < 0, np.nan, others.draws["ordinary"].at("page_ms", one)[places])
        for one in (window, others.incumbent)
    ]
    own = [mine.draws["ordinary"].at("page_ms", one) for one in (window, mine.incumbent)]
    columns = (*own, *theirs)
    weights = mine.weights["average"]
    ratio = mean_of(mine.draws["ordinary"], weights, mine.rule, columns, difference)
    base = mean_of(mine.draws["ordinary"], weights, mine.rule, columns, of_others)
    if ratio is None or base is None:
        return None
    whole = 100 * math.exp(base.estimate)
    return Interval(*(-whole * math.expm1(end) for end in (ratio.estimate, ratio.upper, ratio.lower)))


def difference(at: Floats, before: Floats, their_at: Floats, their_before: Floats) -> Floats:
    """The log ratio of page times in one arm less that in the other."""
    found: Floats = np.log(at / before) - np.log(their_at / their_before)
    return found


def of_others(_at: Floats, _before: Floats, their_at: Floats, their_before: Floats) -> Floats:
    """The log ratio of page times in the other arm."""
    found: Floats = np.log(their_at / their_before)
    return found


def keys(evidence: Evidence) -> list[tuple[int, str, int]]:
    """Visit, network and number among those of the two of each ordinary draw, in their order."""
    draws = evidence.draws["ordinary"]
    counts: dict[tuple[int, str], int] = {}
    found = []
    for page, network in zip(draws.pages.tolist(), draws.networks.tolist(), strict=True):
        where = evidence.visits[page], draws.frame.networks[network]
        counts[where] = counts.get(where, 0) + 1
        found.append((*where, counts[where]))
    return found

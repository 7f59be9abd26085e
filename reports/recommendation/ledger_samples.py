"""Loads of a sensitivity replay at the ends of the inputs, and those of the same pages without a change."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.runs.conditions import Conditions
from replay.runs.initial_window import is_paced
from reports.recommendation.inputs import ENDS, End
from reports.recommendation.ledger import Sample, Weights
from reports.statistics.paired_loads import pair_loads


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SensitivityCells:
    """The cells of a replay that has loads at the ends of inputs."""

    cells: pa.Table
    networks: Sequence[Mapping[str, Any]]
    """Profiles from replay.json."""
    weights: Weights
    """The replay's own populations."""
    weights_at: Mapping[str, Weights]
    """Populations at the ends of inputs, by what an end adds to a population's id."""
    congestion_control: str

    def at_ends(self) -> dict[End, Sample]:
        """The loads at each end that was replayed."""
        there = [end for end in ENDS if not end.population or end.population in self.weights_at]
        found = {
            end: self._under(end.conditions, self.weights_at.get(end.population, self.weights))
            for end in there
        }
        return {end: one for end, one in found.items() if one.loads.pages}

    def at_default(self, ends: Mapping[End, Sample]) -> Sample | None:
        """The loads without a change of the pages and seeds that were replayed at the ends.

        None without an end.
        """
        if not ends:
            return None
        pages = sorted({page for one in ends.values() for page in one.loads.pages})
        seeds = min(one.loads.seeds for one in ends.values())
        windows = {window for one in ends.values() for window in one.loads.windows}
        bursts, paced = ([int(one) for one in windows if is_paced(one) == which] for which in (False, True))
        some = self.cells.filter(
            pc.field("page").isin(pages)
            & (pc.field("seed") <= seeds)
            & pc.if_else(pc.field("pacing"), pc.field("iw").isin(paced), pc.field("iw").isin(bursts))
        )
        found = dataclasses.replace(self, cells=some)._under(Conditions(), self.weights)
        return found if found.loads.pages else None

    def _under(self, conditions: Conditions, weights: Weights) -> Sample:
        names = pa.array(sorted({name for some in weights.values() for name in some}), pa.string())
        # Only an end that names another congestion control than the default changes it.
        changed = conditions.congestion_control != Conditions().congestion_control
        loads = pair_loads(
            self.cells.filter(pc.field("profile").isin(names)),
            congestion_control=conditions.congestion_control if changed else self.congestion_control,
            conditions=conditions,
            networks=self.networks,
            with_paced=True,
        )
        return Sample(loads=loads, weights=weights)

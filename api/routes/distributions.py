"""Distributions of a release as the API and the pages show them: shares that fit, quantiles and thinned CDFs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from api.stored.held_cdfs import HeldCdf, Points
from releases.cdf import Fit
from schema.computed_tables import MEASURES

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """The distribution of one measure of one release."""

    measure: str
    known: int
    unknown: int
    fits: tuple[Fit, ...]
    quantiles: tuple[tuple[int, int], ...]
    """(percent, size in bytes) for each of PERCENTS; empty if no size is known."""
    points: Points

    @property
    def definition(self) -> str:
        """Definition of the measure."""
        return MEASURES[self.measure]


def distributions(
    held: Mapping[str, HeldCdf], *, measures: Sequence[str], windows: Sequence[int], mss: int, points: int
) -> list[Distribution]:
    """The `measures` of a release compared with `windows` of full segments."""
    return [
        Distribution(
            measure=name,
            known=held[name].cdf.known,
            unknown=held[name].cdf.unknown,
            fits=tuple(held[name].cdf.fit(iw, mss=mss) for iw in windows),
            quantiles=tuple((percent, held[name].cdf.quantile(percent)) for percent in PERCENTS)
            if held[name].cdf.known
            else (),
            points=held[name].points(points),
        )
        for name in measures
    ]

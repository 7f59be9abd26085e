"""Distributions of a release as the API and the pages show them: shares that fit, quantiles and intervals."""

import dataclasses
from collections.abc import Mapping, Sequence

from api.routes.answers import DistributionAnswer, FitAnswer, QuantileAnswer
from api.stored.open_releases import KeptSample
from releases.cdf import Fit
from releases.strata.sample import share_intervals
from releases.strata.statistics import FEW_SITES, NO_KNOWN_SIZE
from schema.computed_tables import MEASURES


def distributions(
    samples: Mapping[str, KeptSample], *, windows: Sequence[int], mss: int
) -> list[DistributionAnswer]:
    """The samples of a release's measures compared with `windows` of full segments; without points."""
    fits = {
        measure: [held.sample.cdf.fit(iw, mss=mss) for iw in windows] for measure, held in samples.items()
    }
    asked = {
        measure: (held.sample, [fit.count for fit in fits[measure]])
        for measure, held in samples.items()
        if held.sample.has_intervals
    }
    intervals = dict(zip(asked, share_intervals(list(asked.values())), strict=True))
    return [
        _distribution(measure, held, fits[measure], intervals.get(measure))
        for measure, held in samples.items()
    ]


def _distribution(
    measure: str, held: KeptSample, fits: Sequence[Fit], intervals: Sequence[tuple[float, float]] | None
) -> DistributionAnswer:
    sample = held.sample
    ends: Sequence[tuple[float | None, float | None]] = intervals or [(None, None)] * len(fits)
    return DistributionAnswer(
        measure=measure,
        definition=MEASURES[measure],
        known=sample.cdf.known,
        unknown=sample.cdf.unknown,
        sites=sample.sites,
        interval_unknown=None if sample.has_intervals else FEW_SITES if sample.sites else NO_KNOWN_SIZE,
        fits=[
            FitAnswer(**dataclasses.asdict(fit), lower=lower, upper=upper)
            for fit, (lower, upper) in zip(fits, ends, strict=True)
        ],
        quantiles=[
            QuantileAnswer(percent=percent, size_bytes=size, lower_bytes=lower, upper_bytes=upper)
            for percent, size, lower, upper in held.quantiles
        ],
        points=[],
    )

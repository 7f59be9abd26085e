"""Statistics of a distribution of sizes: the share that fits into a window, a quantile, or the mean."""

import dataclasses
from typing import Literal

from releases.cdf import Cdf
from releases.strata.bootstrap import LEAST_SITES
from releases.strata.sample import Sample

StatisticName = Literal["share", "quantile", "mean"]

NO_KNOWN_SIZE = "no size is known"
MOSTLY_UNKNOWN = "most sizes are unknown"
FEW_SITES = f"fewer than {LEAST_SITES} sites have an item, of which an interval would be too narrow"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A statistic with its confidence interval, as far as they are known."""

    value: float | None
    """A share from 0 to 1, or a value in the measure's unit; None if it is unknown."""
    value_unknown: str | None = None
    lower: float | None = None
    upper: float | None = None
    interval_unknown: str | None = None
    known: int = 0
    unknown: int = 0
    sites: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """What is asked of a distribution."""

    name: StatisticName
    iw: int
    mss: int
    percent: int

    def of(self, cdf: Cdf) -> float:
        if self.name == "share":
            return cdf.fit(self.iw, mss=self.mss).count / cdf.known
        return float(cdf.quantile(self.percent)) if self.name == "quantile" else cdf.mean

    def interval(self, sample: Sample) -> tuple[float, float]:
        if self.name == "share":
            (share,) = sample.shares_up_to([self.iw * self.mss])
            return share.lower, share.upper
        if self.name == "quantile":
            return sample.quantile_intervals([self.percent])[0]
        return sample.mean_interval()


def estimate(statistic: Statistic, sample: Sample) -> Estimate:
    cdf = sample.cdf
    why = None if cdf.is_stated else MOSTLY_UNKNOWN if cdf.known else NO_KNOWN_SIZE
    estimated = Estimate(
        value=statistic.of(cdf) if why is None else None,
        value_unknown=why,
        interval_unknown=why or (None if sample.has_intervals else FEW_SITES),
        known=cdf.known,
        unknown=cdf.unknown,
        sites=sample.sites,
    )
    if estimated.interval_unknown is not None:
        return estimated
    lower, upper = statistic.interval(sample)
    return dataclasses.replace(estimated, lower=lower, upper=upper)

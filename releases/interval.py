"""The type of an estimate with its confidence interval."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its confidence interval."""

    estimate: float
    lower: float
    upper: float

    @property
    def excludes_zero(self) -> bool:
        """True if the interval tells the sign: only then a difference is stated as one."""
        return self.lower > 0 or self.upper < 0

    def __neg__(self) -> Interval:
        """Return the interval of the estimate with its sign changed."""
        return Interval(-self.estimate, -self.upper, -self.lower)

    def times(self, factor: float) -> Interval:
        """Return the interval in another unit, by a positive factor."""
        return Interval(factor * self.estimate, factor * self.lower, factor * self.upper)

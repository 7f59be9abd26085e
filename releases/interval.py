"""An estimate with its confidence interval."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the two ends of its confidence interval."""

    estimate: float
    lower: float
    upper: float

"""What a reproduction amounts to: published values beside ours, and checks with bounds that were fixed before."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in a figure."""

    panel: str
    series: str
    x: str
    """On an axis of names, in the order of the rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One value."""

    what: str
    unit: str
    published: float | None
    """None where the source prints none: then ours stands alone."""
    ours: float
    place: Place | None = None
    """None for what is in no figure."""

    @property
    def difference(self) -> float | None:
        """Ours over the published value, less 1; None without one, or beside a zero."""
        return self.ours / self.published - 1 if self.published else None

    def to_dict(self) -> dict[str, Any]:
        """With the difference."""
        return {**dataclasses.asdict(self), "difference": self.difference}


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """One demand on the rows."""

    what: str
    measured: float
    bound: float
    at_most: bool = True
    """Whether `bound` is the most that is allowed; otherwise the least."""

    @property
    def passed(self) -> bool:
        """Within the bound."""
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound

    def to_dict(self) -> dict[str, Any]:
        """With the outcome."""
        return {**dataclasses.asdict(self), "passed": self.passed}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduction:
    """One published result and what came of it."""

    # Stable: named on the command line and in the documents.
    id: str
    title: str
    source: str
    method: str
    rows: tuple[Row, ...]
    criteria: tuple[Criterion, ...]
    defects: tuple[str, ...] = ()
    """What is known to be wrong, or not said, in the original or in our reading of it."""

    @property
    def reproduced(self) -> bool:
        """Every check passed; without one there is no verdict to be had."""
        return bool(self.criteria) and all(criterion.passed for criterion in self.criteria)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "method": self.method,
            "reproduced": self.reproduced,
            "checks": [criterion.to_dict() for criterion in self.criteria],
            "rows": [row.to_dict() for row in self.rows],
            "defects": list(self.defects),
        }


def errors(rows: Sequence[Row]) -> list[float]:
    """Absolute relative differences of the rows that have one, ascending."""
    return sorted(abs(row.difference) for row in rows if row.difference is not None)


def error_criteria(
    rows: Sequence[Row], *, what: str, median: float, p90: float
) -> tuple[Criterion, Criterion]:
    """Bounds on the median and on the 90th percentile (inclusive, linear) of the relative error."""
    found = errors(rows)
    return (
        Criterion(what=f"{what}: median relative error", measured=statistics.median(found), bound=median),
        Criterion(
            what=f"{what}: its 90th percentile",
            measured=statistics.quantiles(found, n=10, method="inclusive")[8],
            bound=p90,
        ),
    )


def spearman(ours: Sequence[float], published: Sequence[float]) -> float:
    """Spearman's rank correlation, ties at their mean rank.

    >>> spearman([1, 2, 3], [10, 20, 30]), spearman([1, 2, 3], [30, 20, 10])
    (1.0, -1.0)
    """
    return statistics.correlation(ranks(ours), ranks(published))


def ranks(values: Sequence[float]) -> list[float]:
    """Places in ascending order, from 1; equal values share the mean of theirs.

    >>> ranks([7, 3, 7])
    [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]

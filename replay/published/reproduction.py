"""A reproduction: published values beside ours, and criteria whose bounds were fixed in advance."""

import dataclasses
import json
import statistics
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class FigurePlace:
    """The place of a value in a figure."""

    panel: str
    series: str
    x: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedValue:
    """A published value and ours."""

    what: str
    unit: str
    ours: float
    published: float | None = None
    place: FigurePlace | None = None

    @property
    def difference(self) -> float | None:
        """Relative difference; None without a published value, or at 0."""
        return self.ours / self.published - 1 if self.published else None

    def to_dict(self) -> dict[str, object]:
        return {**dataclasses.asdict(self), "difference": self.difference}


@dataclass(frozen=True, slots=True)
class Criterion:
    """A bound that a measured value must keep."""

    what: str
    measured: float
    bound: float
    at_most: bool
    """True if `bound` is the maximum; False: the minimum."""

    @property
    def passed(self) -> bool:
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound

    def to_dict(self) -> dict[str, object]:
        return {**dataclasses.asdict(self), "passed": self.passed}


def at_most(what: str, measured: float, bound: float) -> Criterion:
    return Criterion(what, measured, bound, at_most=True)


def at_least(what: str, measured: float, bound: float) -> Criterion:
    return Criterion(what, measured, bound, at_most=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduction:
    """A published result measured again."""

    # Stable: named on the command line and in the documents.
    id: str
    title: str
    source: str
    method: str
    rows: tuple[ComparedValue, ...]
    criteria: tuple[Criterion, ...]
    reading: str
    """A paragraph: what the comparison shows, and why it differs."""

    @property
    def reproduced(self) -> bool:
        return bool(self.criteria) and all(criterion.passed for criterion in self.criteria)

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "method": self.method,
            "reproduced": self.reproduced,
            "checks": [criterion.to_dict() for criterion in self.criteria],
            "rows": [row.to_dict() for row in self.rows],
            "reading": self.reading,
        }


ORACLES = Path(__file__).with_name("oracles")


def read_oracle(name: str) -> dict[str, Any]:
    oracle: dict[str, Any] = json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))
    return oracle


TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
"""Texts of each reproduction; names in braces stand for values."""


def make_reproduction(
    name: str,
    constants: Mapping[str, object],
    *,
    source: str,
    rows: Iterable[ComparedValue],
    criteria: Iterable[Criterion],
    **values: object,
) -> Reproduction:
    """Return a reproduction with its texts, whose names are of `values` or of `constants`."""
    texts = {field: text.format_map({**constants, **values}) for field, text in TEXTS[name].items()}
    return Reproduction(id=name, source=source, rows=tuple(rows), criteria=tuple(criteria), **texts)


def errors(rows: Sequence[ComparedValue]) -> list[float]:
    """Return absolute relative differences, ascending, where there is a published value."""
    return sorted(abs(row.difference) for row in rows if row.difference is not None)


FACTOR = 2.0
"""Largest factor between a published effect and ours.

Ours, as for Baidu's gains and the back-cast.
"""


def beyond_factor(pairs: Iterable[tuple[float, float]]) -> int:
    """Return the values, of ours and published, that differ by more than FACTOR, or in sign.

    >>> beyond_factor([(10, 20), (10, 21), (40, 20), (41, 20), (-5, -6), (5, -6)])
    3
    """
    return sum(not 1 / FACTOR <= ours / published <= FACTOR for ours, published in pairs)


def error_criteria(
    rows: Sequence[ComparedValue], *, what: str, median: float, p90: float
) -> tuple[Criterion, Criterion]:
    """Return criteria for the median and the 90th percentile (inclusive, linear) of the relative error."""
    ascending = errors(rows)
    ninetieth = statistics.quantiles(ascending, n=10, method="inclusive")[8]
    return (
        at_most(f"{what}: median relative error", statistics.median(ascending), median),
        at_most(f"{what}: its 90th percentile", ninetieth, p90),
    )


def spearman(ours: Sequence[float], published: Sequence[float]) -> float:
    """Return Spearman's rank correlation; ties have their mean rank.

    >>> spearman([1, 2, 3], [10, 20, 30]), spearman([1, 2, 3], [30, 20, 10])
    (1.0, -1.0)
    """
    return statistics.correlation(ranks(ours), ranks(published))


def ranks(values: Sequence[float]) -> list[float]:
    """Return ascending ranks from 1; equal values share their mean.

    >>> ranks([7, 3, 7])
    [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]

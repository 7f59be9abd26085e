"""The type of an estimate with its confidence interval."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import CoreSchema


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

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:  # noqa: ANN401
        """Read and write what is unknown, and an end without bound, as null wherever pydantic does so."""
        from pydantic_core import core_schema  # a crawler does without it

        number = core_schema.typed_dict_field(core_schema.nullable_schema(core_schema.float_schema()))
        ends = core_schema.typed_dict_schema(
            {field.name: number for field in dataclasses.fields(cls)}, extra_behavior="forbid"
        )
        unknown = {"estimate": math.nan, "lower": -math.inf, "upper": math.inf}

        def read(values: dict[str, float | None]) -> Interval:
            return cls(**{name: unknown[name] if value is None else value for name, value in values.items()})

        def write(interval: Interval) -> dict[str, float | None]:
            values = dataclasses.asdict(interval)
            return {name: value if math.isfinite(value) else None for name, value in values.items()}

        return core_schema.no_info_after_validator_function(
            read,
            ends,
            serialization=core_schema.plain_serializer_function_ser_schema(write, return_schema=ends),
        )

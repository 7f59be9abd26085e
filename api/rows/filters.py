"""Filters by column: which there are follows from the column's type in the dictionary."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import AwareDatetime, Field

from api.http.choices import SEVERAL
from schema.vocabulary import CLOSED

MOST_VALUES = 100

LONGEST_TEXT = 2048

WITH_COMMAS = frozenset({"path", "mime_type", "content_encoding", "error", "failure"})
"""Columns whose values may have a comma, which separates nothing."""

AT_LEAST, AT_MOST, IS_NULL = "_at_least", "_at_most", "_is_null"
"""Suffixes of filters; the name alone is equality."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """A filter as a parameter of a request."""

    name: str
    column: str
    condition: str
    """SQL after the column, with `?`; IN takes as many as there are values."""
    annotation: Any
    description: str

    @property
    def is_list(self) -> bool:
        return self.condition == IN

    def bound(self, column: str, value: Any) -> tuple[str, list[Any]]:  # noqa: ANN401
        """SQL over an expression, and values to bind."""
        if self.is_list:
            return f"{column} IN ({', '.join('?' * len(value))})", list(value)
        return f"({column} {self.condition})", [value]


IN = "IN"


def value_type(kind: pa.DataType) -> Any:  # noqa: ANN401  # a type expression
    """A column's Python type with bounds; None for lists."""
    if pa.types.is_integer(kind):
        most = 2 ** (kind.bit_width - 1)
        return Annotated[int, Field(ge=-most, le=most - 1)]
    if pa.types.is_timestamp(kind):
        return AwareDatetime
    if pa.types.is_list(kind):
        return None
    if pa.types.is_string(kind):
        return Annotated[str, Field(max_length=LONGEST_TEXT)]
    return {pa.bool_(): bool, pa.float64(): Annotated[float, Field(allow_inf_nan=False)]}[kind]


def row_fields(schema: pa.Schema, names: Sequence[str], **field: Any) -> dict[str, Any]:  # noqa: ANN401
    """Fields of a model of rows, with their definitions; any value may be null."""
    return {
        name: (
            _plain_type(schema.field(name).type) | None,
            Field(description=(schema.field(name).metadata or {}).get(b"comment", b"").decode(), **field),
        )
        for name in names
    }


def _plain_type(kind: pa.DataType) -> Any:  # noqa: ANN401  # a type
    if pa.types.is_list(kind):
        return list[int]
    if pa.types.is_timestamp(kind):
        return datetime.datetime
    if pa.types.is_integer(kind):
        return int
    return {pa.bool_(): bool, pa.float64(): float, pa.string(): str}[kind]


def is_ordered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_timestamp(kind))


def parameters(schema: pa.Schema) -> dict[str, Parameter]:
    return {parameter.name: parameter for field in schema for parameter in _of(field)}


def _of(field: pa.Field) -> list[Parameter]:
    kind = Literal[tuple(CLOSED[field.name])] if field.name in CLOSED else value_type(field.type)
    comment = (field.metadata or {}).get(b"comment", b"").decode()

    def parameter(suffix: str, condition: str, annotation: Any, description: str) -> Parameter:  # noqa: ANN401
        return Parameter(
            name=f"{field.name}{suffix}",
            column=field.name,
            condition=condition,
            annotation=annotation,
            description=description,
        )

    offered = []
    if kind is not None:
        equal: Any = Annotated[list[kind], Field(min_length=1, max_length=MOST_VALUES)]  # type: ignore[valid-type]
        if field.name in WITH_COMMAS:
            description = "this value, or repeated any of several"
        else:
            equal, description = Annotated[equal, SEVERAL], "any of these values"
        offered.append(parameter("", IN, equal, f"{description}; {comment}"))
    if is_ordered(field.type):
        offered.append(parameter(AT_LEAST, ">= ?", kind, f"least {field.name}"))
        offered.append(parameter(AT_MOST, "<= ?", kind, f"most {field.name}"))
    if field.nullable:
        offered.append(parameter(IS_NULL, "IS NULL = ?", bool, f"true for rows without {field.name}"))
    return offered


Filters = tuple[tuple[Parameter, Any], ...]


def filters(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> Filters:
    return tuple(
        (parameter, values[name]) for name, parameter in known.items() if values.get(name) not in (None, [])
    )

"""Strata as choices of the explorer's form, whose empty fields choose nothing."""

import dataclasses
from typing import Annotated, get_args

from pydantic import BeforeValidator

from api.routes.strata import (
    Asked,
    PageKind,
    PageKindQuery,
    Party,
    PartyQuery,
    ProtocolQuery,
    RankQuery,
    RankStratum,
    TypeQuery,
    asked,
)
from releases.formatting import grouped
from releases.strata.items import LEAST_STRATUM
from releases.strata.sample import DIMENSION_LABELS
from schema.vocabulary import VALUE_LABELS


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A field of the form, which chooses a value of one dimension of the strata."""

    name: str
    options: dict[str, str]
    is_always_chosen: bool = False

    @property
    def label(self) -> str:
        """The dimension, as people read it."""
        return DIMENSION_LABELS[self.name]


def ranks(stratum: str) -> str:
    """The ranks of a stratum.

    >>> ranks("1000"), ranks("10000").replace("\\u202f", " ")
    ('1 to 1\u202f000', '1 001 to 10 000')
    """
    last = int(stratum)
    return f"{grouped(1 if last == LEAST_STRATUM else last // 10 + 1)} to {grouped(last)}"


FIELDS = (
    Field(name="page_kind", options={kind: kind for kind in get_args(PageKind)}, is_always_chosen=True),
    Field(name="rank_stratum", options={stratum: ranks(stratum) for stratum in get_args(RankStratum)}),
    Field(name="protocol", options=VALUE_LABELS["protocol"]),
    Field(name="resource_type", options=VALUE_LABELS["resource_type"]),
    Field(name="party", options={party: party for party in get_args(Party)}),
)

Empty = BeforeValidator(lambda value: value or None)
"""An empty field of a form is none."""


async def chosen_stratum(
    page_kind: PageKindQuery = "home",
    rank_stratum: Annotated[RankQuery, Empty] = None,
    protocol: Annotated[ProtocolQuery, Empty] = None,
    resource_type: Annotated[TypeQuery, Empty] = None,
    party: Annotated[PartyQuery, Empty] = None,
) -> Asked:
    return await asked(page_kind, rank_stratum, protocol, resource_type, party)


def in_words(stratum: Asked) -> str:
    """The values that a stratum fixes; empty if it is every item of home pages."""
    fixed = stratum.parameters()
    return "; ".join(
        f"{field.label}: {field.options[str(fixed[field.name])]}" for field in FIELDS if field.name in fixed
    )

"""The stratum that a request asks for, the sample of it, why a release may not know it, and distributions of
samples: shares that fit, quantiles and intervals."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request

from api.http.problems import Problem
from api.routes.answers import DistributionAnswer, FitAnswer, QuantileAnswer
from api.service import service_of
from api.stored.open_releases import KeptSample
from api.stored.shelf import Version
from releases.cdf import Fit
from releases.strata.sample import DIMENSION_LABELS, WHOLE, Stratum, dimensions_of, share_intervals
from releases.strata.statistics import FEW_SITES, NO_KNOWN_SIZE
from schema.computed_tables import MEASURES
from schema.recorded import is_recorded
from schema.vocabulary import RESOURCE_TYPES

NO_WARM_LOADS = "every load of a crawl begins with an empty cache: no load was warm"
NO_RANKS = "the ranks of recorded pages are not known"


PageKind = Literal["home", "inner"]
RankStratum = Literal["1000", "10000", "100000", "1000000", "10000000", "100000000"]
Protocol = Literal["http/1.1", "h2", "h3"]
Party = Literal["first", "third"]

PageKindQuery = Annotated[
    PageKind, Query(description="home pages, which represent their sites, or inner pages")
]
RankQuery = Annotated[
    RankStratum | None,
    Query(description="sites of this stratum of ranks: 10000 is the ranks from 1,001 to 10,000"),
]
ProtocolQuery = Annotated[Protocol | None, Query(description="protocol of the response or connection")]
ResourceType: Any = Literal[tuple(RESOURCE_TYPES)]
TypeQuery = Annotated[
    ResourceType | None,
    Query(description="destination of the request"),
]
PartyQuery = Annotated[
    Party | None,
    Query(description="hosts of the page's registrable domain (first) or of others (third)"),
]
CacheQuery = Annotated[
    Literal["cold", "warm"], Query(description="loads with an empty cache, as all of a crawl are, or warm")
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What of a release's items a request asks for."""

    stratum: Stratum
    is_warm: bool

    @property
    def is_whole(self) -> bool:
        return self.stratum.is_whole and not self.is_warm

    def parameters(self) -> dict[str, str | int]:
        """The stratum as the answer repeats it."""
        fixed = {name: getattr(self.stratum, name) for name in self.stratum.fixed}
        return fixed | ({"cache": "warm"} if self.is_warm else {})

    def is_of(self, measure: str) -> bool:
        return set(self.stratum.fixed) <= set(dimensions_of(measure))

    def check(self, measure: str) -> None:
        for name in self.stratum.fixed:
            if name not in dimensions_of(measure):
                has = ", ".join(dimensions_of(measure))
                raise Problem("bad-parameter", f"{name}: the measure {measure} has {has}")

    def unknown_in(self, version: Version) -> str | None:
        """Why a release cannot know the stratum."""
        if self.is_warm:
            return NO_WARM_LOADS
        if self.stratum.rank_stratum is not None and is_recorded(version.crawl.kind):
            return NO_RANKS
        return None

    def lacking_in(self, measure: str) -> str | None:
        """Why a measure has no such stratum."""
        has = dimensions_of(measure)
        missing = [DIMENSION_LABELS[name] for name in self.stratum.fixed if name not in has]
        return f"an item of this measure has no {' and no '.join(missing)}" if missing else None

    def subject(self, request: Request, version: Version, measure: str) -> KeptSample:
        """A release's sample; Problem if it is damaged."""
        return service_of(request).releases.sample(version, measure, self.stratum)

    async def sample(self, request: Request, version: Version, measure: str) -> KeptSample:
        """The same, at once if it is in memory."""
        return await service_of(request).releases.sample_at_hand(version, measure, self.stratum)


async def asked(
    page_kind: PageKindQuery = "home",
    rank_stratum: RankQuery = None,
    protocol: ProtocolQuery = None,
    resource_type: TypeQuery = None,
    party: PartyQuery = None,
    cache: CacheQuery = "cold",
) -> Asked:
    # `async`, although nothing is awaited: FastAPI would call it in another thread,
    # which costs more than the rest of a request.
    stratum = Stratum(
        page_kind=page_kind,
        rank_stratum=None if rank_stratum is None else int(rank_stratum),
        protocol=protocol,
        resource_type=resource_type,
        party=party,
    )
    return Asked(stratum=stratum, is_warm=cache == "warm")


AskedStratum = Annotated[Asked, Depends(asked)]
EVERYTHING = Asked(stratum=WHOLE, is_warm=False)


def distributions(
    samples: Mapping[str, KeptSample], *, windows: Sequence[int], mss: int
) -> list[DistributionAnswer]:
    """Samples compared with `windows`, without points."""
    fits = {
        measure: [kept.sample.cdf.fit(iw, mss=mss) for iw in windows] for measure, kept in samples.items()
    }
    asked = {
        measure: (kept.sample, [fit.count for fit in fits[measure]])
        for measure, kept in samples.items()
        if kept.sample.has_intervals
    }
    intervals = dict(zip(asked, share_intervals(list(asked.values())), strict=True))
    return [
        _distribution(measure, kept, fits[measure], intervals.get(measure))
        for measure, kept in samples.items()
    ]


def _distribution(
    measure: str, kept: KeptSample, fits: Sequence[Fit], intervals: Sequence[tuple[float, float]] | None
) -> DistributionAnswer:
    sample = kept.sample
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
            for percent, size, lower, upper in kept.quantiles
        ],
        points=[],
    )

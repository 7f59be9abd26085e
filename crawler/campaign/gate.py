"""Judges whether a crawl is good enough to be sealed: bounds on how its sites ended,
and a search for clustered failures."""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec import Meta
from sqlalchemy import Connection, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import aliased

from crawler.campaign.evenness import (
    EVENNESS,
    Excess,
    FirstVisit,
    Usual,
    find_excesses,
    find_unresolved_excesses,
)
from crawler.errors import DNSError
from schema.crawls import name_of
from schema.tables import Crawl, Site, Visit
from schema.vocabulary import ANSWERED, DISPUTED, NEVER_FINAL, OUR_FAULT, UNCONFIRMED
from storage.crawls import crawls
from storage.progress import Bound

LEAST = frozenset({"visited", "answered", "covered"})

UNRESOLVED = frozenset({DNSError.outcome})


class Bounds(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Minimum quality to seal a crawl; deliberately loose,
    to catch a crawl that failed and not a web that changed."""

    visited: Annotated[
        float, Meta(ge=0, le=1, description="Smallest share of the sites with a final visit.")
    ] = 1.0
    answered: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Smallest share of the visited sites whose page answered, if only with an error: if "
            "fewer did, the network was down.",
        ),
    ] = 0.5
    covered: Annotated[
        float,
        Meta(ge=0, le=1, description="Smallest share of the ok visits whose bytes are accounted for."),
    ] = 0.95
    our_fault: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Largest share of the final visits that ended by a fault of ours, names included "
            "that another resolver knows, or of which none told.",
        ),
    ] = 0.02
    unresolved: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Largest share of the visited sites whose name did not resolve. Ours: above the "
            "share of any list that we know of.",
        ),
    ] = 0.15
    uneven: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="False-positive rate of the search for failures that sites do not cause: windows of "
            "time, machines and processes whose sites failed twice as often as the rest, and by 15 points; "
            "names that resolve less than in other lanes or than in the crawl before of the same list; and "
            "names that resolve at a later attempt alone. 0 for no search.",
        ),
    ] = EVENNESS.chance


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ends:
    """Counts of how the sites of a crawl ended."""

    planned: int
    outcomes: dict[str, int]
    """Final visits by outcome, the most frequent first."""
    ok_known: int
    """Final visits that are ok and have a known coverage."""
    ok_covered: int
    disputed: int = 0
    """Final visits whose name did not resolve, although another resolver knows it, or none answered."""

    @property
    def visited(self) -> int:
        return sum(self.outcomes.values())

    @property
    def shares(self) -> dict[str, float | None]:
        """By the names of Bounds; None if the whole is 0."""
        return {
            "visited": _share(self.visited, self.planned),
            "answered": _share(self._count_outcomes(ANSWERED), self.visited),
            "covered": _share(self.ok_covered, self.ok_known),
            "our_fault": _share(self._count_outcomes(OUR_FAULT) + self.disputed, self.visited),
            "unresolved": _share(self._count_outcomes(UNRESOLVED), self.visited),
        }

    def _count_outcomes(self, wanted: frozenset[str]) -> int:
        return sum(number for outcome, number in self.outcomes.items() if outcome in wanted)


def count_ends(connection: Connection, crawl: Crawl) -> Ends:
    planned = connection.scalar(select(func.count()).where(Site.crawl_id == crawl.id))
    query = (
        select(
            Visit.outcome,
            func.count(),
            func.count(Visit.is_covered),
            func.count().filter(Visit.is_covered.is_(True)),
            func.count().filter(or_(Visit.error.endswith(DISPUTED), Visit.error.endswith(UNCONFIRMED))),
        )
        .where(Visit.crawl_id == crawl.id, Visit.is_final)
        .group_by(Visit.outcome)
        .order_by(func.count().desc(), Visit.outcome)
    )
    rows = connection.execute(query).all()
    known, covered = next(((known, good) for outcome, _, known, good, _ in rows if outcome == "ok"), (0, 0))
    return Ends(
        planned=planned or 0,
        outcomes={outcome: number for outcome, number, *_ in rows},
        ok_known=known,
        ok_covered=covered,
        disputed=sum(disputed for *_, disputed in rows),
    )


def find_clustered_failures(connection: Connection, crawl: Crawl, bounds: Bounds) -> list[Excess | str]:
    """Find failures in windows of time, on machines, in processes, and of names to resolve."""
    if not bounds.uneven:
        return []
    rule = dataclasses.replace(EVENNESS, chance=bounds.uneven)
    visits = list_first_visits(connection, crawl)
    return [
        *find_excesses(visits, rule),
        *find_unresolved_excesses(visits, count_usual_unresolved(connection, crawl), rule),
    ]


def count_usual_unresolved(connection: Connection, crawl: Crawl) -> Usual | None:
    """Count the unresolved names of the last sealed crawl of the same list before; None if there is none."""
    earlier = [
        (candidate.sealed_at, candidate.id, candidate)
        for candidate in crawls(connection)
        if candidate.sealed_at is not None
        and candidate.sealed_at < crawl.planned_at
        and candidate.kind == crawl.kind
        and candidate.list_id.partition(":")[0] == crawl.list_id.partition(":")[0]
        and candidate.top >= crawl.top
    ]
    if not earlier:
        return None
    *_, before = max(earlier)
    sites, unresolved = connection.execute(
        select(func.count(), func.count().filter(Visit.outcome.in_(UNRESOLVED))).where(
            Visit.crawl_id == before.id, Visit.is_final, Visit.rank <= crawl.top
        )
    ).one()
    return Usual(crawl=str(name_of(before)), sites=sites, unresolved=unresolved)


def list_first_visits(connection: Connection, crawl: Crawl) -> list[FirstVisit]:
    conclusive = Visit.outcome.not_in(NEVER_FINAL) & (Visit.load == 1) & (Visit.page_kind == "home")
    first = (
        select(Visit.rank, Visit.started_at, Visit.crawler_host, Visit.owner, Visit.outcome)
        .where(Visit.crawl_id == crawl.id, conclusive)
        .ext(distinct_on(Visit.rank))
        .order_by(Visit.rank, Visit.attempt)
        .subquery()
    )
    final = aliased(Visit)
    query = (
        select(first.c.started_at, first.c.crawler_host, first.c.owner, first.c.outcome, final.outcome)
        .join(final, final.rank == first.c.rank)
        .where(final.crawl_id == crawl.id, final.is_final)
    )
    return [
        FirstVisit(
            at=at,
            machine=machine or "",
            process=owner.rpartition("/")[0],
            failed=outcome not in ANSWERED,
            unresolved=outcome in UNRESOLVED,
            unresolved_first=at_first in UNRESOLVED,
        )
        for at, machine, owner, at_first, outcome in connection.execute(query)
    ]


def compare_bounds(ends: Ends, bounds: Bounds) -> tuple[Bound, ...]:
    return tuple(
        Bound(name=name, limit=getattr(bounds, name), is_least=name in LEAST, share=share)
        for name, share in ends.shares.items()
    )


def describe_broken_bounds(ends: Ends, bounds: Bounds, crowds: Iterable[Excess | str] = ()) -> Iterator[str]:
    shares = ends.shares
    for name, words in {
        "visited": "of the sites have a final visit",
        "answered": "of the visited sites answered",
        "covered": "of the visits that are ok have their bytes accounted for",
    }.items():
        share, least = shares[name], getattr(bounds, name)
        if share is None or share < least:
            yield f"{_percent(share)} {words}, and {_percent(least)} must"
    if (shares["our_fault"] or 0) > bounds.our_fault:
        yield (
            f"{_percent(shares['our_fault'])} of the visits ended by a fault of ours "
            f"({', '.join(sorted(OUR_FAULT))}, or a name that another resolver knows or none told of), "
            f"and {_percent(bounds.our_fault)} may"
        )
    if (shares["unresolved"] or 0) > bounds.unresolved:
        unresolved, most = _percent(shares["unresolved"]), _percent(bounds.unresolved)
        yield f"{unresolved} of the names did not resolve, and {most} may"
    yield from map(str, crowds)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> str:
    """Format a share, rounded down so that a single missing site shows.

    >>> _percent(0.99999999), _percent(1.0), _percent(None)
    ('99.9999 %', '100 %', 'none')
    """
    return "none" if share is None else f"{math.floor(share * 1e6) / 1e4:g} %"

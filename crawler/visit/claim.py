"""A claim: one crawler's right to visit a site, and the ids of the visit that it makes."""

import dataclasses

ATTEMPT_LIMIT = 1000
"""Attempts at one site, lost claims included: the ids of its visits end
before those of the next site begin."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A site that one browser may visit until the lease expires."""

    crawl_id: int
    rank: int
    host: str
    attempt: int
    """Number of the attempt, from 1; a visit that was lost with its crawler counts."""
    owner: str

    @property
    def visit_id(self) -> int:
        """Id of the visit, unique within the crawl without asking the database for one."""
        return self.rank * ATTEMPT_LIMIT + self.attempt

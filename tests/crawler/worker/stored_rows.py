"""Claims taken and rows read by the tests of what a crawl stores."""

from typing import Any

from sqlalchemy import Engine, text

from crawler.visit.attempt import Observation
from crawler.worker import claims
from crawler.worker.claims import Claim
from schema.tables import Crawl
from tests.factories.made_up_visits import observation


def select_row(engine: Engine, statement: str) -> dict[str, Any]:
    with engine.connect() as connection:
        return dict(connection.execute(text(statement)).one()._mapping)


def counts(engine: Engine) -> tuple[int, ...]:
    statement = ", ".join(
        f"(SELECT count(*) FROM {name}) AS {name}" for name in ("visit", "connection", "response")
    )
    return tuple(select_row(engine, f"SELECT {statement}").values())


def claim(engine: Engine, crawl: Crawl, owner: str = "me") -> Claim:
    ours = claims.claim_site(engine, crawl, owner=owner)
    assert ours is not None
    return ours


def store(
    engine: Engine, crawl: Crawl, *observations: Observation, owner: str = "me"
) -> list[claims.StoredVisit]:
    """Store a visit a claim, in the order of claims."""
    return [claims.store_visit(engine, crawl, claim(engine, crawl, owner), seen) for seen in observations]


def ask_to_wait(seconds: int) -> Observation:
    return observation("http_error", status=429, retry_after_s=seconds)

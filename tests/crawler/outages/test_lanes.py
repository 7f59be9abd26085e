"""Three lanes crawl a played Internet while their network is broken in every way;
no site's outcome changes."""

import json
import os
import secrets
from typing import Any

import pytest
from sqlalchemy import Engine, text

from tests.crawler.egress.world import NEIGHBOUR
from tests.crawler.namespaces import play
from tests.crawler.outages.lanes import FAULTS, SECOND_RESOLVER, names

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]

SITES = 36

WITHIN_S = 560


@pytest.fixture
def played(database_18: Engine) -> dict[str, Any]:
    """Run a crawl that nothing disturbs, and one with every fault at a random moment; the output has the
    seed."""
    seed = int(os.environ.get("FIRSTFLIGHT_TEST_SEED") or secrets.randbelow(1_000_000))
    print(f"FIRSTFLIGHT_TEST_SEED={seed}")
    order = {
        "database": database_18.url.set(drivername="postgresql").render_as_string(hide_password=False),
        "seed": seed,
        "sites": SITES,
        "attempts": 1,
        "budget_s": 12,
        "faults": os.environ.get("FAULTS", "").split() or list(FAULTS),
        "lasts_s": 15,
        "resolvers": SECOND_RESOLVER,
    }
    result = play("tests.crawler.outages.lanes", json.dumps(order), within_s=WITHIN_S)
    print(result["output"], result["broken"])
    return result


def finals(engine: Engine, vantage: str) -> dict[str, str]:
    with engine.connect() as connection:
        statement = (
            "SELECT host, outcome FROM visit JOIN crawl ON crawl_id = crawl.id "
            "WHERE is_final AND vantage = :vantage ORDER BY rank"
        )
        return {host: outcome for host, outcome in connection.execute(text(statement), {"vantage": vantage})}  # noqa: C416


@pytest.mark.outcomes("network_down")
def test_every_site_ends_as_in_a_crawl_that_nothing_disturbed(
    played: dict[str, Any], database_18: Engine
) -> None:
    known = names(SITES)
    wanted = {
        host: "dns" if host not in known else "blocked" if known[host] == [[NEIGHBOUR]] else "ok"
        for host in (f"s{n}.test" for n in range(1, SITES + 1))
    }
    assert finals(database_18, "calm") == wanted
    assert finals(database_18, "broken") == wanted
    assert sorted(played["broken"]) == sorted(FAULTS)
    assert "Traceback" not in played["output"]
    with database_18.connect() as connection:
        given_back = connection.scalar(text("SELECT count(*) FROM visit WHERE outcome = 'network_down'"))
    assert given_back
    assert "the network is back after" in played["output"]

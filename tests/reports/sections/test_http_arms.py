"""The same pages over HTTP/1.1 and over HTTP/2, replayed in the lab and told in a table and a figure."""

import dataclasses
from typing import Any

import pytest

from replay.recipes.http_version import HTTP1, HTTP2, over
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.conditions import Conditions
from replay.runs.run import replay
from reports.recommendation.rule import RULE
from reports.sections.arms import WholeReplay, by_http
from reports.sections.http_arms import NAMES, http_arms
from reports.sections.shape import COMPARED, Figure, Table
from tests.factories.lab_networks import FAST
from tests.replay.conftest import built_lab

OBJECTS = 24
"""Responses beside the document: each of six connections carries four."""


def page(number: int) -> Recipe:
    """A page of one host, larger the higher its number."""
    host = Origin(host="a.test", port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=80)
    document = Object(response_id=1, origin=0, parent=-1, response_bytes=4_000, is_document=True)
    others = tuple(
        Object(
            response_id=2 + at,
            origin=0,
            parent=0,
            response_bytes=3_000 + 300 * number,
            is_document=False,
        )
        for at in range(OBJECTS)
    )
    return Recipe(
        page=f"page{number:02}.test",
        visit_id=number,
        origins=(host,),
        objects=(document, *others),
        left_out=0,
    )


@pytest.fixture(scope="module")
def told() -> tuple[Figure, Table]:
    """What the report tells of twenty pages that were replayed over either version at IW 3, 10 and 30."""
    arms = [Conditions(http=version) for version in (HTTP1, HTTP2)]
    pages = [page(number) for number in range(1, RULE.minimum_pages + 1)]
    result = replay(built_lab(), plan(pages, [FAST], windows=(3, 10, 30), seeds=1, conditions=arms), guests=1)
    assert {row["reason"] for row in result.rows} == {None}
    weights = {FAST.id: 1.0}
    whole = WholeReplay(
        cells=result.table,
        profiles=[dataclasses.asdict(FAST)],
        populations={"average": weights, "slow": weights},
        harm_loads={},
        rule=RULE,
        incumbent=10,
    )
    return http_arms(by_http(whole, query="firstflight replay run --http h1,h2"))


def rows(table: Table, http: str) -> dict[str, Any]:
    return {row["window"]: row for row in table.rows if row["http"] == NAMES[http]}


@pytest.mark.lab
def test_over_http_1_a_page_has_six_connections_to_its_host_and_over_http_2_one(
    told: tuple[Figure, Table],
) -> None:
    for version, connections in ((HTTP1, 6), (HTTP2, 1)):
        found = rows(told[1], version)
        assert set(found) == {"IW 3", "IW 10", "IW 30"}
        for row in found.values():
            assert row["connections"]["estimate"] == pytest.approx(connections)


@pytest.mark.lab
def test_the_window_matters_more_to_one_connection_than_to_six(told: tuple[Figure, Table]) -> None:
    old, new = rows(told[1], HTTP1), rows(told[1], HTTP2)
    assert new["IW 3"]["saved"]["upper"] < old["IW 3"]["saved"]["lower"] < 0
    assert new["IW 30"]["saved"]["lower"] > old["IW 30"]["saved"]["upper"]
    assert new["IW 30"]["shorter"]["lower"] > new["IW 3"]["shorter"]["upper"]
    assert old["IW 10"]["saved"] == new["IW 10"]["saved"] == COMPARED
    assert {row["shorter"] for row in old.values()} == {COMPARED}


@pytest.mark.lab
def test_the_figure_has_page_times_at_each_window_by_version(told: tuple[Figure, Table]) -> None:
    figure, _ = told
    assert (figure.x, figure.y, figure.series) == ("window", "page_ms", "http")
    times = {(row["window"], row["http"]): row["page_ms"]["estimate"] for row in figure.rows}
    assert len(times) == 6
    old, new = NAMES[HTTP1], NAMES[HTTP2]
    assert times["IW 3", new] > times["IW 10", new] > times["IW 30", new]
    # Ten segments hold every response of these pages: over a connection for each, more gain nothing.
    assert times["IW 3", old] > times["IW 10", old] == pytest.approx(times["IW 30", old])


def test_a_host_without_tls_stays_on_http_1() -> None:
    secure = page(1)
    (host,) = secure.origins
    clear = dataclasses.replace(secure, origins=(dataclasses.replace(host, h2=False, tls_flight_bytes=0),))
    assert [one.h2 for one in over(secure, HTTP1).origins] == [False]
    assert [one.h2 for one in over(over(secure, HTTP1), HTTP2).origins] == [True]
    assert over(clear, HTTP2) == clear

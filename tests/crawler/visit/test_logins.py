"""A login is two responses, also where both come on one connection,
and the document behind it is the page's."""

from __future__ import annotations

import asyncio

import pytest

from crawler.visit.attempt import Observation
from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.crawler.visiting import visit_hosts
from tests.zoo.replies import answer, page, redirect_with_body
from tests.zoo.serving.server import ZooWeb

pytestmark = pytest.mark.browser

REFUSED = answer(b"n" * 3000, 'www-authenticate: Basic realm="r"', status=401)
ASKING = "<script>const x = new XMLHttpRequest; x.open('GET', '/in', true, 'user', 'pass'); x.send()</script>"


def locked(then: Handler) -> Handler:
    async def handle(request: ServedRequest, reply: Reply) -> None:
        await (then if "authorization" in request.headers else REFUSED)(request, reply)

    return handle


PLACES: dict[tuple[str, str], Handler] = {
    ("asking.test", "/"): page(ASKING),
    ("asking.test", "/in"): locked(answer(b"y" * 2000)),
    ("moving.test", "/"): redirect_with_body("//user:pw@member.test/in"),
    ("member.test", "/in"): locked(page("member" * 100)),
}


async def serve(request: ServedRequest, reply: Reply) -> None:
    await PLACES[request.host, request.path](request, reply)


def visited(host: str) -> Observation:
    web = ZooWeb(dict.fromkeys({place for place, _ in PLACES}, serve), protocol="h1")
    (observation,) = asyncio.run(visit_hosts(web, host))
    return observation


def test_a_refusal_and_the_answer_on_one_connection_are_two_responses() -> None:
    observations = visited("asking.test")
    rows = [
        (
            row["path"],
            row["position"],
            row["status"],
            row["wire_bytes"],
            row["body_bytes"],
            row["decoded_bytes"],
        )
        for row in observations.responses
        if row["path"] == "/in"
    ]
    assert rows == [("/in", 2, 401, 3086, 3000, 3000), ("/in", 3, 200, 2041, 2000, 2000)]
    (connection,) = observations.connections
    assert (connection["response_count"], connection["frame_bytes"], observations.visit["coverage"]) == (
        3,
        0,
        1,
    )


def test_a_document_behind_a_redirect_with_credentials_is_the_pages() -> None:
    observations = visited("moving.test")
    redirect, refusal, document = observations.responses
    assert [row["status"] for row in observations.responses] == [302, 401, 200]
    assert [row["resource_type"] for row in observations.responses] == ["document"] * 3
    assert (refusal["connection_id"], refusal["position"]) == (document["connection_id"], 1)
    assert {row["redirected_from_id"] for row in (refusal, document)} == {redirect["id"]}
    assert observations.visit["main_response_id"] == document["id"]
    assert (observations.visit["outcome"], observations.visit["status"]) == ("ok", 200)
    assert {row["host"] for row in observations.responses} == {"moving.test", "member.test"}

"""Probes ask canaries of the tests, in this network and in a guard's; broken guards are played."""

import asyncio
import contextlib
import dataclasses
import os
from typing import Any, cast

import pytest

from crawler.browser import processes
from crawler.control import network
from crawler.control.canaries import CANARIES, Canary, CanaryError, parse_canaries
from crawler.control.network import CrawlNetwork, NetworkFault
from crawler.control.probe import Probe
from crawler.egress.guard import AddressGuard
from crawler.errors import EgressUnavailable
from localweb.server import canary
from tests.zoo.raw import Answer, RawWeb, answer


def test_the_canaries_are_of_independent_operators_each_with_its_source() -> None:
    assert len({canary.id for canary in CANARIES}) == len(CANARIES) >= 3
    operators = {".".join(canary.url.split("/")[2].split(".")[-2:]) for canary in CANARIES}
    assert len(operators) == len(CANARIES)
    assert all(canary.source and canary.url.startswith("http://") for canary in CANARIES)


def test_an_operator_names_canaries_by_id_and_by_url() -> None:
    google, own = parse_canaries("google, http://here.test:8080/up")
    assert google == CANARIES[0]
    assert (own.url, own.status) == ("http://here.test:8080/up", None)
    assert parse_canaries(None) == CANARIES


@pytest.mark.parametrize(
    "text", ["", "gogle", "https://a.test/", "http:///x", "http://a.test:port/", "google,"]
)
def test_a_malformed_canary_is_refused_in_one_line_that_names_the_known_ones(text: str) -> None:
    with pytest.raises(CanaryError, match=r"FIRSTFLIGHT_CANARIES: .* name google, apple"):
        parse_canaries(text)


def asked(answers: dict[str, Answer], *canaries: dict[str, Any]) -> NetworkFault | None:
    """Probe a network whose canaries are paths of one server."""

    async def within() -> NetworkFault | None:
        async with RawWeb({}) as web:
            web.answers = {f"127.0.0.1:{web.port}{path}": answer for path, answer in answers.items()}
            local = [
                Canary(
                    id=canary["path"],
                    url=f"http://127.0.0.1:{web.port}{canary['path']}",
                    status=canary.get("status"),
                    body=canary.get("body", ""),
                    source="made",
                )
                for canary in canaries
            ]
            return await CrawlNetwork(local, None).probe()

    return asyncio.run(within())


GOOD = answer(b"Success and more")
PORTAL = answer(b"<title>Sign in</title>")


def test_the_network_is_good_when_a_canary_answers_as_it_should() -> None:
    assert asked({"/a": GOOD}, {"path": "/a", "status": 200, "body": "Success"}) is None
    assert asked({"/a": GOOD}, {"path": "/a"}) is None
    assert asked({"/a": answer(b"", status="204 No Content")}, {"path": "/a", "status": 204}) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (PORTAL, "another body than its own"),
        (answer(b"", "Location: http://portal.test/", status="302 Found"), "status 302"),
        (Answer(b"SSH-2.0-nonsense\r\n\r\n", 0, close=True), "no HTTP: SSH-2.0-nonsense"),
    ],
)
def test_a_portal_in_the_networks_place_is_no_network(given: Answer, words: str) -> None:
    fault = asked({"/a": given}, {"path": "/a", "status": 200, "body": "Success"})
    assert fault is not None
    assert words in fault.reason
    assert not fault.guard


def test_one_good_answer_is_enough_and_a_silent_canary_delays_it_only() -> None:
    silent = Answer(b"", 0, stall=True)
    canaries = [{"path": path, "body": "Success"} for path in ("/a", "/b", "/c")]
    assert asked({"/a": silent, "/b": PORTAL, "/c": GOOD}, *canaries) is None


def test_each_probe_begins_with_another_canary() -> None:
    async def within() -> list[str]:
        async with RawWeb({}) as web:
            web.answers = {f"127.0.0.1:{web.port}/{name}": GOOD for name in "abc"}
            urls = ",".join(f"http://127.0.0.1:{web.port}/{name}" for name in "abc")
            ours = CrawlNetwork(parse_canaries(urls), None)
            for _ in range(4):
                assert await ours.probe() is None
            return [target for _, target, _ in web.asked]

    assert asyncio.run(within()) == ["/b", "/c", "/a", "/b"]


def test_the_local_web_has_a_canary_of_its_own() -> None:
    async def within() -> tuple[NetworkFault | None, NetworkFault | None]:
        async with canary() as url:
            up = await CrawlNetwork(parse_canaries(url), None).probe()
        return up, await CrawlNetwork(parse_canaries(url), None).probe()

    up, down = asyncio.run(within())
    assert up is None
    assert down is not None
    assert "Connection refused" in down.reason


def test_a_guard_that_cannot_be_entered_is_no_network() -> None:
    guard = cast("AddressGuard", Played(namespace_pid=2**22 + 1))

    async def within() -> NetworkFault | None:
        async with canary() as url:
            return await CrawlNetwork(parse_canaries(url), guard).probe()

    fault = asyncio.run(within())
    assert fault is not None
    assert "the address guard: No such file or directory" in fault.reason


def test_a_cancelled_probe_leaves_no_process() -> None:
    async def within() -> None:
        async with RawWeb({}) as web:
            web.answers = {f"127.0.0.1:{web.port}/": Answer(b"", 0, stall=True)}
            request = Probe(canaries=parse_canaries(f"http://127.0.0.1:{web.port}/"))
            asking = asyncio.ensure_future(network.run_probe(request))
            async with asyncio.timeout(60):
                while not web.asked:
                    await asyncio.sleep(0.01)
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
            ours = processes.list_descendants(os.getpid(), processes.list_parents())
            assert not any(b"crawler.control.probe" in processes.read_arguments(pid) for pid in ours)

    asyncio.run(within())


@dataclasses.dataclass
class Played:
    """Plays a broken guard."""

    namespace_pid: int = 0
    broken: bool = False
    mends: bool = True

    def check(self) -> None:
        if self.broken:
            raise EgressUnavailable("the table is gone")

    def mend(self) -> None:
        if not self.mends:
            raise EgressUnavailable("no default route")
        self.broken = False


def test_a_broken_guard_is_a_fault_even_if_it_is_mended() -> None:
    guard = Played(broken=True)
    ours = CrawlNetwork(CANARIES, cast("AddressGuard", guard))
    assert asyncio.run(ours.check_guard()) == NetworkFault("the table is gone", guard=True)
    assert asyncio.run(ours.probe()) == NetworkFault("the table is gone; mended", guard=True)
    assert asyncio.run(ours.check_guard()) is None


def test_a_guard_that_resists_mending_for_too_long_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = CrawlNetwork(CANARIES, cast("AddressGuard", Played(broken=True, mends=False)))
    assert asyncio.run(ours.probe()) == NetworkFault("no default route", guard=True)
    monkeypatch.setattr(network, "MEND_WITHIN_S", 0.0)
    with pytest.raises(EgressUnavailable, match="no default route"):
        asyncio.run(ours.probe())

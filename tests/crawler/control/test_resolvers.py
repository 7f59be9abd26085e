"""Second resolvers are asked over sockets; the nameservers are played."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from crawler.control.canaries import parse_canaries as chosen_canaries
from crawler.control.network import CrawlNetwork, NetworkFault
from crawler.control.resolvers import (
    RESOLVERS,
    Opinion,
    Resolver,
    ResolverError,
    ask_resolvers,
    parse_resolvers,
)
from localweb.server import canary

ADDRESSES = {"public.test": "93.184.216.34", "private.test": "10.0.0.1", "six.test": "2606:2800:220:1::34"}


class Nameserver(asyncio.DatagramProtocol):
    """Answers for ADDRESSES; fails with a code, or is silent."""

    def __init__(self, fails: dns.rcode.Rcode | None = None, *, silent: bool = False) -> None:
        self.fails, self.silent = fails, silent
        self.asked: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question = dns.message.from_wire(data)
        (entry,) = question.question
        name = entry.name.to_text(omit_final_dot=True)
        self.asked.append(name)
        response = dns.message.make_response(question)
        address = ADDRESSES.get(name)
        kind = "AAAA" if ":" in (address or "") else "A"
        if self.fails is not None:
            response.set_rcode(self.fails)
        elif address is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif entry.rdtype == dns.rdatatype.from_text(kind):
            response.answer.append(dns.rrset.from_text(entry.name, 60, "IN", kind, address))
        if not self.silent:
            self.transport.sendto(response.to_wire(), addr)  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def served(nameserver: Nameserver) -> AsyncIterator[Resolver]:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: nameserver, local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")
    try:
        yield Resolver(id="played", address=host, port=port, source="tests")
    finally:
        transport.close()
        await asyncio.sleep(0)


def asked(name: str, *nameservers: Nameserver) -> Opinion:
    async def within() -> Opinion:
        async with contextlib.AsyncExitStack() as stack:
            resolvers = [await stack.enter_async_context(served(nameserver)) for nameserver in nameservers]
            return await ask_resolvers(resolvers, name)

    return asyncio.run(within())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("public.test", "exists"), ("six.test", "exists"), ("private.test", "exists"), ("none.test", "absent")],
)
def test_a_resolver_says_whether_a_name_has_an_address(name: str, expected: Opinion) -> None:
    unasked = Nameserver()
    assert asked(name, Nameserver(), unasked) == expected
    assert unasked.asked == []


def test_another_is_asked_where_one_fails_or_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.control.resolvers.WITHIN_S", 0.2)
    failing, silent = Nameserver(dns.rcode.SERVFAIL), Nameserver(silent=True)
    assert asked("public.test", failing, silent, Nameserver()) == "exists"
    assert asked("public.test", failing, silent, Nameserver(dns.rcode.SERVFAIL)) == "absent"
    assert asked("public.test", failing, silent) == "unknown"  # the resolver may be at fault, or the name
    assert asked("public.test", silent) == "unknown"
    assert asked("public.test") == "unknown"


def test_the_network_names_a_name_that_another_resolver_knows_and_asks_each_in_turn() -> None:
    async def within() -> tuple[list[NetworkFault | None], list[int]]:
        async with contextlib.AsyncExitStack() as stack:
            nameservers = [Nameserver(), Nameserver()]
            resolvers = [await stack.enter_async_context(served(nameserver)) for nameserver in nameservers]
            ours = CrawlNetwork([], None, resolvers)
            opinions = [
                await ours.check_resolver(names) for names in (["none.test"], ["none.test", "public.test"])
            ]
            return opinions, [len(nameserver.asked) for nameserver in nameservers]

    result, counts = asyncio.run(within())
    assert result == [None, NetworkFault("our resolver does not resolve public.test, and another does")]
    assert sorted(counts) == [2, 4]
    assert asyncio.run(CrawlNetwork([], None).check_resolver(["public.test"])) is None


def test_without_an_answer_of_another_resolver_a_fault_is_uncertain() -> None:
    async def within() -> tuple[NetworkFault | None, NetworkFault | None, list[str | None]]:
        async with served(Nameserver()) as answering, served(Nameserver(dns.rcode.REFUSED)) as refusing:
            unsure = await CrawlNetwork([], None, []).check_resolver(["public.test"])
            sure = await CrawlNetwork([], None, [refusing, answering]).check_resolver(["none.test"])
            networks = [
                CrawlNetwork([], None, resolvers) for resolvers in ([], [refusing], [refusing, answering])
            ]
            return unsure, sure, [await network.describe_lack() for network in networks]

    unsure, sure, (unnamed, silent, answered) = asyncio.run(within())
    assert unsure == NetworkFault("no other resolver tells whether public.test exists", is_certain=False)
    assert sure is None
    assert (unnamed or "").endswith("our resolver's: none is named")
    assert (silent or "").endswith("our resolver's: no answer from played")
    assert answered is None
    assert asyncio.run(CrawlNetwork([], None).describe_lack()) is None


def test_the_resolvers_are_of_independent_operators_each_with_its_source() -> None:
    assert (
        len({resolver.id for resolver in RESOLVERS}) == len({resolver.address for resolver in RESOLVERS}) >= 3
    )
    assert all(resolver.source for resolver in RESOLVERS)
    assert parse_resolvers(None) == RESOLVERS


@pytest.mark.parametrize("text", ["", "gogle", "1.1.1", "1.1.1.1#dns", "google,"])
def test_a_malformed_resolver_is_refused_in_one_line_that_names_the_known_ones(text: str) -> None:
    with pytest.raises(ResolverError, match=r"FIRSTFLIGHT_RESOLVERS: .* name quad9, cloudflare"):
        parse_resolvers(text)


def test_a_probe_finds_a_resolver_that_reaches_the_canary_alone() -> None:
    """Names below .invalid do not resolve (RFC 6761), as those of sites that answered before."""

    async def within(known: Sequence[str]) -> NetworkFault | None:
        async with canary() as url:
            ours = CrawlNetwork(chosen_canaries(url), None, [])
            for name in known:
                ours.note_resolved(name)
            return await ours.probe()

    assert asyncio.run(within(["localhost"])) is None
    fault = asyncio.run(within(["a.invalid", "b.invalid"]))
    assert fault is not None
    assert fault.reason.startswith("names do not resolve (")
    assert "a.invalid" in fault.reason

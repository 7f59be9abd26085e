"""
Second resolvers: public nameservers of independent operators, which are asked whether a name has an address.

* ResolverError   FIRSTFLIGHT_RESOLVERS cannot be read
"""

import asyncio
import dataclasses
import ipaddress
from collections.abc import Sequence
from typing import Literal

import dns.exception
import dns.message
import dns.rcode
import dns.rdatatype
from dns.message import Message

from crawler.errors import CrawlerError

WITHIN_S = 2.0

NONE = "none"

Opinion = Literal["exists", "absent", "unknown"]
"""Whether a name has an address: `absent` if a resolver says no, or several cannot find out either;
`unknown` otherwise."""

SEVERAL = 2
"""Resolvers that must fail for a name before the name's own servers are taken to be at fault, and not the
resolver."""

RESOLVERS_REMEDY = "let port 53 through to them over UDP and TCP, or name others by FIRSTFLIGHT_RESOLVERS"

ROOT = "."
"""Name that every resolver knows, and that reveals nothing about a crawl."""


class ResolverError(CrawlerError):
    """The operator's list of second resolvers cannot be read."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Resolver:
    """A nameserver that answers everybody, and blocks no names."""

    # Stable: operators name them in FIRSTFLIGHT_RESOLVERS.
    id: str
    address: str
    port: int = 53
    source: str


RESOLVERS = [
    Resolver(id="quad9", address="9.9.9.10", source="Quad9: service addresses and features, unsecured"),
    Resolver(id="cloudflare", address="1.1.1.1", source="Cloudflare: 1.1.1.1, IP addresses"),
    Resolver(id="google", address="8.8.8.8", source="Google: Public DNS, Get Started"),
]


def parse_resolvers(text: str | None) -> list[Resolver]:
    """Parse a comma-separated list of ids and addresses, each perhaps with a port; RESOLVERS for None.

    >>> [(resolver.address, resolver.port) for resolver in parse_resolvers("google, 192.0.2.1#5353")]
    [('8.8.8.8', 53), ('192.0.2.1', 5353)]
    """
    if text is None:
        return list(RESOLVERS)
    return [] if text.strip() == NONE else [_parse_resolver(part.strip()) for part in text.split(",")]


def _parse_resolver(text: str) -> Resolver:
    for resolver in RESOLVERS:
        if resolver.id == text:
            return resolver
    address, _, port = text.partition("#")
    try:
        return Resolver(
            id=text,
            address=str(ipaddress.ip_address(address)),
            port=int(port or 53),
            source="FIRSTFLIGHT_RESOLVERS",
        )
    except ValueError as exc:
        raise ResolverError(
            f"FIRSTFLIGHT_RESOLVERS: {text!r} is no resolver: name "
            f"{', '.join(resolver.id for resolver in RESOLVERS)}, "
            f"or addresses such as 192.0.2.1 or 192.0.2.1#5353, separated by commas; or {NONE}"
        ) from exc


async def ask_resolvers(resolvers: Sequence[Resolver], name: str) -> Opinion:
    """Ask resolvers in turn until one says whether a name has an address, be it one that no page may
    reach."""
    failed = 0
    for resolver in resolvers:
        answers = await asyncio.gather(*(_ask(resolver, name, kind) for kind in ("A", "AAAA")))
        if any(answer is not None and _has_address(answer) for answer in answers):
            return "exists"
        if all(answer is not None and answer.rcode() in DEFINITE for answer in answers):
            return "absent"
        failed += any(answer is not None for answer in answers)
    return "absent" if failed >= SEVERAL else "unknown"


async def list_silent(resolvers: Sequence[Resolver]) -> list[Resolver]:
    answers = await asyncio.gather(*(_ask(resolver, ROOT, "NS") for resolver in resolvers))
    return [
        resolver
        for resolver, answer in zip(resolvers, answers, strict=True)
        if answer is None or answer.rcode() not in DEFINITE
    ]


async def describe_lack(resolvers: Sequence[Resolver]) -> str | None:
    silent = await list_silent(resolvers)
    if len(silent) < len(resolvers):
        return None
    found = f"no answer from {', '.join(resolver.id for resolver in silent)}" if silent else "none is named"
    return f"no second resolver tells a site's fault from our resolver's: {found}"


DEFINITE = (dns.rcode.NOERROR, dns.rcode.NXDOMAIN)
"""Codes of answers about the name; after others, the next resolver is asked."""


async def _ask(resolver: Resolver, name: str, kind: str) -> Message | None:
    # Imported when the first resolver is asked: with it come libraries of DNS over HTTPS and QUIC, if there.
    import dns.asyncquery

    try:
        question = dns.message.make_query(name, kind)
        answer, _ = await dns.asyncquery.udp_with_fallback(
            question, resolver.address, timeout=WITHIN_S, port=resolver.port
        )
    except (dns.exception.DNSException, OSError, EOFError):
        return None
    return answer


def _has_address(answer: Message) -> bool:
    return any(records.rdtype in (dns.rdatatype.A, dns.rdatatype.AAAA) for records in answer.answer)

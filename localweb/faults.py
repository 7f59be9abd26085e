"""Sites that misbehave, for tests of programs that have to live with them."""

import asyncio
import enum
import itertools
from collections.abc import Iterator

from localweb.answers import ServedAnswer, make_document, make_redirect
from localweb.serving.channel import Channel
from localweb.serving.handler import Handler, Reply, ServedOrigin, ServedRequest, Takeover
from localweb.serving.tls import ALERT_HANDSHAKE_FAILURE


class Fault(enum.StrEnum):
    """Misbehaviour of a whole site."""

    REFUSED = "refused"
    """Nothing listens."""
    SILENT = "silent"
    """TCP is accepted; no byte is sent, not even of TLS."""
    BAD_CERTIFICATE = "bad_certificate"
    HANDSHAKE_FAILURE = "handshake_failure"
    """A TLS alert instead of a ServerHello."""
    NO_ANSWER = "no_answer"
    """The request is taken and never answered."""
    NEVER_ENDING = "never_ending"
    """A document without end."""
    DRIP = "drip"
    """A small document at a few bytes a second."""
    RESET = "reset"
    """A TCP reset in the middle of the document."""
    NOT_FOUND = "not_found"
    SERVER_ERROR = "server_error"
    REDIRECT_LOOP = "redirect_loop"
    """Two paths that redirect to each other."""


ENDLESS_STEP_S = 0.05
ENDLESS_STEP_BYTES = 5_000

DRIP_BYTES_PER_SECOND = 4
RESET_AFTER_BYTES = 40_000
"""More than a first flight, far less than the body."""

DOCUMENT = b"<!doctype html><title>fault</title><body><p>something is wrong here</p></body>\n"
HEADERS = [("content-type", "text/html; charset=utf-8")]


def answers(origin: ServedOrigin, fault: Fault) -> list[ServedAnswer]:
    if fault is Fault.REDIRECT_LOOP:
        return [make_redirect(origin, "/", "/again"), make_redirect(origin, "/again", "/")]
    status = {Fault.NOT_FOUND: 404, Fault.SERVER_ERROR: 500}.get(fault, 200)
    return [make_document(origin, "/", status, DOCUMENT)]


async def no_answer(_: ServedRequest, __: Reply) -> None:
    """Take the request and send nothing."""


async def send_without_end(_: ServedRequest, reply: Reply) -> None:
    await reply.head(200, HEADERS)
    for pause_s, piece in endless_pieces():
        await asyncio.sleep(pause_s)
        await reply.body(piece)


async def drip(_: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [*HEADERS, ("content-length", str(len(DOCUMENT)))])
    for sent, (pause_s, piece) in enumerate(dripping_pieces(), 1):
        await asyncio.sleep(pause_s)
        await reply.body(piece, end=sent == len(DOCUMENT))


async def reset(_: ServedRequest, reply: Reply) -> None:
    body = DOCUMENT * 2000
    await reply.head(200, [*HEADERS, ("content-length", str(len(body)))])
    await reply.body(body[:RESET_AFTER_BYTES])
    await reply.abort()


def endless_pieces() -> Iterator[tuple[float, bytes]]:
    yield 0.0, DOCUMENT
    yield from itertools.repeat((ENDLESS_STEP_S, b" " * ENDLESS_STEP_BYTES))


def dripping_pieces() -> Iterator[tuple[float, bytes]]:
    for at in range(len(DOCUMENT)):
        yield 1 / DRIP_BYTES_PER_SECOND if at else 0.0, DOCUMENT[at : at + 1]


async def silence(channel: Channel) -> None:
    while await channel.receive():
        pass


async def fail_handshake(channel: Channel) -> None:
    await channel.receive()
    await channel.transmit(ALERT_HANDSHAKE_FAILURE)
    await channel.finish()
    await silence(channel)


HANDLERS: dict[Fault | None, Handler] = {
    Fault.NO_ANSWER: no_answer,
    Fault.NEVER_ENDING: send_without_end,
    Fault.DRIP: drip,
    Fault.RESET: reset,
}

TAKEOVERS: dict[Fault | None, Takeover] = {Fault.SILENT: silence, Fault.HANDSHAKE_FAILURE: fail_handshake}

"""Sites that misbehave, for tests of whatever has to live with them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from localweb.content import Answer

if TYPE_CHECKING:
    from localweb.modes import Origin


class Fault(enum.StrEnum):
    """One way of misbehaving, of a whole site."""

    REFUSED = "refused"
    """Nothing listens."""
    SILENT = "silent"
    """TCP is accepted; not a byte comes, not even of TLS."""
    BAD_CERTIFICATE = "bad_certificate"
    """A certificate that nobody trusts."""
    HANDSHAKE_FAILURE = "handshake_failure"
    """A TLS alert in place of a ServerHello."""
    NO_ANSWER = "no_answer"
    """The request is taken, and never answered."""
    NEVER_ENDING = "never_ending"
    """A document that goes on and on."""
    DRIP = "drip"
    """A small document, a few bytes a second."""
    RESET = "reset"
    """A TCP reset in the middle of the document."""
    NOT_FOUND = "not_found"
    """404, with a body."""
    SERVER_ERROR = "server_error"
    """500, with a body."""
    REDIRECT_LOOP = "redirect_loop"
    """Two paths that redirect to each other."""


ENDLESS_STEP_US = 50_000
ENDLESS_STEP_BYTES = 5_000
"""In steps: a rate that has a byte ready whenever one looks would keep its writer busy for ever."""

DRIP_BYTES_PER_SECOND = 4
RESET_AFTER_BYTES = 40_000
"""More than a first flight, far less than the body."""

DOCUMENT = b"<!doctype html><title>fault</title><body><p>something is wrong here</p></body>\n"


def answers(origin: Origin, fault: Fault) -> list[Answer]:
    """What a faulty site answers, once it does."""
    if fault is Fault.REDIRECT_LOOP:
        return [redirect(origin, "/", "/again"), redirect(origin, "/again", "/")]
    status = {Fault.NOT_FOUND: 404, Fault.SERVER_ERROR: 500}.get(fault, 200)
    body = DOCUMENT * 2000 if fault is Fault.RESET else DOCUMENT
    return [document(origin, "/", status, body)]


def document(origin: Origin, path: str, status: int, body: bytes) -> Answer:
    """An HTML document of no page."""
    headers = (("content-type", "text/html; charset=utf-8"),)
    return Answer(origin=origin, path=path, status=status, headers=headers, body=body, page=None, index=None)


def redirect(origin: Origin, path: str, to: str) -> Answer:
    """A redirect of no page."""
    headers = (("location", to),)
    return Answer(origin=origin, path=path, status=302, headers=headers, body=b"", page=None, index=None)


def allowed_bytes(fault: Fault | None, body: int, *, elapsed_us: int) -> int:
    """How much of a body may have been written by now."""
    if fault is Fault.NEVER_ENDING:
        return len(DOCUMENT) + elapsed_us // ENDLESS_STEP_US * ENDLESS_STEP_BYTES
    if fault is Fault.DRIP:
        return min(body, 1 + elapsed_us * DRIP_BYTES_PER_SECOND // 1_000_000)
    if fault is Fault.RESET:
        return RESET_AFTER_BYTES
    return body

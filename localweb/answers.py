"""Answers that are known in advance, and the handler that gives them."""

import dataclasses
from collections.abc import Callable

from localweb.serving.handler import Handler, Reply, ServedOrigin, ServedRequest


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServedAnswer:
    """Response to a request for an origin and path."""

    origin: ServedOrigin
    path: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    page: int | None = None
    """Number of the page; None if no recipe has the answer."""
    index: int | None = None

    @property
    def fields(self) -> list[tuple[str, str]]:
        length = [] if self.status == 204 else [("content-length", str(len(self.body)))]
        return [*self.headers, *length]


def make_document(origin: ServedOrigin, path: str, status: int, body: bytes) -> ServedAnswer:
    headers = (("content-type", "text/html; charset=utf-8"),)
    return ServedAnswer(origin=origin, path=path, status=status, headers=headers, body=body)


def make_redirect(origin: ServedOrigin, path: str, to: str) -> ServedAnswer:
    return ServedAnswer(origin=origin, path=path, status=302, headers=(("location", to),), body=b"")


def make_handler(find: Callable[[str], ServedAnswer]) -> Handler:
    """Return a handler that sends the answer that `find` has, without its body to HEAD."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        answer = find(request.target)
        reply.entry.page, reply.entry.index = answer.page, answer.index
        await reply.whole(answer.status, answer.fields, b"" if request.method == "HEAD" else answer.body)

    return handle

"""Ask the service within its own process, as a client would."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from fastapi import Request
    from starlette.types import Message


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An answer of the service."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes

    @property
    def media_type(self) -> str:
        """Media type without its parameters; empty if the answer has none."""
        return self.headers.get("content-type", "").partition(";")[0]


async def ask(request: Request, address: str) -> Asked:
    """The answer to GET of `address`, a path with its query,
    with links as an answer to the request itself has them.

    It is computed at once, without waiting for its turn: who asks already has one, and would wait for itself.
    """
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "server": ("localhost", 80),
        "client": None,
        "at_once": True,
        "base_url": request.scope["base_url"],
    }
    heads: list[Message] = []
    body = bytearray()

    received: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if not received:
            await asyncio.Event().wait()  # files and streams wait here for a client that hangs up
        return received.pop()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            heads.append(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await request.app(scope, receive, send)
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in heads[0]["headers"]}
    return Asked(status=heads[0]["status"], headers=headers, body=bytes(body))

"""Ask the service within its own process, as a client would."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Message


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An answer of the service."""

    status: int
    media_type: str
    body: bytes


async def ask(app: FastAPI, address: str) -> Asked:
    """The answer to GET of `address`, a path with its query.

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
    }
    heads: list[Message] = []
    body = bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            heads.append(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    headers = dict(heads[0]["headers"])
    media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0]
    return Asked(status=heads[0]["status"], media_type=media_type, body=bytes(body))

"""Streams an answer piece by piece, and ends with its client:
who hangs up or takes nothing leaves nothing open."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping

from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE_BYTES = 64 * 1024
"""Maximum size of what is handed to the server at once."""

TAKEN_WITHIN_S = 60.0
"""Time limit for the client to take a piece: about 1 kB/s at least."""

Pieces = Generator[bytes, None, None]


class StreamBroken(Exception):
    """A stream ends early: the connection is closed before the end of the body,
    so that nobody takes it for whole."""


class Stream(Response):
    """An answer whose body is generated in another thread while it is sent."""

    def __init__(
        self, pieces: Pieces, *, media_type: str, headers: Mapping[str, str], closed: Callable[[], None]
    ) -> None:
        """`pieces` raises StreamBroken to end early; `closed` is called once, whatever happens."""
        super().__init__(headers=dict(headers), media_type=media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._closed = closed
        self._making: asyncio.Task[bytes | None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI; HEAD generates nothing."""
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            if scope.get("asked_method") != "HEAD":
                await _first(self._send(send), _gone(receive))
            else:
                await send({"type": "http.response.body", "body": b""})
        finally:
            if self._making is not None:
                # A thread cannot be cancelled, and what it uses must not be closed under it.
                await asyncio.wait([self._making])
            await run_in_threadpool(self._close)

    def _close(self) -> None:
        try:
            self._pieces.close()
        finally:
            self._closed()

    async def _send(self, send: Send) -> None:
        try:
            while (piece := await self._next()) is not None:
                for begin in range(0, len(piece), PIECE_BYTES):
                    part = piece[begin : begin + PIECE_BYTES]
                    async with asyncio.timeout(TAKEN_WITHIN_S):
                        await send({"type": "http.response.body", "body": part, "more_body": True})
        except (StreamBroken, TimeoutError):
            return  # without the last message the server closes the connection
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> bytes | None:
        self._making = asyncio.create_task(run_in_threadpool(next, self._pieces, None))
        return await asyncio.shield(self._making)


async def _first(*ways: Coroutine[None, None, None]) -> None:
    """Run coroutines until the first ends, and then end the others."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()


async def _gone(receive: Receive) -> None:
    """Wait until the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass

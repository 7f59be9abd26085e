"""Streams an answer piece by piece, and ends with its client:
who hangs up or takes nothing leaves nothing open."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Mapping

from fastapi.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from api.computing import Computation

PIECE_BYTES = 64 * 1024
"""Maximum size of what is handed to the server at once."""

MADE_WITHIN_S = 60.0
"""Time limit for a piece to be made: without one, a query finds nothing in that time."""

TAKEN_WITHIN_S = 60.0
"""Time limit for the client to take a piece: about 1 kB/s at least."""

Pieces = Generator[bytes, None, None]


class StreamBroken(Exception):
    """A stream ends early: the connection is closed before the end of the body,
    so that nobody takes it for whole."""


class Stream(StreamingResponse):
    """An answer whose body is generated in another thread while it is sent."""

    def __init__(
        self,
        pieces: Pieces,
        *,
        computation: Computation,
        media_type: str,
        headers: Mapping[str, str],
        closed: Callable[[], None],
    ) -> None:
        """`pieces`, which `computation` makes, raises StreamBroken to end early; `closed` is called once,
        whatever happens."""
        super().__init__(self._cut(), headers=headers, media_type=media_type)
        self._pieces = pieces
        self._computation = computation
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI; HEAD generates nothing."""
        if scope.get("asked_method") == "HEAD":
            self.body_iterator = iterate_in_threadpool(())

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(TAKEN_WITHIN_S):
                await send(message)

        try:
            # Without the last message the server closes the connection.
            with contextlib.suppress(StreamBroken, TimeoutError):
                # By this version of ASGI, Starlette itself waits for the client to hang up.
                await super().__call__({**scope, "asgi": {"spec_version": "2.0"}}, receive, send_in_time)
        finally:
            await run_in_threadpool(self._close)

    async def listen_for_disconnect(self, receive: Receive) -> None:
        """Stop the thread that makes a piece for a client who is gone."""
        await super().listen_for_disconnect(receive)
        self._computation.stop()

    async def _cut(self) -> AsyncIterator[bytes]:
        pieces = aiter(iterate_in_threadpool(self._pieces))
        while True:
            with self._computation.limited(MADE_WITHIN_S):
                piece = await anext(pieces, None)
            if piece is None:
                return
            for begin in range(0, len(piece), PIECE_BYTES):
                yield piece[begin : begin + PIECE_BYTES]

    def _close(self) -> None:
        try:
            self._pieces.close()
        finally:
            self._closed()

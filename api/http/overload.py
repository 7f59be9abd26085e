"""Answers 503 where the process has no descriptor left, which is neither a missing file nor a fault of
ours."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.problems import from_exception, problem_response
from storage.exhaustion import is_exhaustion

PATHSEND = "http.response.pathsend"
"""Extension of ASGI by which a server opens a file itself."""


class Overload:
    """Answers exhaustion with 503, and cuts an answer that has begun.

    The head of an answer is held back until its first bytes are there, because a file is opened between them.
    The server itself must open no file: it would answer 404 where it cannot.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head: Message | None = None
        has_begun = False

        async def send_with_body(message: Message) -> None:
            nonlocal head, has_begun
            if message["type"] == "http.response.start":
                head = message
                return
            if head is not None:
                has_begun = True
                begin, head = head, None
                await send(begin)
            await send(message)

        extensions = scope.get("extensions", {})
        scope["extensions"] = {name: extensions[name] for name in extensions if name != PATHSEND}
        try:
            await self.app(scope, receive, send_with_body)
        except Exception as exc:
            if not is_exhaustion(exc):
                raise
            if not has_begun:
                answer = problem_response(from_exception(exc), scope["path"])
                await answer(scope, receive, send)

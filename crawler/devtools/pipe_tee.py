"""A tee in the pipe by which a browser tells its driver what happens: of what Playwright hears anyway, we hear a copy.

A DevTools session of our own beside Playwright's would have the browser, the driver and us do all of it twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.fifo import SHORT_PAUSE_S, Drain
from crawler.netlog.lines import LineSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

BEGIN = b'{"method":"'
"""Of every message that is no answer to a command."""

ATTACHED = "Target.attachedToTarget"
DETACHED = "Target.detachedFromTarget"

SESSIONS_KEPT = 1000
"""A page that starts workers for ever fills no memory; its own session is the first of them."""

SCRIPT = """#!/bin/sh
cd {folder} && mkfifo answers && echo $$ >pid || exit 1
tee heard <answers >&4 3<&- &
cd / && exec {call} "$@" {options} 4>{folder}/answers {opened}
"""
"""The driver writes to descriptor 3 and reads from 4 (--remote-debugging-pipe). What follows `exec` keeps the script's
process, so its number is the first of the browser's."""

FIRST_OPENED = 5
"""Descriptor of the first file that is opened for the browser."""


def opened_path(number: int) -> str:
    """By which the browser itself opens the file of that place in `opened`."""
    return f"/proc/self/fd/{FIRST_OPENED + number}"


class PageEvent(NamedTuple):
    """One event."""

    page: str
    """Target of the page."""
    is_own: bool
    """Whether the page itself says it, rather than a frame in a process of its own or a dedicated worker."""
    method: str
    params: dict[str, Any]


class PipeTee:
    """Made before the browser starts and closed after the browser's end."""

    def __init__(self, folder: Path, wanted: frozenset[str]) -> None:
        self._folder = folder
        self._wanted = {name.encode(): name for name in (*wanted, ATTACHED, DETACHED)}
        self._messages = LineSplitter(end=b"\0")
        self._pages: dict[str, tuple[str, bool]] = {}
        """By session, the target of its page, and whether it is the page's own: else it is that of a frame or worker."""
        self._page: str | None = None
        self._hear: Callable[[PageEvent], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._drain = Drain(folder / "heard", self._read)

    def program(
        self, call: Sequence[str], *, options: Sequence[str] = (), opened: Sequence[Path] = ()
    ) -> Path:
        """A program that takes the browser's arguments, and is the browser with a tee in its pipe.

        `call` is the browser's command, and `options` follow the arguments. The files `opened` it may write, as
        descriptors of its own (`opened_path`).
        """
        script = self._folder / "launcher"
        text = SCRIPT.format(
            folder=shlex.quote(str(self._folder)),
            call=shlex.join(call),
            options=shlex.join(options),
            opened=" ".join(
                f"{FIRST_OPENED + number}>{shlex.quote(str(path))}" for number, path in enumerate(opened)
            ),
        )
        script.write_text(text, encoding="utf-8")
        script.chmod(0o700)
        return script

    def pid(self) -> int:
        """Process of the program, once the driver has spoken with it."""
        return int((self._folder / "pid").read_text(encoding="ascii"))

    def listen(self, page: str, hear: Callable[[PageEvent], None]) -> None:
        """From now on, tell of the wanted events of a page, by its target."""
        self._drain.check()
        self._page, self._hear = page, hear

    async def caught_up(self, *, timeout_s: float = 0.25) -> None:
        """Wait until all that was said has been told; or for so long, where a page has the browser talk without end."""
        self._drain.hurry()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self._drain.is_caught_up:
                    await asyncio.sleep(SHORT_PAUSE_S)
        self._drain.rest()
        await asyncio.sleep(0)  # what has been read is told in the loop's next round

    def stop(self) -> None:
        """Tell of nothing more."""
        self._page = self._hear = None
        self._drain.check()

    def close(self) -> None:
        """The browser must have gone."""
        self._drain.close()

    def _read(self, chunk: bytes) -> None:
        heard = [event for message in self._messages.feed(chunk) if (event := self._event(message))]
        if heard:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody listens
                self._loop.call_soon_threadsafe(self._tell, heard)

    def _event(self, message: bytes) -> PageEvent | None:
        """What a wanted message says."""
        if not message.startswith(BEGIN):
            return None
        method = self._wanted.get(message[len(BEGIN) : message.find(b'"', len(BEGIN))])
        if method is None:
            return None
        try:
            fields = json.loads(message)
        except (ValueError, RecursionError):  # a page's own making: a stack without end
            return None
        speaker, params = self._pages.get(fields.get("sessionId")), fields["params"]
        if method == ATTACHED:
            self._attached(params, speaker)
        elif method == DETACHED:
            self._detached(params["sessionId"])
        elif speaker is not None:
            return PageEvent(*speaker, method, params)
        return None

    def _attached(self, params: dict[str, Any], by: tuple[str, bool] | None) -> None:
        """Playwright attaches to what a page starts by the session of the page."""
        if len(self._pages) < SESSIONS_KEPT:
            self._pages[params["sessionId"]] = (
                (by[0], False) if by else (params["targetInfo"]["targetId"], True)
            )

    def _detached(self, session: str) -> None:
        """With a page goes all that it has started."""
        page, is_own = self._pages.pop(session, (None, False))
        if is_own and (page, True) not in self._pages.values():  # the page may have several
            self._pages = {one: told for one, told in self._pages.items() if told[0] != page}

    def _tell(self, heard: list[PageEvent]) -> None:
        for one in heard:
            if self._hear is not None and one.page == self._page:
                self._hear(one)

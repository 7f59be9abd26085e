"""Copies the messages of a browser's DevTools pipe on their way to Playwright's driver.

A DevTools session of our own, beside Playwright's, would double the work of the browser and the driver.
"""

import asyncio
import contextlib
import json
import os
import shlex
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from crawler.devtools.events import DevToolsEvent
from crawler.fifo import SHORT_PAUSE_S, Drain
from crawler.netlog.lines import LineSplitter

BEGIN = b'{"method":"'
"""Beginning of every event; answers to commands begin otherwise."""


class TargetInfo(msgspec.Struct, rename="camel"):
    """A page, frame or worker, or the browser itself."""

    target_id: str
    type: str


class AttachedToTarget(DevToolsEvent):
    """Target.attachedToTarget."""

    session_id: str
    target_info: TargetInfo


class DetachedFromTarget(DevToolsEvent):
    """Target.detachedFromTarget."""

    session_id: str


SESSION_EVENTS: dict[str, type[DevToolsEvent]] = {
    "Target.attachedToTarget": AttachedToTarget,
    "Target.detachedFromTarget": DetachedFromTarget,
}

MESSAGE_BYTES = 64 * 1024 * 1024
"""Longest message, in bytes, which the driver keeps in memory; a browser that was taken over need not end it.
"""

SESSIONS_KEPT = 1000
"""Most sessions that are kept, so that no page fills the memory; a page's own session is its first."""

SCRIPT = """#!/bin/sh
cd {folder} && mkfifo answers && echo $$ >pid || exit 1
tee heard <answers >&4 3<&- &
cd / && exec {call} "$@" {options} 4>{folder}/answers {opened}
"""
"""The driver writes to descriptor 3 and reads from 4 (--remote-debugging-pipe). `exec` keeps the script's
process, so its ID is that of the browser's first process."""

FIRST_OPENED = 5


def opened_path(number: int) -> str:
    return f"/proc/self/fd/{FIRST_OPENED + number}"


class Session(NamedTuple):
    """A DevTools session."""

    page: str
    is_own: bool


class PipeTee:
    """Copies a browser's messages; made before its start, closed after its end."""

    def __init__(self, folder: Path, wanted: Mapping[str, type[DevToolsEvent]]) -> None:
        self._folder = folder
        self._wanted = {name.encode(): kind for name, kind in {**wanted, **SESSION_EVENTS}.items()}
        self._messages = LineSplitter(end=b"\0")
        self._unended_bytes = 0
        """Bytes of the message whose end has not come."""
        self._sessions: dict[str, Session] = {}
        self._page: str | None = None
        self._hear: Callable[[DevToolsEvent], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._drain = Drain(folder / "heard", self._read)

    def program(
        self,
        call: Sequence[str],
        *,
        options: Sequence[str] = (),
        opened: Sequence[Path] = (),
        read: tuple[int, Path] | None = None,
    ) -> Path:
        """Write a program that takes the browser's arguments and runs it with a tee in its pipe.

        `call` is the browser's command; `options` follow the arguments. The browser may write to the files
        `opened` (`opened_path`), and finds the file `read` open at that descriptor.
        """
        script = self._folder / "launcher"
        redirections = [
            f"{FIRST_OPENED + number}>{shlex.quote(str(path))}" for number, path in enumerate(opened)
        ]
        if read is not None:
            redirections.append(f"{read[0]}<{shlex.quote(str(read[1]))}")
        text = SCRIPT.format(
            folder=shlex.quote(str(self._folder)),
            call=shlex.join(call),
            options=shlex.join(options),
            opened=" ".join(redirections),
        )
        script.write_text(text, encoding="utf-8")
        script.chmod(0o700)
        return script

    def pid(self) -> int:
        """Return the program's process ID, once the driver has connected."""
        return int((self._folder / "pid").read_text(encoding="ascii"))

    def knows(self, page: str) -> bool:
        """Return whether a page's events are passed on: not beyond SESSIONS_KEPT."""
        return (page, True) in tuple(self._sessions.values())  # a copy: a thread changes them

    def listen(self, page: str, hear: Callable[[DevToolsEvent], None]) -> None:
        """Pass the wanted events of a page, by its target ID, to `hear`."""
        self._drain.check()
        self._page, self._hear = page, hear

    async def catch_up(self, *, timeout_s: float = 0.25) -> None:
        """Wait until all events so far have been passed on, or for `timeout_s`."""
        self._drain.hurry()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self._drain.is_caught_up:
                    await asyncio.sleep(SHORT_PAUSE_S)
        self._drain.rest()
        await asyncio.sleep(0)  # events that have been read are passed on in the loop's next round

    def stop(self) -> None:
        self._page = self._hear = None
        self._drain.check()

    def close(self) -> None:
        self._drain.close()

    def _read(self, chunk: bytes) -> None:
        end = chunk.rfind(b"\0")
        self._unended_bytes = len(chunk) - end - 1 if end >= 0 else self._unended_bytes + len(chunk)
        if self._unended_bytes > MESSAGE_BYTES:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid(), signal.SIGKILL)  # it writes still, so the number is its own
        events = [event for message in self._messages.feed(chunk) if (event := self._event(message))]
        if events:
            with contextlib.suppress(RuntimeError):  # the loop has ended: no listener is left
                self._loop.call_soon_threadsafe(self._pass_on, events)

    def _event(self, message: bytes) -> tuple[str, DevToolsEvent] | None:
        if not message.startswith(BEGIN):
            return None
        kind = self._wanted.get(message[len(BEGIN) : message.find(b'"', len(BEGIN))])
        if kind is None:
            return None
        try:
            fields = json.loads(message)
            event = msgspec.convert(fields["params"], kind)
        except (ValueError, KeyError, RecursionError):  # a page can make a stack without end
            return None
        session = self._sessions.get(fields.get("sessionId"))
        if isinstance(event, AttachedToTarget):
            self._note_session(event, session)
        elif isinstance(event, DetachedFromTarget):
            self._forget_session(event.session_id)
        elif session is not None:
            return session.page, event
        return None

    def _note_session(self, event: AttachedToTarget, by: Session | None) -> None:
        """Note a session: Playwright attaches to frames and workers by their page's.

        A session that a caller of Playwright opens is attached to by one of the browser.
        """
        if len(self._sessions) < SESSIONS_KEPT and event.target_info.type != "browser":
            self._sessions[event.session_id] = (
                Session(by.page, False) if by else Session(event.target_info.target_id, True)
            )

    def _forget_session(self, number: str) -> None:
        ended = self._sessions.pop(number, None)
        # A page may have several sessions.
        if ended is not None and ended.is_own and ended not in self._sessions.values():
            self._sessions = {
                number: session for number, session in self._sessions.items() if session.page != ended.page
            }

    def _pass_on(self, events: list[tuple[str, DevToolsEvent]]) -> None:
        for page, event in events:
            if self._hear is not None and page == self._page:
                self._hear(event)

"""The live log of one browser, read as it is written and cut into visits. The log is never stored."""

import asyncio
import contextlib
import secrets
import threading
import time
from pathlib import Path
from typing import Any

from crawler.errors import LaunchFailed
from crawler.fifo import Drain
from crawler.netlog.assembler import EVENTS, Assembler, Traffic
from crawler.netlog.event import NO_SOURCE, Event
from crawler.netlog.lines import LineReader, LineSplitter
from crawler.netlog.open_requests import EVENTS as REQUEST_EVENTS
from crawler.netlog.open_requests import OpenRequests

COOKIE_ADDED = "COOKIE_STORE_COOKIE_ADDED"

WANTED = frozenset({COOKIE_ADDED, *EVENTS, *REQUEST_EVENTS})

MARKS = 17
"""Cookies that make a mark: Chromium writes its log in batches of 15 events,
so they push out all earlier events."""

FIRST_LINE_S = 30.0

READINGS = 10
APART_NS = 50_000
"""Most readings of the two clocks, and the time between two that is short enough, in nanoseconds."""


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def read_clocks() -> tuple[int, int]:
    """Return wall clock and CLOCK_MONOTONIC at one moment, in ns."""
    readings = []
    for _ in range(READINGS):
        before = time.monotonic_ns()
        wall = time.time_ns()
        apart = time.monotonic_ns() - before
        readings.append((apart, wall, before))
        if apart <= APART_NS:
            break
    _, wall, monotonic = min(readings)
    return wall, monotonic


class LogStream:
    """Reads a browser's log from before its start until after its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = LineReader(WANTED)
        self.splitter = LineSplitter()
        self._began_ms = 0
        self._ended: set[tuple[int, str, int]] = set()
        self._newest = NO_SOURCE
        self._lost_before = 0
        self._assembler = Assembler()
        self._requests = OpenRequests(0)
        self._assembling = threading.Lock()
        self._marks: dict[str, asyncio.Future[int]] = {}
        self._loop = asyncio.get_running_loop()
        self._drain = Drain(path, self._read)

    async def missing_events(self) -> list[str]:
        """Return the wanted events that the log lacks; LaunchFailed if no first line comes."""
        try:
            async with asyncio.timeout(FIRST_LINE_S):
                while self.reader.missing is None:
                    await asyncio.sleep(0.01)
        except TimeoutError as exc:
            raise LaunchFailed(f"Chromium wrote no line of its log within {FIRST_LINE_S:g} s") from exc
        return sorted(self.reader.missing)

    def begin(self) -> int:
        with self._assembling:
            self._lost_before = self._count_lost()
            self._assembler = Assembler()
            self._assembler.begin_after(self._newest)
            self._began_ms = now_ms()
            self._requests = OpenRequests(self._began_ms)
            return self._began_ms

    def stop(self, at_ms: int) -> int:
        """End the recording at a time, and return it: later events are no part of it."""
        self._assembler.stop_ms = at_ms
        return at_ms

    def finish(self) -> Traffic:
        """Return the recorded traffic; complete once a mark made after `stop` has passed."""
        with self._assembling:
            assembler, self._assembler = self._assembler, Assembler()
            self._ended = assembler.ends
        self._drain.check()
        return assembler.finish()

    def ends(self) -> set[tuple[int, str, int]]:
        """Return local port, remote address and remote port of connections of this recording and the last."""
        with self._assembling:
            return self._assembler.ends | self._ended

    @property
    def lines_lost(self) -> int:
        """Lines of the recording that could not be read."""
        return self._count_lost() - self._lost_before

    @property
    def idle_at_ms(self) -> int:
        """Time from which the network is idle, if nothing moves until then."""
        with self._assembling:
            return self._requests.idle_at_ms

    @property
    def has_open_requests(self) -> bool:
        return bool(self._requests.open)

    @property
    def is_answered(self) -> bool:
        """True if a byte has come for a document of a main frame."""
        with self._assembling:
            return self._assembler.is_answered

    def _count_lost(self) -> int:
        return self.reader.ignored + self.splitter.dropped

    def error_name(self, number: int) -> str:
        return self.reader.error(number)

    def mark(self) -> tuple[list[str], asyncio.Future[int]]:
        """Return names of cookies to set, and the future of the log's time at which they were set."""
        token = secrets.token_hex(8)
        passed = self._marks[f"{token}-{MARKS - 1}"] = self._loop.create_future()
        self._drain.hurry()
        return [f"{token}-{n}" for n in range(MARKS + 15)], passed

    def close(self) -> None:
        self._drain.close()

    def _read(self, chunk: bytes) -> None:
        events = list(self.reader.events(self.splitter.feed(chunk)))
        with self._assembling:
            for event in events:
                self._take(event)

    def _take(self, event: Event[Any]) -> None:
        self._newest = max(self._newest, event.source)
        if event.name == COOKIE_ADDED:
            self._pass(event.params["name"], event.time_ms)
        elif event.time_ms >= self._began_ms:
            self._requests.feed(event)
            self._assembler.feed(event)
        else:  # the visit before had it: Chromium writes in batches
            self._assembler.begin_after(event.source)

    def _pass(self, name: str, time_ms: int) -> None:
        passed = self._marks.pop(name, None)
        if passed is not None:
            self._drain.rest()
            with contextlib.suppress(RuntimeError):  # the loop has ended: no caller waits
                self._loop.call_soon_threadsafe(_tell, passed, time_ms)


def _tell(passed: asyncio.Future[int], time_ms: int) -> None:
    if not passed.done():  # its caller waits no longer
        passed.set_result(time_ms)

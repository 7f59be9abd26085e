"""Chromium's headless shell, with its NetLog streaming into this process."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import os
import re
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from crawler import box
from crawler.browser import processes
from crawler.browser.logstream import LogStream
from crawler.browser.user_agent import AS_IT_IS
from crawler.capture.keylog import KeyLog
from crawler.capture.log_payloads import LogPayloads
from crawler.devtools import document, initiators
from crawler.devtools.pipe_tee import PipeTee, opened_path
from crawler.errors import BrowserMissing, LaunchFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, CDPSession, Playwright

    from crawler.browser.devices import Device
    from crawler.browser.user_agent import Appearance, Guise
    from crawler.capture.capture import Capture
    from crawler.egress.guard import Guard

PACKAGE = "chromium-headless-shell"
"""Debian's name of it."""

QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
)
"""What keeps the browser from talking on its own account."""

UNWANTED_FLAGS = ("--disable-ipc-flooding-protection",)
"""Of Playwright's own: without the protection a page that navigates without end, which Chromium allows 200 times in ten
seconds, drowns driver and crawler in events."""

EVENTS = frozenset((*initiators.EVENTS, *document.EVENTS))
"""What is heard of what pages do."""

LOG_FLAG = "--log-net-log="
CAPTURE_MODE_FLAG = "--net-log-capture-mode="
KEY_LOG_FLAG = "--ssl-key-log-file="
PROFILE_FLAG = "--user-data-dir="
RENDERER = b"--type=renderer"

LOG, KEYS = 0, 1
"""Places of what is opened for the browser."""

WRITTEN_BY_OTHERS = 0o622
"""Mode of a FIFO that another user's browser writes: it lies in a folder that nobody but us may enter, so the browser opens it
by the descriptor that it is given."""

DATA_LIMIT_BYTES = 3 * 1024**3
"""Private writable memory of one process (RLIMIT_DATA); what V8 only reserves does not count, stacks do."""

REFUSED = re.compile(rf"\[err\] ({box.PROGRAM}: .+)")
"""In Playwright's copy of what a browser that does not start has said."""

VERSION = re.compile(r"\d+\.\d+\.\d+\.\d+")

FLAG_LIMIT = 500
"""Characters of a flag that are recorded: the local web's resolver rules are long."""

LAUNCH_TIMEOUT_S = 30.0
MARK_TIMEOUT_S = 5.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What a crawl records about its browser."""

    product: str
    """Product and build, e.g. `Chromium 156.0.8078.79 (headless shell)`."""
    built_on: datetime.datetime | None
    """When its package was built: the binary's modification time, which packages keep and which is never
    before Chromium's own build time; None if nothing says so."""
    user_agent: str
    flags: tuple[str, ...]
    """Its flags that change what is measured."""
    client_hints: str | None = None
    """The headers that it sends unasked, a line each."""


class Browser:
    """One browser process; it holds one page at a time, so a slice of its log is a visit."""

    def __init__(
        self,
        browser: PlaywrightBrowser,
        log: LogStream,
        pipe_tee: PipeTee,
        identity: Identity,
        device: Device,
        guise: Guise,
        guard: Guard | None,
    ) -> None:
        self.identity = identity
        self.guard = guard
        self.log = log
        self.pipe_tee = pipe_tee
        self.device = device
        self._browser = browser
        self._pid = pipe_tee.pid()
        self._guise = guise

    @classmethod
    @contextlib.asynccontextmanager
    async def launch(
        cls,
        chromium: Path,
        *,
        flags: Sequence[str] = (),
        quic: bool = False,
        appearance: Appearance = AS_IT_IS,
        playwright: Playwright | None = None,
        guard: Guard | None = None,
        capture: Capture | None = None,
    ) -> AsyncIterator[Browser]:
        """Start Chromium in a box, inside the address guard if there is one; BrowserMissing if there is no Chromium,
        BoxUnavailable if there is no box to be had, LaunchFailed if it does not start.

        Browsers that share `playwright` share its driver process (128 MB). With a `capture` of the network that it is
        in, what it receives is read from there; else, and with QUIC always, the log has all bytes in it.
        """
        check_there(chromium)
        async with contextlib.AsyncExitStack() as stack:
            driver = playwright
            if driver is None:
                driver = await stack.enter_async_context(async_playwright())
            # Nobody but us may enter it, so that what is executed there is ours.
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstflight-")))
            box.check_place(folder)
            payloads = None
            opened = [folder / "netlog"]
            if capture is not None and capture.is_trusted and not quic:
                opened.append(folder / "keys")
                keys = KeyLog(opened[KEYS])
                stack.callback(keys.close)
                payloads = LogPayloads(capture, keys)
                stack.callback(payloads.close)
            log = LogStream(opened[LOG], payloads)
            stack.callback(log.close)
            for fifo in opened:
                fifo.chmod(WRITTEN_BY_OTHERS)
            pipe_tee = PipeTee(folder, EVENTS)
            stack.callback(pipe_tee.close)
            measuring = [*flags, *(() if quic else ("--disable-quic",))]
            logging = [f"{CAPTURE_MODE_FLAG}{'Everything' if payloads is None else 'IncludeSensitive'}"]
            try:
                guise = appearance.of(await _version(chromium))
                arguments = [
                    *QUIET_FLAGS,
                    *measuring,
                    f"--user-agent={guise.user_agent}",
                    f"{LOG_FLAG}{opened_path(LOG)}",
                    *logging,
                    *(() if payloads is None else (f"{KEY_LOG_FLAG}{opened_path(KEYS)}",)),
                ]
                entrance = () if guard is None else guard.entrance()
                browser = await driver.chromium.launch(
                    executable_path=pipe_tee.program(
                        box.command(chromium, memory_bytes=DATA_LIMIT_BYTES, entrance=entrance),
                        options=[f"{PROFILE_FLAG}{box.PROFILE}"],
                        opened=opened,
                    ),
                    args=arguments,
                    env={**box.environment()},
                    ignore_default_args=UNWANTED_FLAGS,
                    chromium_sandbox=True,
                    handle_sigint=False,
                    handle_sigterm=False,
                    timeout=LAUNCH_TIMEOUT_S * 1000,
                )
                stack.push_async_callback(_close, browser)
            except (PlaywrightError, TimeoutError, OSError) as exc:
                await asyncio.to_thread(box.check)
                raise LaunchFailed(
                    f"{chromium} does not start ({_reason(exc)}): try it by hand, or reinstall {PACKAGE}"
                ) from exc
            identity = _identity(browser, chromium, (*measuring, *logging), guise)
            yield cls(browser, log, pipe_tee, identity, appearance.device, guise, guard)

    @property
    def alive(self) -> bool:
        """Whether the process is there and answers Playwright."""
        return self._browser.is_connected()

    @property
    def pid(self) -> int:
        """Its process that is above all others of its own: bubblewrap's, whose end is theirs."""
        return self._pid

    def memory_bytes(self) -> int:
        """Of its processes, all together; 0 once they have ended."""
        return processes.memory_bytes(self.pid)

    async def context(self) -> BrowserContext:
        """A fresh profile: no cache, no cookies, no connections of the one before."""
        return await self._browser.new_context(accept_downloads=False, **self.device.context())

    async def pose(self, session: CDPSession) -> None:
        """Have a page's client hints match the User-Agent, those of its frames and dedicated workers too.

        The User-Agent itself is a flag of the process, so that service and shared workers have it; what
        their scripts can read of brands is still the headless shell's, but they send no client hints.
        """
        override: dict[str, Any] = {"userAgent": self._guise.user_agent}
        if self._guise.metadata is not None:
            override["userAgentMetadata"] = self._guise.metadata
        await session.send("Emulation.setUserAgentOverride", override)

    async def drained(self, context: BrowserContext, *, timeout_s: float = MARK_TIMEOUT_S) -> bool:
        """Wait until all that the browser has logged so far has been read; False if it does not come in time.

        Chromium holds back up to 14 events until more come. Setting cookies makes more, at no traffic.
        """
        names, passed = self.log.mark()
        cookies = [{"name": name, "value": "1", "url": "http://firstflight.invalid/"} for name in names]
        setting = asyncio.ensure_future(context.add_cookies(cookies))  # type: ignore[arg-type]  # a TypedDict by another name
        passing = asyncio.ensure_future(passed.wait())
        try:
            async with asyncio.timeout(timeout_s):
                # The answer may queue behind a flood of the page's events, and is not needed; an error is.
                await asyncio.wait({setting, passing}, return_when=asyncio.FIRST_COMPLETED)
                if setting.done():
                    await setting
                await passing
        except (TimeoutError, PlaywrightError):
            return passed.is_set()
        finally:
            for one in (setting, passing):
                one.cancel()
            await asyncio.gather(setting, passing, return_exceptions=True)
        return True

    async def end_pages(self) -> None:
        """Kill what runs the pages' scripts; the browser lives on, and what it has logged is still to come."""
        await asyncio.to_thread(self._kill_renderers)

    def _kill_renderers(self) -> None:
        for pid in self.renderers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def renderers(self) -> list[int]:
        """Its processes that run pages."""
        # A process that the zygote forked has its arguments in one string, with spaces between them.
        below = processes.descendants(self.pid)
        return [pid for pid in below if any(RENDERER in one.split() for one in processes.arguments(pid))]


def check_there(chromium: Path) -> None:
    """BrowserMissing if there is no such program."""
    if not os.access(chromium, os.X_OK):
        raise BrowserMissing(f"no browser at {chromium}: install the Debian package {PACKAGE}")


async def _close(browser: PlaywrightBrowser) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):  # it may be dead, or hang
        async with asyncio.timeout(10):
            await browser.close()


def _reason(exc: Exception) -> str:
    """What bubblewrap says, or else what Playwright says first."""
    said = str(exc).strip() or "no answer"
    by_the_box = REFUSED.search(said)
    return by_the_box[1] if by_the_box else said.splitlines()[0]


async def _version(chromium: Path) -> str:
    """E.g. 156.0.8078.79; it is asked for before the start, since the User-Agent is a flag."""
    async with asyncio.timeout(LAUNCH_TIMEOUT_S):
        asked = await asyncio.create_subprocess_exec(
            chromium, "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        said, _ = await asked.communicate()
    found = VERSION.search(said.decode("utf-8", "replace"))
    if found is None:
        raise OSError("it does not tell its version")
    return found[0]


def _identity(browser: PlaywrightBrowser, chromium: Path, flags: Sequence[str], guise: Guise) -> Identity:
    built = datetime.datetime.fromtimestamp(chromium.stat().st_mtime, tz=datetime.UTC)
    return Identity(
        product=f"Chromium {browser.version} (headless shell)",
        built_on=built.replace(microsecond=0),
        user_agent=guise.user_agent,
        flags=tuple(flag[:FLAG_LIMIT] for flag in flags),
        client_hints=guise.client_hints,
    )

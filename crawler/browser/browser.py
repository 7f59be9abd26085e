"""Chromium's headless shell, boxed and steered by Playwright,
with its network log streaming into this process."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import re
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import BrowserContext, CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from crawler import box
from crawler.browser import processes
from crawler.browser.devices import Device
from crawler.browser.identity import PACKAGE, Identity, ask_version, check_executable, identify
from crawler.browser.logstream import LogStream
from crawler.browser.open_pages import OpenPages
from crawler.browser.user_agent import AS_IT_IS, Appearance, Guise
from crawler.capture.capture import Capture
from crawler.devtools.events import EVENTS
from crawler.devtools.pipe_tee import PipeTee, opened_path
from crawler.egress.guard import AddressGuard
from crawler.errors import LaunchFailed

QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
)

UNWANTED_FLAGS = ("--disable-ipc-flooding-protection",)
"""Flags of Playwright that are left out: without this protection a page that navigates without end, which
Chromium allows 200 times in ten seconds, drowns the driver and the crawler in events."""

PROFILE_FLAG = "--user-data-dir="
RENDERER = b"--type=renderer"

DATA_LIMIT_BYTES = 3 * 1024**3
"""Private writable memory of one process (RLIMIT_DATA): stacks count,
memory that V8 only reserves does not."""

REFUSED = re.compile(rf"\[err\] ((?:{box.PROGRAM}|prlimit): .+)")
"""The box's error, in Playwright's copy of the output of a browser that does not start."""

LAUNCH_TIMEOUT_S = 30.0
MARK_TIMEOUT_S = 5.0

LOG_FLAG = "--log-net-log="
CAPTURE_MODE_FLAG = "--net-log-capture-mode=Everything"

WRITTEN_BY_OTHERS = 0o622
"""Mode of a FIFO that a browser of another user writes, by a descriptor: nobody else can enter its folder."""


class Browser:
    """A browser process; it loads one page at a time, so a slice of its log is a visit."""

    def __init__(
        self,
        browser: PlaywrightBrowser,
        channels: Channels,
        identity: Identity,
        device: Device,
        guise: Guise,
        guard: AddressGuard | None,
        capture: Capture | None,
    ) -> None:
        self.identity = identity
        self.guard = guard
        self.capture = capture
        self.log = channels.log
        self.pipe_tee = channels.pipe_tee
        self.device = device
        self._browser = browser
        self._pid = channels.pipe_tee.pid()
        self._guise = guise
        self.pages = OpenPages(self.context, self.send_user_agent, channels.pipe_tee.knows)

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
        guard: AddressGuard | None = None,
        capture: Capture | None = None,
    ) -> AsyncIterator[Browser]:
        """Start Chromium in a box, inside the address guard if there is one.

        BrowserMissing without a Chromium, BoxUnavailable without a box, LaunchFailed if Chromium does not
        start. Browsers that share `playwright` share its driver process (128 MB). With a `capture` of its
        network, a visit says what the packets of its connections carried.
        """
        check_executable(chromium)
        async with contextlib.AsyncExitStack() as stack:
            driver = playwright
            if driver is None:
                driver = await stack.enter_async_context(async_playwright())
            opened = stack.enter_context(open_channels())
            measuring = [*flags, *(() if quic else ("--disable-quic",))]
            entrance = () if guard is None else guard.entrance()
            try:
                guise = appearance.make_guise(await ask_version(chromium))
                browser = await driver.chromium.launch(
                    executable_path=opened.pipe_tee.program(
                        box.box_command(chromium, memory_bytes=DATA_LIMIT_BYTES, entrance=entrance),
                        options=[f"{PROFILE_FLAG}{box.PROFILE}"],
                        opened=[opened.log.path],
                        read=(box.FILTER_DESCRIPTOR, opened.filter),
                    ),
                    args=[*QUIET_FLAGS, *measuring, f"--user-agent={guise.user_agent}", *opened.flags],
                    env={**box.browser_environment()},
                    ignore_default_args=UNWANTED_FLAGS,
                    chromium_sandbox=True,
                    handle_sigint=False,
                    handle_sigterm=False,
                    timeout=LAUNCH_TIMEOUT_S * 1000,
                )
                stack.push_async_callback(_close, browser)
            except (PlaywrightError, TimeoutError, OSError) as exc:
                await asyncio.to_thread(box.check_box)
                raise LaunchFailed(
                    f"{chromium} does not start ({_reason(exc)}): try it by hand, or reinstall {PACKAGE}"
                ) from exc
            identity = identify(chromium, browser.version, (*measuring, CAPTURE_MODE_FLAG), guise)
            launched = cls(browser, opened, identity, appearance.device, guise, guard, capture)
            if capture is not None:
                stack.enter_context(capture.register_log(launched.log.ends))
            stack.push_async_callback(launched.pages.close)
            yield launched

    @property
    def alive(self) -> bool:
        """True if the process answers Playwright."""
        return self._browser.is_connected()

    @property
    def pid(self) -> int:
        """Root of the process tree: bubblewrap, whose end is the end of all."""
        return self._pid

    def memory_bytes(self) -> int:
        return processes.memory_bytes(self.pid)

    async def context(self) -> BrowserContext:
        """Open a fresh profile: no cache, no cookies, no connections."""
        return await self._browser.new_context(accept_downloads=False, **self.device.context())

    async def send_user_agent(self, session: CDPSession) -> None:
        """Make the client hints of a page, its frames and its dedicated workers match the User-Agent.

        The User-Agent is a flag of the process, so that service and shared workers have it. They can read the
        headless shell's brands, but send no client hints.
        """
        override: dict[str, object] = {"userAgent": self._guise.user_agent}
        if self._guise.metadata is not None:
            override["userAgentMetadata"] = self._guise.metadata
        await session.send("Emulation.setUserAgentOverride", override)

    async def drain(self, context: BrowserContext, *, timeout_s: float = MARK_TIMEOUT_S) -> int | None:
        """Wait until the log so far has been read, and return its time of that moment; None if it takes too
        long.

        Chromium holds back up to 14 events until more come. Setting cookies makes more, without traffic.
        """
        names, passing = self.log.mark()
        cookies = [{"name": name, "value": "1", "url": "http://firstflight.invalid/"} for name in names]
        setting = asyncio.ensure_future(context.add_cookies(cookies))  # type: ignore[arg-type]  # a TypedDict by another name
        try:
            async with asyncio.timeout(timeout_s):
                # The answer may queue behind a flood of the page's events, and is not needed; an error is.
                await asyncio.wait((setting, passing), return_when=asyncio.FIRST_COMPLETED)
                if setting.done():
                    await setting
                return await passing
        except (TimeoutError, PlaywrightError):
            return passing.result() if passing.done() and not passing.cancelled() else None
        finally:
            passing.cancel()
            setting.cancel()
            await asyncio.gather(setting, return_exceptions=True)

    async def end_pages(self) -> None:
        """Kill the renderers; the browser and its log live on."""
        await asyncio.to_thread(self._kill_renderers)

    def _kill_renderers(self) -> None:
        for pid in self.list_renderers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def list_renderers(self) -> list[int]:
        # A process that the zygote forked has its arguments in one string, with spaces between them.
        below = processes.list_descendants(self.pid)
        return [
            pid
            for pid in below
            if any(RENDERER in argument.split() for argument in processes.read_arguments(pid))
        ]


async def _close(browser: PlaywrightBrowser) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):  # it may be dead, or hang
        async with asyncio.timeout(10):
            await browser.close()


def _reason(exc: Exception) -> str:
    message = str(exc).strip() or "no answer"
    by_the_box = REFUSED.search(message)
    return by_the_box[1] if by_the_box else message.splitlines()[0]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """The FIFO and the pipes between a browser and this process."""

    log: LogStream
    pipe_tee: PipeTee
    filter: Path

    @property
    def flags(self) -> list[str]:
        return [f"{LOG_FLAG}{opened_path(0)}", CAPTURE_MODE_FLAG]


@contextlib.contextmanager
def open_channels() -> Iterator[Channels]:
    with contextlib.ExitStack() as stack:
        # Nobody else may enter the folder, so that the program executed in it is ours.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstflight-")))
        box.check_place(folder)
        log = LogStream(folder / "netlog")
        stack.callback(log.close)
        log.path.chmod(WRITTEN_BY_OTHERS)
        pipe_tee = PipeTee(folder, EVENTS)
        stack.callback(pipe_tee.close)
        calls = folder / "filter"
        calls.write_bytes(box.system_call_filter())
        yield Channels(log=log, pipe_tee=pipe_tee, filter=calls)

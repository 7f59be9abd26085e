"""Asks a browser which events its log has: one that is renamed or dropped would
leave columns null without a word."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from crawler import box
from crawler.browser.browser import LOG_FLAG, WRITTEN_BY_OTHERS
from crawler.browser.logstream import WANTED
from crawler.errors import LaunchFailed
from crawler.netlog.lines import LineReader

WITHIN_S = 30.0
MEMORY_BYTES = 3 * 1024**3
OPTIONS = ("--headless", f"--user-data-dir={box.PROFILE}", "--dump-dom", "about:blank")


def list_missing_events(chromium: Path) -> list[str]:
    """Return the wanted events that the log of a Chromium lacks; LaunchFailed if it writes none."""
    reader = LineReader(WANTED)
    with tempfile.TemporaryFile() as log:
        os.fchmod(log.fileno(), WRITTEN_BY_OTHERS)
        opened = fcntl.fcntl(log, fcntl.F_DUPFD, box.FILTER_DESCRIPTOR + 1)
        boxed = box.with_filter(box.box_command(chromium, memory_bytes=MEMORY_BYTES))
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [*boxed, f"{LOG_FLAG}/proc/self/fd/{opened}", *OPTIONS],
                input=box.system_call_filter(),
                env=box.browser_environment(),
                cwd="/",
                pass_fds=[opened],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=WITHIN_S,
            )
        os.close(opened)
        log.seek(0)
        list(reader.events([log.readline()]))  # the names of all events
    if reader.missing is None:
        raise LaunchFailed(f"{chromium} writes no log")
    return sorted(reader.missing)


def describe_missing(missing: list[str]) -> str:
    return f"the browser's log has no {', '.join(missing)}: what is read from there stays null"

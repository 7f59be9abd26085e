"""The channels of one browser: its network log and its DevTools messages, each read as it is written."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crawler import box
from crawler.browser.logstream import LogStream
from crawler.devtools import document, initiators
from crawler.devtools.pipe_tee import PipeTee, opened_path

EVENTS = frozenset((*initiators.EVENTS, *document.EVENTS))
"""DevTools events that are read."""

LOG_FLAG = "--log-net-log="
CAPTURE_MODE_FLAG = "--net-log-capture-mode=Everything"
"""Has the log contain all bytes."""

WRITTEN_BY_OTHERS = 0o622
"""Mode of a FIFO that a browser of another user writes. Nobody else can enter its folder: the browser opens it by the
descriptor that it is given."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """The FIFO and the pipes between a browser and this process."""

    log: LogStream
    pipe_tee: PipeTee

    @property
    def flags(self) -> list[str]:
        """Flags that make the browser write its log to the FIFO."""
        return [f"{LOG_FLAG}{opened_path(0)}", CAPTURE_MODE_FLAG]


@contextlib.contextmanager
def channels() -> Iterator[Channels]:
    """Open the channels before a browser starts, and close them after its end."""
    with contextlib.ExitStack() as stack:
        # Nobody else may enter the folder, so that the program executed in it is ours.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstflight-")))
        box.check_place(folder)
        log = LogStream(folder / "netlog")
        stack.callback(log.close)
        log.path.chmod(WRITTEN_BY_OTHERS)
        pipe_tee = PipeTee(folder, EVENTS)
        stack.callback(pipe_tee.close)
        yield Channels(log=log, pipe_tee=pipe_tee)

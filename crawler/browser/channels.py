"""The channels of one browser: its network log, its TLS keys and its DevTools messages, each read as it is written."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawler import box
from crawler.browser.logstream import LogStream
from crawler.capture.keylog import KeyLog
from crawler.capture.log_payloads import LogPayloads
from crawler.devtools import document, initiators
from crawler.devtools.pipe_tee import PipeTee, opened_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.capture.capture import Capture

EVENTS = frozenset((*initiators.EVENTS, *document.EVENTS))
"""DevTools events that are read."""

LOG_FLAG = "--log-net-log="
CAPTURE_MODE_FLAG = "--net-log-capture-mode="
KEY_LOG_FLAG = "--ssl-key-log-file="

LOG, KEYS = 0, 1
"""Positions of the log and the keys among the files opened for the browser."""

WRITTEN_BY_OTHERS = 0o622
"""Mode of a FIFO that a browser of another user writes. Nobody else can enter its folder: the browser opens it by the
descriptor that it is given."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """FIFOs and pipes between a browser and this process."""

    log: LogStream
    pipe_tee: PipeTee
    fifos: list[Path]

    @property
    def capture_mode(self) -> str:
        """The flag that says what the log contains: all bytes, unless a capture has them."""
        return f"{CAPTURE_MODE_FLAG}{'Everything' if self.log.payloads is None else 'IncludeSensitive'}"

    @property
    def flags(self) -> list[str]:
        """Flags that make the browser write to the FIFOs."""
        flags = [f"{LOG_FLAG}{opened_path(LOG)}", self.capture_mode]
        return flags if len(self.fifos) == 1 else [*flags, f"{KEY_LOG_FLAG}{opened_path(KEYS)}"]


@contextlib.contextmanager
def channels(capture: Capture | None) -> Iterator[Channels]:
    """Open the channels before a browser starts, and close them after its end.

    With a trusted `capture`, the log's payloads are read from there, and the browser writes its TLS keys.
    """
    with contextlib.ExitStack() as stack:
        # Nobody else may enter the folder, so that the program executed in it is ours.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstflight-")))
        box.check_place(folder)
        payloads = None
        fifos = [folder / "netlog"]
        if capture is not None and capture.is_trusted:
            fifos.append(folder / "keys")
            keys = KeyLog(fifos[KEYS])
            stack.callback(keys.close)
            payloads = LogPayloads(capture, keys)
            stack.callback(payloads.close)
        log = LogStream(fifos[LOG], payloads)
        stack.callback(log.close)
        for fifo in fifos:
            fifo.chmod(WRITTEN_BY_OTHERS)
        pipe_tee = PipeTee(folder, EVENTS)
        stack.callback(pipe_tee.close)
        yield Channels(log=log, pipe_tee=pipe_tee, fifos=fifos)

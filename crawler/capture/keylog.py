"""TLS secrets that a browser logs (NSS key log format, RFC 9850), read from a FIFO.

Only the secrets of the server's records are kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PIPE_BYTES = 1024 * 1024
"""Largest pipe without privileges on Linux; one read takes all of it."""

MASTER_SECRET = "CLIENT_RANDOM"  # noqa: S105  # a label
"""Label of TLS 1.2's master secret."""
SERVER_TRAFFIC_SECRET = "SERVER_TRAFFIC_SECRET_0"  # noqa: S105  # a label
"""Label of TLS 1.3's secret for application data from the server."""

LINE = re.compile(
    rb"(%b|%b) ([0-9A-Fa-f]{64}) ((?:[0-9A-Fa-f]{2}){1,64})\r?"
    % (MASTER_SECRET.encode("ascii"), SERVER_TRAFFIC_SECRET.encode("ascii"))
)
LINE_LIMIT = 1024
"""Most bytes of an unfinished line that are kept: more than LINE matches, so that the rest of a longer line never does."""

SECRETS_LIMIT = 20_000
"""Most secrets that are kept: a browser with more connections has long closed the first."""


class KeyLog:
    """A browser's secrets, from before its start until after its end. Reads on demand: the pipe holds what comes meanwhile.

    Raises FileExistsError if `path` exists.
    """

    def __init__(self, path: Path) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self._secrets: dict[tuple[str, bytes], bytes] = {}
        self._unfinished = b""
        self._reading = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)
        # Our own writing end keeps the FIFO open until the browser has opened it.
        self._writing = os.fdopen(os.open(path, os.O_WRONLY), "wb", buffering=0)
        with contextlib.suppress(OSError):  # a smaller pipe works too
            fcntl.fcntl(self._reading, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def secret(self, label: str, client_random: bytes) -> bytes | None:
        """The secret of the connection whose ClientHello had `client_random`; None if it is not logged, or forgotten.

        `label` is MASTER_SECRET or SERVER_TRAFFIC_SECRET.
        """
        self.poll()
        return self._secrets.get((label, client_random))

    def poll(self) -> None:
        """Read all that waits, so that the browser finds room; does nothing once closed."""
        written = None if self._reading.closed else self._reading.read(PIPE_BYTES)
        if not written:
            return
        *lines, unfinished = (self._unfinished + written).split(b"\n")
        self._unfinished = unfinished[:LINE_LIMIT]
        for line in lines:
            if (found := LINE.fullmatch(line)) is not None:
                self._remember(*(field.decode("ascii") for field in found.groups()))

    def _remember(self, label: str, client_random: str, secret: str) -> None:
        key = (label, bytes.fromhex(client_random))
        self._secrets.pop(key, None)
        self._secrets[key] = bytes.fromhex(secret)
        if len(self._secrets) > SECRETS_LIMIT:
            del self._secrets[next(iter(self._secrets))]

    def close(self) -> None:
        """Remove the FIFO; the secrets remain."""
        self._writing.close()
        self._reading.close()
        self.path.unlink(missing_ok=True)

"""The web server: granian over a bound socket, with limits on connections, header size and idle time.

A worker process answers requests; the main process restarts it if it dies,
and stops it on SIGTERM and SIGINT.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.abc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from firstflight.clients import ClientBound
from firstflight.listening import BACKLOG

if TYPE_CHECKING:
    from starlette.types import ASGIApp

CONNECTIONS = 2048
"""Most open connections, if there are descriptors; more wait in the kernel's queue."""

DESCRIPTORS_EACH = 2
"""Descriptors of a connection: its own, and that of the file that it sends."""

DESCRIPTORS_KEPT = 128

CLIENT_SHARE = 0.25
"""Largest share of the connections that one client holds; beyond it, its oldest are closed."""

READ_BYTES = 64 * 1024
"""Most that is read of a request line and header section. The application refuses a long one with a problem
(`api.http.hosts`); above this, and a hundred fields, granian answers by itself with 431, or 414 for the line
alone, without a body. It has no option for one.
"""

HEADER_TIMEOUT_S = 10.0
"""Time limit for a complete header section, and for an idle connection."""

STOP_S = 5

LIBRARIES = {
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "DUCKDB_JE_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
}
"""Settings of libraries, read when they are loaded.

By default pyarrow and DuckDB each keep the memory that they once used: 20 MB after the first stream of rows.
numpy's threads wait for each other at the small matrices of intervals, ten times as long as one thread
computes.
"""

NEEDLESS = frozenset({"pandas", "pyarrow._s3fs", "pyarrow._gcsfs", "pyarrow._azurefs", "pyarrow._hdfs"})
"""What pyarrow imports wherever it is installed: pandas, 43 MB, and clients of cloud storage, 5 MB."""

MOST_DESCRIPTORS = Path("/proc/sys/fs/nr_open")
"""The most descriptors that the kernel lets a process have (proc(5))."""

PR_SET_PDEATHSIG = 1


class _Without(importlib.abc.MetaPathFinder):
    """Refuses to import the modules in NEEDLESS; pyarrow then goes without them."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname in NEEDLESS:
            raise ModuleNotFoundError(f"the service does without {fullname}", name=fullname)


class _Server(MPServer):
    """Granian over our socket: its own could share a port with another server, and cannot take port 0."""

    def __init__(self, listening: socket.socket, **options: Any) -> None:  # noqa: ANN401  # granian's
        super().__init__("", **options)
        self._listening = listening

    def _init_shared_socket(self) -> None:
        # Granian's types know neither that it has three arguments, the second for Unix sockets,
        # nor that these vary.
        self._shd: Any = SocketHolder(self._listening.fileno(), False, BACKLOG)  # type: ignore[call-arg]
        self._sso = None


def raise_connection_limit() -> int:
    """Raise the limit of descriptors to the hard limit; return the connections that it allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = int(MOST_DESCRIPTORS.read_text(encoding="ascii"))
    soft = most if hard == resource.RLIM_INFINITY else min(hard, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(CONNECTIONS, max(soft - DESCRIPTORS_KEPT, soft // 2) // DESCRIPTORS_EACH)


def serve(
    listening: socket.socket,
    load: Callable[[], ASGIApp],
    *,
    header_timeout_s: float = HEADER_TIMEOUT_S,
    proxies: Sequence[str] = (),
) -> None:
    """Serve the application that `load` creates in the worker process, until stopped; `proxies` may name the
    client.
    """

    most = raise_connection_limit()

    def loaded() -> ASGIApp:
        # A server that was killed leaves no worker behind with its port.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        for name, value in LIBRARIES.items():
            os.environ.setdefault(name, value)
        sys.meta_path.insert(0, _Without())
        application = ClientBound(
            load(), port=listening.getsockname()[1], most=int(CLIENT_SHARE * most), proxies=proxies
        )
        application.watch()
        gc.freeze()  # what is there now stays: no reason to look through it again and again
        return application

    server = _Server(
        listening,
        interface=Interfaces.ASGI,
        loop=Loops.asyncio,
        runtime_mode=RuntimeModes.st,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=most,
        http1_settings=HTTP1Settings(
            header_read_timeout=round(header_timeout_s * 1000), max_buffer_size=READ_BYTES
        ),
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_S,
    )
    gc.freeze()  # the collector writes to what it looks through, and the worker would have copies of those pages  # noqa: E501
    server.serve(target_loader=loaded, wrap_loader=False)

"""`firstflight serve` as a process of its own, for tests that talk to it over sockets."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WITHIN_S = 120
"""Time limit for the service to start, and to stop, in seconds."""


@contextlib.contextmanager
def served(
    environment: Mapping[str, str],
    *arguments: str,
    log: Path | None = None,
    program: str = "firstflight",
    **options: Any,
) -> Iterator[str]:
    """The address of a service that runs for as long as the block, and then ends well;
    `log` gets what it says."""
    call = [sys.executable, "-m", program, "serve", "--port", "0", *arguments]
    with contextlib.ExitStack() as stack:
        if log is None:
            log = Path(stack.enter_context(tempfile.NamedTemporaryFile()).name)
        output = stack.enter_context(log.open("w"))
        environment = {**os.environ, **environment}
        server = stack.enter_context(subprocess.Popen(call, env=environment, stderr=output, **options))
        try:
            yield address_of(server, log)
        finally:
            server.terminate()
            assert server.wait(WITHIN_S) == 0, log.read_text()


def address_of(server: subprocess.Popen[bytes], log: Path) -> str:
    """The URL that a server prints when it is ready, with a slash at its end."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline and server.poll() is None:
        if address := re.search(r"http://\S+:\d+(?=[/\s])", log.read_text()):
            return f"{address[0]}/"
        time.sleep(0.05)
    raise AssertionError(f"it does not serve: {log.read_text()}")

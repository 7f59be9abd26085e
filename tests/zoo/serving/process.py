"""The zoo's server in a separate process, so that neither the browser's driver
nor the test disturbs its times."""

import asyncio
import contextlib
import dataclasses
import importlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localweb.serving.handler import ServedOrigin
from localweb.serving.log import TruthLog
from tests.zoo.serving.security import Security
from tests.zoo.serving.server import Spoken, ZooWeb

MODULE = "tests.zoo.serving.process"
START_S = 120.0
END_S = 60.0
SCHEMES = ("http", "https")


@dataclasses.dataclass(slots=True)
class Playing:
    """Endpoints and flags of the server, and its log after the end."""

    browser_flags: list[str]
    endpoints: dict[str, tuple[str, int]]
    """Address and port by origin, e.g. `https://zoo.test`."""
    truth: TruthLog = dataclasses.field(default_factory=TruthLog)


@contextlib.contextmanager
def serve_hosts(
    hosts: str, *, protocol: Spoken, folder: Path, security: Security | None = None
) -> Iterator[Playing]:
    """Serve the hosts that `module:name` names: a mapping of host to Handler.

    `truth` is filled in after the block. Raises AssertionError if a handler failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state, log = folder / "web.json", folder / "sent.jsonl"
    for old in (state, log):
        old.unlink(missing_ok=True)
    order = {
        "hosts": hosts,
        "protocol": protocol,
        "security": dataclasses.asdict(security or Security()),
        "state": str(state),
        "log": str(log),
    }
    with subprocess.Popen([sys.executable, "-m", MODULE, json.dumps(order)]) as server:
        try:
            playing = _wait_for_start(server, state)
            yield playing
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(END_S)
    playing.truth = TruthLog.read(log.read_text().splitlines())
    assert not playing.truth.failures, "\n".join(playing.truth.failures)


def _wait_for_start(server: subprocess.Popen[bytes], state: Path) -> Playing:
    deadline = time.monotonic() + START_S
    while not state.exists():
        assert server.poll() is None, "the zoo's server did not start"
        assert time.monotonic() < deadline, "the zoo's server does not listen"
        time.sleep(0.01)
    facts = json.loads(state.read_text())
    endpoints = {origin: (address, port) for origin, (address, port) in facts["endpoints"].items()}
    return Playing(facts["browser_flags"], endpoints)


async def _serve(order: dict[str, Any]) -> None:
    module, _, name = order["hosts"].partition(":")
    hosts = getattr(importlib.import_module(module), name)
    security = Security(**order["security"])
    security.change_aioquic()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with ZooWeb(hosts, protocol=order["protocol"], security=security) as web:
        endpoints = {
            f"{scheme}://{host}": web.endpoint(ServedOrigin(scheme, host))
            for host in hosts
            for scheme in SCHEMES
        }
        _write(Path(order["state"]), json.dumps({"browser_flags": web.browser_flags, "endpoints": endpoints}))
        await stopped.wait()
    _write(Path(order["log"]), "\n".join(web.log.lines()))


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    partial.rename(path)


if __name__ == "__main__":
    asyncio.run(_serve(json.loads(sys.argv[1])))

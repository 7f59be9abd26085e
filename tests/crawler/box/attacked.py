"""Launches the attacker in place of Chromium, beside a database and secrets,
and prints what it gained as JSON.

Runs in namespaces that the test makes for it, never on the machine itself.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawler.browser.browser import Browser
from crawler.egress.guard import AddressGuard, set_up_guard
from crawler.errors import EgressUnavailable, LaunchFailed
from storage import embedded
from tests.crawler.box.confinement import SECRET

MARKER = "--password-of-somebody-else"
ATTACKER = Path(__file__).with_name("attacker.py")


def uplink() -> None:
    """A default route, without which there is nothing to guard."""
    for command in (
        "link set lo up",
        "link add up0 type veth peer up1",
        "address add 93.184.215.2/24 dev up0",
        "link set up0 up",
        "link set up1 up",
        "route add default via 93.184.215.1",
    ):
        subprocess.run(["ip", *command.split()], check=True)


@contextlib.contextmanager
def somebody() -> Iterator[subprocess.Popen[bytes]]:
    sleeping = "import time; time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", sleeping, MARKER]) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def database(folder: Path) -> Iterator[None]:
    embedded.start(folder)
    try:
        yield
    finally:
        embedded.stop(folder)


async def attack(program: Path, guard: AddressGuard | None) -> dict[str, Any]:
    """Return the attacker's last output, which the driver reports with the browser's end."""
    try:
        async with Browser.launch(program, guard=guard):
            pass
    except LaunchFailed as exc:
        error = str(exc.__cause__)
        _, marker, got = error.partition("GOT ")
        assert marker, error
        result: dict[str, Any] = json.loads(got.splitlines()[0])
        return result
    raise AssertionError("it is no browser")


def is_gone(guard: AddressGuard | None) -> bool:
    try:
        if guard is not None:
            guard.check()
    except EgressUnavailable:
        return True
    return False


def play(folder: Path, *, with_guard: bool) -> dict[str, Any]:
    data, temporary, place = folder / "data", folder / "temporary", folder / "browser"
    for path, mode in ((data, 0o755), (temporary, 0o711), (place, 0o755)):
        path.mkdir()
        path.chmod(mode)
    program = place / "chromium"
    shutil.copy(ATTACKER, program)
    tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
    with contextlib.ExitStack() as stack:
        if with_guard:
            uplink()
        guard = stack.enter_context(set_up_guard()) if with_guard else None
        stack.enter_context(database(data / "postgres"))
        other = stack.enter_context(somebody())
        targets = {
            "secret": SECRET,
            "marker": MARKER,
            "data": str(data),
            "temporary": str(temporary),
            "database": str(data / "postgres"),
            "processes": [other.pid, *([guard.namespace_pid] if guard else [])],
        }
        (place / "targets.json").write_text(json.dumps(targets), encoding="utf-8")
        got = asyncio.run(attack(program, guard))
        return {**got, "killed": ["somebody"] * (other.poll() is not None) + ["guard"] * is_gone(guard)}


if __name__ == "__main__":
    print(json.dumps(play(Path(sys.argv[1]), with_guard=sys.argv[2] == "guarded")))

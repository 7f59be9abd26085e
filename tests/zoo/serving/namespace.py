"""Private network namespace: no other traffic, and no privilege needed to capture.

Only loopback is in it, 127.0.0.0/8 whole. User namespaces must be allowed.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

MODULE = "tests.zoo.serving.namespace"
USER = ("--map-user=1000", "--map-group=1000", "--keep-caps")
"""Not root: tcpdump would change to a user that the namespace does not have,
and Chromium would refuse its sandbox."""
NEEDS = "network namespaces need user namespaces: sysctl user.max_user_namespaces, or run as root"


def in_namespace(function: str, *arguments: Any, timeout_s: float = 300.0) -> Any:  # JSON
    """Call `module:function` in a process in a namespace of its own; arguments and result go as JSON.

    Raises AssertionError with the process's output if it fails or is late;
    none of its processes outlives the call.
    """
    unshare = shutil.which("unshare")
    assert unshare, "unshare is missing: apt-get install util-linux"
    with tempfile.TemporaryDirectory(prefix="firstflight-") as folder:
        result, messages = Path(folder, "result.json"), Path(folder, "said.txt")
        command = [unshare, "--user", *USER, "--net", "--fork", "--kill-child"]
        command += [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            MODULE,
            function,
            json.dumps(arguments),
            str(result),
        ]
        with messages.open("w") as output:
            status = _run(command, output, timeout_s)
        text = messages.read_text(errors="replace")
        assert status != "late", f"{function} took more than {timeout_s:g} s:\n{text}"
        assert "unshare failed" not in text, f"{text.strip()}: {NEEDS}"
        assert result.exists(), f"{function} failed ({status}):\n{text}"
        print(text, end="")
        return json.loads(result.read_text())


def _run(command: list[str], output: IO[str], timeout_s: float) -> int | str:
    """Exit status, or `late`. The process leads a group, which is ended with it."""
    with subprocess.Popen(
        command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return "late"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _inside(function: str, arguments: str, result: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    module, _, name = function.partition(":")
    value = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    Path(result).write_text(json.dumps(value))


if __name__ == "__main__":
    _inside(*sys.argv[1:])

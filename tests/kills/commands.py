"""Commands of `firstflight` that a test starts, kills at a moment, and waits for."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

KILLED = -signal.SIGKILL


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    output: str

    @property
    def is_told(self) -> bool:
        """True if it did its work, or said in one line what it did not do."""
        lines = [line for line in self.output.splitlines() if line.startswith("Error: ")]
        return "Traceback" not in self.output and (self.code == 0 or len(lines) == 1)


@dataclasses.dataclass
class Command:
    """A command that was started."""

    server: "Commands"
    pid: int
    log: Path

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)  # nobody else has its number before it was waited for

    def wait(self) -> Ended:
        code = int(self.server.ask({"wait": self.pid}))
        return Ended(code, self.log.read_text(encoding="utf-8", errors="replace"))


class Commands:
    """Starts commands, from a process that has imported them."""

    def __init__(self, log: Path, process: "subprocess.Popen[str]") -> None:
        self._log = log
        self._number = 0
        self._process = process
        self._asking = threading.Lock()

    def ask(self, question: object) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with self._asking:
            stdin.write(json.dumps(question) + "\n")
            stdin.flush()
            return stdout.readline()

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], *, before: str = "") -> Command:
        self._number += 1
        log = self._log / f"{self._number}.log"
        log.touch()  # the command may be killed before it writes
        asked = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "log": str(log),
            "before": before,
        }
        return Command(self, int(self.ask(asked)), log)

    def run(self, arguments: Sequence[str], environment: Mapping[str, str], *, before: str = "") -> Ended:
        return self.start(arguments, environment, before=before).wait()

    def run_killed(
        self, arguments: Sequence[str], environment: Mapping[str, str], after_s: float, *, before: str = ""
    ) -> Ended:
        """Run a command that is killed after so many seconds, unless it has ended."""
        command = self.start(arguments, environment, before=before)
        time.sleep(after_s)
        command.kill()
        return command.wait()


@contextlib.contextmanager
def commands(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Commands]:
    """Commands, whose logs are in a folder; `environment` is of all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    variables = {**os.environ, **(environment or {})}
    call = [sys.executable, "-m", "tests.kills.forking"]
    with subprocess.Popen(
        call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    ) as process:
        yield Commands(folder, process)
        assert process.stdin is not None
        process.stdin.close()

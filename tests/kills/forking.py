"""Starts commands of `firstflight` as forks of a process that has imported what they import.

python -m tests.kills.forking

Each line of its input is a JSON object: a command to start, which is answered with its process id, or a
process to wait for, which is answered with its exit code.
"""

import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from firstflight.main import COMMANDS, MODULES, main

LAZY = (
    "firstflight.commands.crawl.run",
    "firstflight.commands.replay.run",
    "firstflight.commands.report.build",
    "firstflight.erasing",
    "releases.build",
    "releases.verify",
    "reports.document.report",
    "storage.backup",
)
"""Modules that commands import once they run."""


def start(arguments: Sequence[str], environment: Mapping[str, str], log: str, before: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), stream)
        os.environ.update(environment)
        exec(before, {})
        main(list(arguments))
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else int(bool(exc.code))
    except BaseException:  # noqa: BLE001  # it goes to the log, as Python itself would write it
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def answer_lines() -> None:
    for name in COMMANDS:
        importlib.import_module(f"firstflight.commands.{MODULES.get(name, name)}")
    for name in LAZY:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if "wait" in asked:
            answer = os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1])
        else:
            answer = start(**asked)
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    answer_lines()

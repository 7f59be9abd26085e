"""One guest: started on one CPU, listened to, and ended, whatever happens inside it."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replay.errors import GuestFailed
from replay.lab.player import GUEST
from replay.lab.scratch import guest_scratch
from storage.sums import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MEMORY = "512M"
START_NS = 1_000_000_000_000_000_000
"""The guest's wall clock at its start, always the same: nothing inside may depend on when it ran."""

VIRTUAL_SECONDS = 2_000_000
"""When the watchdog inside ends the driver: a program that waits for ever makes virtual time run away."""

SILENCE_S = 120.0
"""When the watchdog outside ends the guest: a load takes a tenth of a second of a core, and answers at its end."""

REAL_PAUSE_S = 0.5
"""Between measurements in real time; queues drain in less."""

ISOLATED = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
"""A process of this machine's kernel that sees none of its networks, mounts and processes."""

DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
"""With the thread that waits for it: a guest whose starter was killed would do all its work for nobody."""

LOG_LINES = 40
KERNEL_NOISE = (
    "Using a channel type which is configured out of UML",
    "setup_one_line failed",
    "reboot: Power down",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lab:
    """The programs of the lab."""

    kernel: Path | None
    """A user-mode one; None: this machine's own, in namespaces."""
    player: Path
    modules: tuple[str, ...] = ()
    """Files that a kernel which has not all built in must load, each perhaps with a colon and parameters."""
    is_virtual: bool = True
    """Whether time jumps to the next timer, or passes as ours does."""

    def sums(self) -> dict[str, str]:
        """SHA-256 of the programs that decide a replay's cells, by what they are."""
        programs = {"kernel": self.kernel, "player": self.player}
        return {name: sha256(path) for name, path in programs.items() if path is not None}


def run_guest(
    lab: Lab,
    work: dict[str, Any],
    pages: list[str],
    on_answer: Callable[[dict[str, Any]], None],
    *,
    cpu: int,
    silence_s: float = SILENCE_S,
) -> None:
    """Boot a guest, have it do `work` on `pages` (recipes as text), and pass on each of its answers.

    GuestFailed if it did not finish, with the end of its log; what it had answered by then counts.
    """
    with guest_scratch() as scratch:
        paths = []
        for number, page in enumerate(pages):
            path = scratch / f"{number}.page"
            path.write_text(page, encoding="utf-8")
            paths.append(str(path))
        settings = [] if lab.is_virtual else [f"pause {REAL_PAUSE_S}"]
        told = {**work, "player": str(lab.player), "settings": settings, "pages": paths}
        (scratch / "work.json").write_text(json.dumps(told))
        process = start(lab, scratch, cpu=cpu)
        listen(process, on_answer, silence_s=silence_s)


def start(lab: Lab, scratch: Path, *, cpu: int) -> subprocess.Popen[str]:
    """The guest as a process group of its own, pinned: a user-mode kernel is many times slower on two CPUs."""
    work = scratch / "work.json"
    guest = kernel_command(lab, work) if lab.kernel else host_command(GUEST, work)
    environment = {"TMPDIR": str(scratch), "HOME": str(scratch), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.Popen(
        [*DIES_WITH_US, "taskset", "-c", str(cpu), *guest],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def host_command(guest: Path, work: Path) -> list[str]:
    """The driver in `guest` on the kernel that runs us."""
    return [*ISOLATED, "sh", str(guest / "host.sh"), str(guest), str(work)]


def kernel_command(lab: Lab, work: Path) -> list[str]:
    """A user-mode kernel whose first process is the player."""
    return [
        str(lab.kernel),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"mem={MEMORY}"),
        *("con=null", "con0=fd:0,fd:1", "quiet"),
        *(("time-travel=inf-cpu", f"time-travel-start={START_NS}") if lab.is_virtual else ()),
        "devtmpfs.mount=0",  # it would hide /dev/shm
        *((f"MODULES={','.join(lab.modules)}",) if lab.modules else ()),
        *(f"init={lab.player}", f"GUEST={GUEST}", f"WORK={work}"),
        f"VIRTUAL_SECONDS={VIRTUAL_SECONDS}",
    ]


class Watchdog(threading.Thread):
    """Ends a guest that has not answered for too long."""

    def __init__(self, process: subprocess.Popen[str], silence_s: float) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.silence_s = silence_s
        self.heard = time.monotonic()
        self.over = threading.Event()
        self.bit = False

    def run(self) -> None:
        """Until the guest is over."""
        while not self.over.wait(min(1.0, self.silence_s / 4)):
            if time.monotonic() - self.heard > self.silence_s:
                self.bit = True
                kill(self.process)
                return


def listen(
    process: subprocess.Popen[str], on_answer: Callable[[dict[str, Any]], None], *, silence_s: float
) -> None:
    """Pass on what the guest answers until it powers off; end it when it says nothing or we are interrupted."""
    watchdog = Watchdog(process, silence_s)
    watchdog.start()
    log: collections.deque[str] = collections.deque(maxlen=LOG_LINES)
    finished = False
    try:
        for answer in answers(process, log):
            watchdog.heard = time.monotonic()
            finished = finished or "finished" in answer
            on_answer(answer)
    finally:
        watchdog.over.set()
        kill(process)
        process.wait()
        if process.stdout:
            process.stdout.close()
    if watchdog.bit:
        raise GuestFailed(f"a guest said nothing for {silence_s:g} s", "\n".join(log))
    if not finished:
        last = f": {log[-1]}" if log else ""
        raise GuestFailed(f"a guest ended before its work did{last}", "\n".join(log))


def answers(process: subprocess.Popen[str], log: collections.deque[str]) -> Iterator[dict[str, Any]]:
    """What stands on lines that begin with @; all else is kept as the log."""
    assert process.stdout
    for line in process.stdout:
        text = line.strip()
        if text.startswith("@"):
            try:
                yield json.loads(text[1:])
            except json.JSONDecodeError:
                log.append(text)  # cut off by the guest's death
        elif text and not text.startswith(KERNEL_NOISE):
            log.append(text)


def kill(process: subprocess.Popen[str]) -> None:
    """The guest and the processes that its programs are, all of one group that we made."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def usable_cpus() -> list[int]:
    """CPUs that this process may run on."""
    return sorted(os.sched_getaffinity(0))

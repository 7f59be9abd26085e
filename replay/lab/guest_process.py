"""A guest as a process: started on one CPU, read until it ends, and always ended."""

import collections
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.errors import GuestFailed
from replay.lab import kernel, player
from replay.lab.player import GUEST
from replay.lab.scratch import FOLDERS, guest_scratch
from storage.sums import sha256

MEMORY = "512M"
START_NS = 1_000_000_000_000_000_000
"""Wall clock of the guest at its start: constant, so that nothing inside depends on the real date."""

VIRTUAL_SECONDS = 2_000_000
"""Virtual seconds after which the watchdog inside ends the driver: while all programs wait, virtual time
races ahead.
"""

SILENCE_S = 120.0
"""Real time without an answer, after which the guest is killed; a load takes about 0.1 s."""

REAL_PAUSE_S = 0.5
"""Pause between measurements in real time, in which queues drain."""

ISOLATED = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")

KILL_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")

YIELDING = ("chrt", "--batch", "0")
"""Let other programs go first whenever they wake (SCHED_BATCH, sched(7)). A user-mode kernel and its
programs wake each other 100,000 times a second, and each time would take the CPU from whatever runs:
beside two guests, services stood still for half a minute. A virtual clock measures the same."""

LOG_LINES = 40
KERNEL_NOISE = (
    "Using a channel type which is configured out of UML",
    "setup_one_line failed",
    "reboot: Power down",
)

CLAIMS = "firstflight-cpus"

MOST_CLAIMS = 16
"""Most guests that share a CPU by claims; further ones take the CPU that they prefer."""


GuestAnswer = dict[str, Any]
"""Values by name in one line of the driver's or the player's output (replay/lab/guest)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lab:
    """The programs of a lab, and how its time passes."""

    kernel: Path | None
    """None: the host's kernel, in namespaces."""
    player: Path
    modules: tuple[str, ...] = ()
    """Modules that the kernel must load, as PATH or PATH:PARAMETERS."""
    is_virtual: bool = True
    """True if time jumps to the next timer."""

    def sums(self) -> dict[str, str]:
        programs = {"kernel": self.kernel, "player": self.player}
        return {name: sha256(path) for name, path in programs.items() if path is not None}


def locate(cache: Path) -> Lab:
    """Return the lab in a cache; LabMissing if it is not built."""
    return Lab(kernel=kernel.locate(cache), player=player.locate(cache))


def run_guest(
    lab: Lab,
    work: Mapping[str, object],
    pages: list[str],
    on_answer: Callable[[GuestAnswer], None],
    *,
    cpus: Sequence[int] | None = None,
    silence_s: float = SILENCE_S,
) -> None:
    """Boot a guest, give it `work` and `pages` (recipes as text), and call `on_answer` with each answer.

    It runs on the first of `cpus`, by default the last usable one, that no other guest holds. GuestFailed
    with the end of the log; earlier answers stay valid.
    """
    with guest_scratch() as scratch, claim_cpu(cpus or usable_cpus()[::-1]) as cpu:
        paths = []
        for number, page in enumerate(pages):
            path = scratch / f"{number}.page"
            path.write_text(page, encoding="utf-8")
            paths.append(str(path))
        settings = [] if lab.is_virtual else [f"pause {REAL_PAUSE_S}"]
        job = {**work, "player": str(lab.player), "settings": settings, "pages": paths}
        (scratch / "work.json").write_text(json.dumps(job))
        process = start(lab, scratch, cpu=cpu)
        listen(process, on_answer, silence_s=silence_s)


def start(lab: Lab, scratch: Path, *, cpu: int, guest: Path = GUEST) -> subprocess.Popen[str]:
    """Start a guest in its own process group on one CPU; a user-mode kernel is far slower on two.

    `guest` is the folder of the driver, which works in `scratch`.
    """
    work = scratch / "work.json"
    command = kernel_command(lab, work, guest) if lab.kernel else host_command(guest, work)
    environment = {"TMPDIR": str(scratch), "HOME": str(scratch), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.Popen(
        [*KILL_WITH_PARENT, *(YIELDING if lab.is_virtual else ()), "taskset", "-c", str(cpu), *command],
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
    return [*ISOLATED, "sh", str(guest / "host.sh"), str(guest), str(work)]


def kernel_command(lab: Lab, work: Path, guest: Path) -> list[str]:
    return [
        str(lab.kernel),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"mem={MEMORY}"),
        *("con=null", "con0=fd:0,fd:1", "quiet"),
        *(("time-travel=inf-cpu", f"time-travel-start={START_NS}") if lab.is_virtual else ()),
        "devtmpfs.mount=0",  # it would hide /dev/shm
        *((f"MODULES={','.join(lab.modules)}",) if lab.modules else ()),
        *(f"init={lab.player}", f"GUEST={guest}", f"WORK={work}"),
        f"VIRTUAL_SECONDS={VIRTUAL_SECONDS}",
    ]


class Watchdog(threading.Thread):
    """Kills a guest that has not answered for `silence_s` seconds."""

    def __init__(self, process: subprocess.Popen[str], silence_s: float) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.silence_s = silence_s
        self.last_answer = time.monotonic()
        self.over = threading.Event()
        self.has_killed = False

    def run(self) -> None:
        while not self.over.wait(min(1.0, self.silence_s / 4)):
            if time.monotonic() - self.last_answer > self.silence_s:
                self.has_killed = True
                kill(self.process)
                return


def listen(
    process: subprocess.Popen[str], on_answer: Callable[[GuestAnswer], None], *, silence_s: float
) -> None:
    """Call `on_answer` until the guest powers off; kill it when it falls silent, or on an interrupt."""
    watchdog = Watchdog(process, silence_s)
    watchdog.start()
    log: collections.deque[str] = collections.deque(maxlen=LOG_LINES)
    finished = False
    try:
        for answer in answers(process, log):
            watchdog.last_answer = time.monotonic()
            finished = finished or "finished" in answer
            on_answer(answer)
    finally:
        watchdog.over.set()
        kill(process)
        process.wait()
        if process.stdout:
            process.stdout.close()
    if watchdog.has_killed:
        raise GuestFailed(f"a guest said nothing for {silence_s:g} s", "\n".join(log))
    if not finished:
        raise GuestFailed(f"a guest ended before its work did{last_words(log)}", "\n".join(log))


def last_words(log: Iterable[str]) -> str:
    """Return what a log tells of the end: the player's last line, else the last one.

    >>> last_words(["player: accept: Too many open files", "the player ended with status 1"])
    ': player: accept: Too many open files'
    """
    lines = list(log)
    words = [line for line in lines if line.startswith("player: ")] or lines
    return f": {words[-1]}" if words else ""


def answers(process: subprocess.Popen[str], log: collections.deque[str]) -> Iterator[GuestAnswer]:
    assert process.stdout
    for line in process.stdout:
        text = line.strip()
        if text.startswith("@"):
            try:
                yield json.loads(text[1:])
            except json.JSONDecodeError:
                log.append(text)  # truncated when the guest died
        elif text and not text.startswith(KERNEL_NOISE):
            log.append(text)


def kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def usable_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


@contextlib.contextmanager
def claim_cpu(cpus: Sequence[int]) -> Iterator[int]:
    """Hold the first of `cpus` that no other guest holds; where all are held, the one with the fewest.

    A claim is a lock (flock(2)) on a file, which ends with its process.
    """
    folder = claims_folder()
    for guests in range(MOST_CLAIMS):
        for cpu in cpus:
            handle = _lock(folder / f"{cpu}.{guests}")
            if handle is None:
                continue
            try:
                yield cpu
            finally:
                os.close(handle)
            return
    yield cpus[0]


def claims_folder() -> Path:
    """Return the folder of the claims, to which every user can add."""
    folder = next((above for above in map(Path, FOLDERS) if above.is_dir()), Path("/tmp")) / CLAIMS  # noqa: S108
    with contextlib.suppress(OSError):  # it is there, or nobody can have it: then there are no claims
        folder.mkdir()
        folder.chmod(0o1777)
    return folder


def _lock(path: Path) -> int | None:
    """Return the descriptor of the locked file; None if it is held, or cannot be opened."""
    try:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            # Without O_CREAT first: a file of another user's in a sticky folder cannot be opened
            # with it (fs.protected_regular).
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CREAT, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle

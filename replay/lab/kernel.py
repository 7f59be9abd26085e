"""The guest's kernel: User-Mode Linux from Debian's source package, built once and cached by its inputs."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from replay.errors import BuildFailed, KernelError

PACKAGE = "linux-source-6.12"
SOURCE = Path(f"/usr/src/{PACKAGE}.tar.xz")
VERSION = Path(f"/usr/src/{PACKAGE}.version")
"""Version of the source package, in an image that holds the built kernel but not the package."""

BUILD_INPUTS = Path(__file__).with_name("guest") / "kernel"
CONFIG = BUILD_INPUTS / "config"
NEEDED = [
    *("*/Kconfig*", "*/Makefile*", "*/Kbuild*"),
    *(f"{PACKAGE}/{name}" for name in ("arch/um", "arch/x86", "drivers/base", "drivers/char", "drivers/tty")),
    *(f"{PACKAGE}/drivers/net/{name}.c" for name in ("loopback", "veth")),
    *(f"{PACKAGE}/{name}" for name in ("block", "crypto", "fs", "include", "init", "io_uring", "ipc")),
    *(f"{PACKAGE}/{name}" for name in ("kernel", "lib", "mm", "net", "scripts", "security", "usr")),
]
"""The files that the build reads of the archive, a sixth of it, as patterns of tar."""

FOLDER = "kernel"

FILES = 620

COMPILED = re.compile(rb"^  (CC|AS|HOSTCC) ", re.MULTILINE)

SECONDS_BETWEEN_TRIES = 1

FLAGS = "KCFLAGS=-O1 -w"
"""Options for the compiler. Against `-O2`, a build takes an eighth less time and a guest a fiftieth more;
results are the same to the byte.
"""

ADDED = {f"net/ipv4/{name}": BUILD_INPUTS / name for name in ("tcp_fld.c", "tcp_rfc2581.c")}
"""Files that we add, by their paths in the source."""

# REUSE-IgnoreStart: not the licence of this file.
LICENCE = "SPDX-License-Identifier: GPL-2.0-only\n\n"
# REUSE-IgnoreEnd

TOOLS = {
    "make": "build-essential",
    "gcc": "build-essential",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "patch": "build-essential",
}


def congestion_controls() -> tuple[str, ...]:
    names = re.findall(r"^CONFIG_TCP_CONG_(\w+)=y$", CONFIG.read_text(encoding="utf-8"), re.MULTILINE)
    return ("reno", *(name.lower() for name in names if name != "ADVANCED"))


def package_version() -> str:
    """Return the version of the source package, installed or that of the image's kernel."""
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    status, _, version = query.stdout.partition(" ")
    if status != "installed":
        with contextlib.suppress(FileNotFoundError):
            return VERSION.read_text(encoding="ascii")
        raise KernelError(f"the replay's kernel needs Debian's {PACKAGE}: apt-get install {PACKAGE}")
    return version


def build_key(version: str) -> str:
    # The licence lines are left out, so that kernels built before these lines were added stay valid.
    changes = [
        path.read_text(encoding="utf-8").removeprefix(LICENCE) for path in [*patches(), *ADDED.values()]
    ]
    recipe = json.dumps([version, options(), changes])
    return hashlib.sha256(recipe.encode()).hexdigest()


def patches() -> list[Path]:
    """Return the patches, sorted; they do not overlap, and each begins with its reason."""
    return sorted(BUILD_INPUTS.glob("*.patch"))


def kernel_path(cache: Path) -> Path:
    return cache / FOLDER / build_key(package_version())[:16] / "linux"


def locate(cache: Path) -> Path:
    """Return the path of the kernel; KernelError if it is not built."""
    path = kernel_path(cache)
    if not path.is_file():
        raise KernelError(f"no guest kernel in {path.parent}: run `firstflight replay build-lab`")
    return path


def build_kernel(cache: Path, say: Callable[[str], None]) -> Path:
    """Return the path of the kernel, built if need be, in minutes of all cores and 400 MB."""
    path = kernel_path(cache)
    if path.is_file():
        return path
    check_tools()
    with sole_builder(path.parent.parent, say), scratch_folder(path.parent.parent) as scratch:
        if path.is_file():  # another process built it
            return path
        jobs = len(os.sched_getaffinity(0))
        say(f"compiling the guest kernel on {jobs} cores: about {3 // jobs + 1} minutes, once")
        tree, log = scratch / PACKAGE, scratch / "log"
        unpack = ["tar", "-x", "-f", str(SOURCE), "--use-compress-program=xz -T0", "-C", str(scratch)]
        run([*unpack, "--wildcards", *NEEDED], log=log)
        configure(tree, log=log)
        run([*make(tree), FLAGS, f"-j{jobs}", "linux"], log=log, shows_progress=True)
        finished = scratch / "finished"
        finished.mkdir()
        shutil.copy2(tree / "linux", finished / "linux")
        shutil.copy2(tree / ".config", finished / "config")
        publish(finished, path.parent)
    say(f"guest kernel: {path}")
    return path


def check_tools() -> None:
    lacking = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    if not SOURCE.is_file():
        lacking.append(PACKAGE)
    if lacking:
        raise KernelError(f"to build the replay's kernel: apt-get install {' '.join(lacking)}")


def configure(tree: Path, *, log: Path) -> None:
    """Patch and configure the source; BuildFailed if an option took no effect."""
    for patch in patches():
        run(["patch", "--batch", "--strip=1", "--fuzz=0", f"--directory={tree}", f"--input={patch}"], log=log)
    for name, source in ADDED.items():
        shutil.copy2(source, tree / name)
    # The others have nothing to compile, and cost two hundred calls of make.
    (tree / "drivers" / "Makefile").write_text("obj-y := tty/ char/ base/ net/\n", encoding="utf-8")
    run([*make(tree), f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"], log=log)
    configuration = (tree / ".config").read_text(encoding="utf-8").splitlines()
    if refused := sorted({*options()} - {*configuration}):
        raise BuildFailed(f"the kernel's configuration did not take {', '.join(refused)}")


def make(tree: Path) -> list[str]:
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    return ["make", "-C", str(tree), "ARCH=um", f"CC={compiler}"]


def options() -> list[str]:
    return [line for line in CONFIG.read_text(encoding="utf-8").splitlines() if line.startswith("CONFIG_")]


@contextlib.contextmanager
def sole_builder(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Lock `folder` for one build, and remove the remains of killed ones."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        if not try_lock(lock):
            say("waiting for another build of the guest kernel")
            began = time.monotonic()
            while not try_lock(lock):
                show_progress(count_compiled(folder), began)
                time.sleep(SECONDS_BETWEEN_TRIES)
        for stale in folder.glob(".build-*"):
            shutil.rmtree(stale, ignore_errors=True)
        yield


def try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def count_compiled(folder: Path) -> int:
    """Return the files that a running build has compiled; 0 if none runs."""
    compiled = 0
    for log in folder.glob(".build-*/log"):
        with contextlib.suppress(FileNotFoundError):
            compiled = len(COMPILED.findall(log.read_bytes()))
    return min(compiled, FILES)


def show_progress(compiled: int, began: float) -> None:
    if sys.stderr.isatty():
        bar = f"{'#' * (20 * compiled // FILES):20}"
        left_s = (time.monotonic() - began) / max(compiled, 1) * (FILES - compiled)
        left = f", {left_s:.0f} s left" if compiled else ""
        print(f"|{bar}| {compiled} of {FILES} files{left} ", end="\r", file=sys.stderr, flush=True)


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder on the file system of the results, so that publishing is a rename."""
    scratch = Path(tempfile.mkdtemp(prefix=".build-", dir=parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def publish(finished: Path, place: Path) -> None:
    """Move a finished folder to its place; another process's is as good."""
    finished.chmod(0o755)
    try:
        finished.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def run(argv: list[str], *, log: Path, shows_progress: bool = False) -> None:
    """Run a step of a build; BuildFailed shows the end of its log."""
    began, compiled = time.monotonic(), 0
    with (
        log.open("ab") as sink,
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        assert process.stdout
        for line in process.stdout:
            sink.write(line)
            if shows_progress and COMPILED.match(line):
                sink.flush()
                compiled = min(compiled + 1, FILES)
                show_progress(compiled, began)
    if process.returncode != 0:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        raise BuildFailed(f"{Path(argv[0]).name} failed: {' | '.join(tail)}")

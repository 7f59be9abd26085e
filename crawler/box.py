"""The box in which every browser runs, made of Linux namespaces by bubblewrap (bwrap(1)), and of a filter of
system calls.

In it a compromised browser finds no file, process, socket or environment variable of the crawler, no
capability, and no way to gain one. Chromium makes its own sandbox, for its renderers, inside.
"""

import dataclasses
import errno
import os
import platform
import shutil
import socket
import stat
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from crawler.errors import BoxUnavailable

BROWSER_UID = 61_501
"""User of the browsers if the crawl runs as root: of systemd's range of transient users and in no passwd
file, so that no file belongs to it. Browsers see themselves as this user in any case: Chromium has no sandbox
for root.
"""

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"

SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

LINKS_INTO_USR = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
"""Links into /usr in Debian, or folders if /usr is not merged (file-hierarchy(7))."""

VISIBLE = (
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/sys/devices/system/cpu",
    "/var/cache/fontconfig",
)
"""Paths besides /usr that a browser sees, read-only: to show text, resolve names and count processors."""

PASSED_ON = ("LANG", "LANGUAGE", "LC_ALL", "TZ")
"""Environment variables that a browser inherits."""

HOME = "/tmp"  # noqa: S108  # the box's own
PROFILE = f"{HOME}/profile"

FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Families of sockets that a browser may make: those that the address guard or a namespace of the box
holds. By AF_VSOCK, for one, it would reach the host of a virtual machine. Chromium learns of changes of
the network by AF_NETLINK."""

TASKS = 4096
"""Most processes and threads of a box (RLIMIT_NPROC); a page of many frames has some hundred."""

FILES_BYTES = 2 * 1024**3
"""Limit of a browser's temporary files and shared memory."""

REMEDIES = (
    ("mount proc", "this container's /proc is masked: run it with --security-opt systempaths=unconfined"),
    (
        "",
        "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
        "kernel.apparmor_restrict_unprivileged_userns) and, in a container, "
        "mounts in them (docs/operations.md)",
    ),
)
"""Remedies by a word of bubblewrap's error."""

CHECK_WITHIN_S = 20.0

FILTER_DESCRIPTOR = 9


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """Numbers of an architecture (linux/audit.h and its asm/unistd.h)."""

    audit: int
    sockets: tuple[int, ...]
    refused: tuple[int, ...]
    """add_key, bpf, io_uring_enter, io_uring_register, io_uring_setup, keyctl, perf_event_open,
    request_key, userfaultfd: of no use to Chromium, and never held by namespaces; io_uring also makes
    sockets that no filter sees."""


MACHINES = {
    "x86_64": Architecture(
        audit=0xC000003E, sockets=(41, 53), refused=(248, 321, 426, 427, 425, 250, 298, 249, 323)
    ),
    "aarch64": Architecture(
        audit=0xC00000B7, sockets=(198, 199), refused=(217, 280, 426, 427, 425, 219, 241, 218, 282)
    ),
}

# linux/bpf_common.h, linux/seccomp.h
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOWED, FAILS = 0x7FFF_0000, 0x0005_0000
NUMBER_AT, AUDIT_AT, FIRST_ARGUMENT_AT = 0, 4, 16
"""Places in struct seccomp_data; of the first argument the lower half, on processors that keep it first."""

X32 = 0x4000_0000
"""Bit of the numbers of x86-64's second set of calls (x32), which no machine here has."""


def system_call_filter() -> bytes:
    """Return the filter of system calls as bubblewrap reads it; BoxUnavailable for an unknown processor.

    Calls of another architecture, such as 32-bit ones, do not exist.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise BoxUnavailable(
            f"no filter of system calls for {platform.machine()}: crawl on {' or '.join(MACHINES)}"
        )
    refuse, no_call, no_family = (FAILS | code for code in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT))
    # Each test jumps over the following instruction if it fails, or if it holds.
    program = [(LOAD, 0, 0, AUDIT_AT), (EQUAL, 1, 0, machine.audit), (RETURN, 0, 0, no_call)]
    program += [(LOAD, 0, 0, NUMBER_AT), (AT_LEAST, 0, 1, X32), (RETURN, 0, 0, no_call)]
    for number in machine.refused:
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, refuse)]
    program += [(EQUAL, 2, 0, machine.sockets[0]), (EQUAL, 1, 0, machine.sockets[1]), (RETURN, 0, 0, ALLOWED)]
    program.append((LOAD, 0, 0, FIRST_ARGUMENT_AT))
    for family in FAMILIES:
        program += [(EQUAL, 0, 1, family), (RETURN, 0, 0, ALLOWED)]
    program.append((RETURN, 0, 0, no_family))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def browser_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {"PATH": SEARCH_PATH, "HOME": HOME, **kept}


def box_command(chromium: Path, *, memory_bytes: int, entrance: Sequence[str] = ()) -> list[str]:
    """Return a command that takes Chromium's arguments and becomes Chromium in a box.

    `entrance` is a command that enters the browser's network and executes the command after it
    (Guard.entrance); without it the network is the crawler's. Each process may have `memory_bytes` of data
    (RLIMIT_DATA) and leaves no core dump. Open descriptors stay open: through them the browser writes to the
    crawler. `system_call_filter` must be open at FILTER_DESCRIPTOR.
    """
    limits = [f"--data={memory_bytes}", "--core=0"]
    return [
        "prlimit",
        *limits,
        "setpriv",
        *_credentials(),
        *entrance,
        PROGRAM,
        *_namespaces(),
        *_view(chromium),
    ]


def _credentials() -> list[str]:
    uid = browser_uid()
    other = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid != os.geteuid() else []
    return [*other, "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all"]


def _namespaces() -> list[str]:
    """Return options for namespaces; the user namespace is a child of the network's owner, so its
    capabilities do not reach the network.
    """
    kinds = ("user", "pid", "ipc", "uts", "cgroup-try")
    identity = ["--uid", str(BROWSER_UID), "--gid", str(BROWSER_UID)]
    return [
        *(f"--unshare-{kind}" for kind in kinds),
        *identity,
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
        *("--seccomp", str(FILTER_DESCRIPTOR)),
    ]


def _view(chromium: Path) -> list[str]:
    program = chromium.resolve()
    places = ["--ro-bind", "/usr", "/usr"]
    for link in map(Path, LINKS_INTO_USR):
        places += (
            ["--symlink", str(link.readlink()), str(link)] if link.is_symlink() else _bind_read_only(link)
        )
    for path in VISIBLE:
        places += _bind_read_only(path)
    # Read-only, since /proc/sys has switches of the guard's network, which belongs to the browser's user.
    places += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for folder in ("/dev/shm", HOME):  # noqa: S108
        places += ["--size", str(FILES_BYTES), "--tmpfs", folder]
    if not program.is_relative_to("/usr"):
        places += _bind_read_only(program.parent)
    places += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    # Within the box, whose user namespace has a count of its own: outside it would be that of all browsers.
    return [*places, "--", "prlimit", f"--nproc={TASKS}", "--", str(program)]


def _bind_read_only(path: Path | str) -> list[str]:
    return ["--ro-bind-try", str(path), str(path)]


def check_place(folder: Path) -> None:
    """Raise BoxUnavailable if another user could replace this folder, whose programs are executed."""
    for above in folder.resolve().parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise BoxUnavailable(
                f"everybody may rename what is in {above}: chmod o-w, or set TMPDIR to another folder"
            )


def check_box() -> None:
    """Try to make a box; BoxUnavailable says what to do if that fails."""
    if shutil.which(PROGRAM, path=SEARCH_PATH) is None:
        raise BoxUnavailable(f"no {PROGRAM}: apt-get install {PACKAGE}")
    call = with_filter(box_command(Path("/usr/bin/true"), memory_bytes=2**30))
    done = subprocess.run(
        call,
        env=browser_environment(),
        cwd="/",
        input=system_call_filter(),
        capture_output=True,
        check=False,
        timeout=CHECK_WITHIN_S,
    )
    if done.returncode:
        stderr = done.stderr.decode(errors="replace").strip()
        error = (stderr or f"exit code {done.returncode}").splitlines()[0]
        remedy = next(remedy for word, remedy in REMEDIES if word in error)
        raise BoxUnavailable(f"the browsers' box cannot be made ({error}): {remedy}")


def with_filter(call: Sequence[str]) -> list[str]:
    return ["sh", "-c", f'exec "$@" {FILTER_DESCRIPTOR}<&0 </dev/null', "sh", *call]


def browser_uid() -> int:
    """Return BROWSER_UID if this process may become that user, else its own user."""
    if os.geteuid() != 0:
        return os.geteuid()
    spans = (line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines())
    mapped = any(int(first) <= BROWSER_UID < int(first) + int(length) for first, _, length in spans)
    return BROWSER_UID if mapped else 0

"""The box in which every browser runs, made of Linux namespaces by bubblewrap (bwrap(1)).

In it a compromised browser finds no file, process, socket or environment variable of the crawler, no
capability, and no way to gain one. Chromium makes its own sandbox, for its renderers, inside.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from crawler.errors import BoxUnavailable

BROWSER_UID = 61_501
"""User of the browsers if the crawl runs as root. The number is from systemd's range of transient users and
in no passwd file, so that no file belongs to it. Browsers see themselves as this user in any case: Chromium
has no sandbox for root."""

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"
"""Debian's package of the program."""

SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Search path for the programs that start the browser: folders that only root can write."""

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
"""Environment variables that a browser inherits: its language and its time zone."""

HOME = "/tmp"  # noqa: S108  # the box's own
PROFILE = f"{HOME}/profile"
"""Profile folder in the box; Playwright's own is outside."""

FILES_BYTES = 2 * 1024**3
"""Limit of a browser's temporary files and shared memory, which are held in memory."""

REMEDIES = (
    ("mount proc", "this container's /proc is masked: run it with --security-opt systempaths=unconfined"),
    (
        "",
        "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
        "kernel.apparmor_restrict_unprivileged_userns) and, in a container, "
        "mounts in them (docs/operations.md)",
    ),
)
"""Remedies by a word of bubblewrap's error; the first that fits is shown."""

CHECK_WITHIN_S = 20.0


def environment() -> dict[str, str]:
    """Return the whole environment of the browser's processes and of the programs that start it."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {"PATH": SEARCH_PATH, "HOME": HOME, **kept}


def command(chromium: Path, *, memory_bytes: int, entrance: Sequence[str] = ()) -> list[str]:
    """Return a command that takes Chromium's arguments and becomes Chromium in a box of its own.

    `entrance` is a command that enters the browser's network and executes the command after it
    (Guard.entrance); without it the network is the crawler's. Each process may have `memory_bytes` of data
    (RLIMIT_DATA) and leaves no core dump. Open descriptors stay open: through them the browser writes to the
    crawler.
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
    """Return options that drop all capabilities and groups, and change the user where that is allowed."""
    uid = browser_uid()
    other = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid != os.geteuid() else []
    return [*other, "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all"]


def _namespaces() -> list[str]:
    """Return options for new namespaces; the user namespace is a child of the network's owner, so its
    capabilities do not reach the network."""
    kinds = ("user", "pid", "ipc", "uts", "cgroup-try")
    identity = ["--uid", str(BROWSER_UID), "--gid", str(BROWSER_UID)]
    return [
        *(f"--unshare-{kind}" for kind in kinds),
        *identity,
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
    ]


def _view(chromium: Path) -> list[str]:
    """Return options for the file system that a browser sees, and the program."""
    program = chromium.resolve()
    places = ["--ro-bind", "/usr", "/usr"]
    for link in map(Path, LINKS_INTO_USR):
        places += ["--symlink", str(link.readlink()), str(link)] if link.is_symlink() else _shown(link)
    for path in VISIBLE:
        places += _shown(path)
    # Read-only, since /proc/sys has switches of the guard's network, which belongs to the browser's user.
    places += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for folder in ("/dev/shm", HOME):  # noqa: S108
        places += ["--size", str(FILES_BYTES), "--tmpfs", folder]
    if not program.is_relative_to("/usr"):
        places += _shown(program.parent)
    places += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    return [*places, "--", str(program)]


def _shown(path: Path | str) -> list[str]:
    return ["--ro-bind-try", str(path), str(path)]


def check_place(folder: Path) -> None:
    """Raise BoxUnavailable if another user could replace this folder, whose programs are executed."""
    for above in folder.resolve().parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise BoxUnavailable(
                f"everybody may rename what is in {above}: chmod o-w, or set TMPDIR to another folder"
            )


def check() -> None:
    """Try to make a box; BoxUnavailable says what to do if that fails."""
    if shutil.which(PROGRAM, path=SEARCH_PATH) is None:
        raise BoxUnavailable(f"no {PROGRAM}: apt-get install {PACKAGE}")
    call = command(Path("/usr/bin/true"), memory_bytes=2**30)
    done = subprocess.run(
        call, env=environment(), cwd="/", capture_output=True, text=True, check=False, timeout=CHECK_WITHIN_S
    )
    if done.returncode:
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
        remedy = next(remedy for word, remedy in REMEDIES if word in said)
        raise BoxUnavailable(f"the browsers' box cannot be made ({said}): {remedy}")


def browser_uid() -> int:
    """Return BROWSER_UID if this process may become that user, else its own user."""
    if os.geteuid() != 0:
        return os.geteuid()
    spans = (line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines())
    mapped = any(int(first) <= BROWSER_UID < int(first) + int(length) for first, _, length in spans)
    return BROWSER_UID if mapped else 0

"""The box that every browser runs in, made by bubblewrap (bwrap(1)) out of Linux's namespaces.

A browser that is taken over finds in it no file, process, socket or environment variable of the crawler, no capability,
and no way to gain one. Chromium's own sandbox, for its renderers, is made inside.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import BoxUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

BROWSER_UID = 61_501
"""The user that browsers run as where the crawl runs as root: of the range that systemd gives out for a while,
named in no passwd, so that nothing on the machine is theirs. It is also what they see themselves as:
Chromium has no sandbox for root."""

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"
"""Debian's name of it."""

SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the programs are found that lead to the browser: folders that only root can write."""

LINKS_INTO_USR = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
"""Debian's links, and folders where /usr is not merged (file-hierarchy(7))."""

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
"""What a browser sees of the machine beside /usr, read-only: how to show text, resolve names, and count processors."""

PASSED_ON = ("LANG", "LANGUAGE", "LC_ALL", "TZ")
"""Of the crawler's environment, what decides in which language a browser asks, and by which clock."""

HOME = "/tmp"  # noqa: S108  # the box's own
PROFILE = f"{HOME}/profile"
"""Playwright's own folder for it is outside."""

FILES_BYTES = 2 * 1024**3
"""Temporary files and shared memory of one browser, which lie in memory."""

REMEDIES = (
    ("mount proc", "this container's /proc is masked: run it with --security-opt systempaths=unconfined"),
    (
        "",
        "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
        "kernel.apparmor_restrict_unprivileged_userns) and, in a container, mounts in them (docs/operations.md)",
    ),
)
"""By a word of what bubblewrap says."""

CHECK_WITHIN_S = 20.0


def environment() -> dict[str, str]:
    """The whole environment of what leads to the browser, and so of all its processes."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {"PATH": SEARCH_PATH, "HOME": HOME, **kept}


def command(chromium: Path, *, memory_bytes: int, entrance: Sequence[str] = ()) -> list[str]:
    """A command that takes Chromium's arguments and becomes Chromium in a box of its own.

    `entrance` is a command that enters the network that the browser is to have, and there runs what follows it
    (Guard.entrance); without it that is the crawler's. Each process may have `memory_bytes` of data (RLIMIT_DATA), and none
    leaves a core dump. What is open stays open: descriptors are how the browser reaches the crawler.
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
    """No capability; another user where we may become one, who has no group of ours."""
    uid = browser_uid()
    other = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid != os.geteuid() else []
    return [*other, "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all"]


def _namespaces() -> list[str]:
    """The user namespace is a child of that which owns the network: no capability in it is worth anything there."""
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
    """What a browser sees of the file system, and where it is called."""
    program = chromium.resolve()
    places = ["--ro-bind", "/usr", "/usr"]
    for link in map(Path, LINKS_INTO_USR):
        places += ["--symlink", str(link.readlink()), str(link)] if link.is_symlink() else _shown(link)
    for path in VISIBLE:
        places += _shown(path)
    # /proc/sys has switches of the guard's network, which is the browser's user's own.
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
    """BoxUnavailable where somebody else could put another folder in the place of this one, whose programs we execute."""
    for above in folder.resolve().parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise BoxUnavailable(
                f"everybody may rename what is in {above}: chmod o-w, or set TMPDIR to another folder"
            )


def check() -> None:
    """BoxUnavailable, which says what to do, where no box can be made."""
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
    """BROWSER_UID where we may become it, else our own user."""
    if os.geteuid() != 0:
        return os.geteuid()
    spans = (line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines())
    mapped = any(int(first) <= BROWSER_UID < int(first) + int(length) for first, _, length in spans)
    return BROWSER_UID if mapped else 0

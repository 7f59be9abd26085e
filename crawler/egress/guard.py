"""The guard as the crawl uses it: set up once, before the first browser, and entered by each."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.egress.namespace import receive_sockets
from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

BROWSER_UID = 61_501
"""The user that browsers run as where the crawl runs as root: of the range that systemd gives out for a while,
named in no passwd, so that nothing on the machine is theirs. It is also what they see themselves as:
Chromium has no sandbox for root."""

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 40.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """Namespaces that are there, and how a browser gets into them."""

    holder: int
    """Process that lives in them."""
    namespace: str
    """Of the network, as /proc/PID/ns/net says: net:[4026532247]."""
    uid: int
    """Their owner, whom the browsers run as."""
    capture: socket.socket | None = None
    """Sees what TCP arrives for the browsers, and nothing of the machine's; None where the kernel refuses that.

    It is a raw socket of their network, so it is theirs in no way: closed where a program is executed, and when the guard
    ends. A ring on it must be closed before.
    """

    def check(self) -> None:
        """EgressUnavailable when the guard is gone: nothing is reachable any more, the machine least of all."""
        try:
            namespace = str(Path(f"/proc/{self.holder}/ns/net").readlink())
        except OSError:
            namespace = ""
        if namespace != self.namespace:
            raise EgressUnavailable("the address guard ended under the crawl: run it again")

    def admit(self, chromium: Path, folder: Path, memory_bytes: int) -> Path:
        """A program that takes Chromium's arguments, enters, lets go of every capability, and is Chromium.

        It is put into `folder`, which is given to the browser's user with all that is in it. Each process may
        have `memory_bytes` of data (RLIMIT_DATA).
        """
        program = folder / "chromium"
        program.write_text(self.script(chromium, folder, memory_bytes), encoding="utf-8")
        program.chmod(0o700)
        if self.uid != os.geteuid():
            for above in folder.parents:
                if not above.stat().st_mode & stat.S_IXOTH:
                    raise EgressUnavailable(
                        f"the browsers' user may not enter {above}: chmod o+x, or set TMPDIR to another folder"
                    )
            for path in (folder, *(one for one in folder.iterdir() if one != program)):
                os.chown(path, self.uid, self.uid)
        return program

    def script(self, chromium: Path, home: Path, memory_bytes: int) -> str:
        """The text of it.

        The browser's user namespace is a child of the one that owns the network: whatever capability it gained in
        its own would be worth nothing over the rules. The last line before Chromium looks where it has come to.
        """
        other = self.uid != os.geteuid()
        own = f'for one; do case $one in --user-data-dir=*) chown -R {self.uid}:{self.uid} -- "${{one#*=}}";; esac; done\n'
        become = f"setpriv --reuid={self.uid} --regid={self.uid} --clear-groups "
        look = (
            f'ulimit -d {memory_bytes // 1024}; [ "$(readlink /proc/self/ns/net)" = "{self.namespace}" ] && exec "$@"; '
            'echo "not inside the address guard" >&2; exit 1'
        )
        return (
            f"#!/bin/sh\n{own if other else ''}export HOME={shlex.quote(str(home))} TMPDIR={shlex.quote(str(home))}\n"
            f"exec {become if other else ''}"
            f"nsenter --preserve-credentials --user=/proc/{self.holder}/ns/user --net=/proc/{self.holder}/ns/net "
            f"unshare --user --map-user={BROWSER_UID} --map-group={BROWSER_UID} "
            f"setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all "
            f'sh -c {shlex.quote(look)} sh {shlex.quote(str(chromium))} "$@"\n'
        )


@contextlib.contextmanager
def guarded() -> Iterator[Guard]:
    """Set the guard up; EgressUnavailable, which says what to do, where that cannot be."""
    uid = browser_uid()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ours)
        with theirs:
            process = stack.enter_context(_holder(uid, theirs.fileno()))
        assert process.stdout is not None
        said = json.loads(process.stdout.readline() or '{"error": "its process ended"}')
        if "error" in said:
            raise EgressUnavailable(f"the address guard cannot be set up: {said['error']}")
        captures = [stack.enter_context(one) for one in receive_sockets(ours)[1]]
        yield Guard(
            holder=said["holder"],
            namespace=said["namespace"],
            uid=uid,
            capture=captures[0] if captures else None,
        )


@contextlib.contextmanager
def _holder(uid: int, channel: int) -> Iterator[subprocess.Popen[str]]:
    call = [sys.executable, "-m", "crawler.egress.holder", str(uid), str(channel)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        call, stdin=pipe, stdout=pipe, text=True, start_new_session=True, pass_fds=[channel]
    ) as process:
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(ENDS_WITHIN_S)


def browser_uid() -> int:
    """BROWSER_UID where we may become it, else our own user."""
    if os.geteuid() != 0:
        return os.geteuid()
    spans = (line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines())
    mapped = any(int(first) <= BROWSER_UID < int(first) + int(length) for first, _, length in spans)
    return BROWSER_UID if mapped else 0

"""The guard as the crawl uses it: set up once, before the first browser, and entered by each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.egress.control import CHECK, ENDED, MEND, Control
from crawler.egress.namespace import INNER
from crawler.egress.networks import is_refused
from crawler.errors import EgressUnavailable
from crawler.wire.ring import renew

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.egress.networks import Network

BROWSER_UID = 61_501
"""The user that browsers run as where the crawl runs as root: of the range that systemd gives out for a while,
named in no passwd, so that nothing on the machine is theirs. It is also what they see themselves as:
Chromium has no sandbox for root."""

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 40.0

NEEDED = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
"""Variables that the holder starts with; a database's URL or a store's keys are none of its business, still less of the process
in the namespaces, which is the browsers' user."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """Namespaces that are there, and how a browser gets into them."""

    holder: int
    """Process that lives in them."""
    namespace: str
    """Of the network, as /proc/PID/ns/net says: net:[4026532247]."""
    uid: int
    """Their owner, whom the browsers run as."""
    control: Control
    """Asks the process that holds it all."""
    capture: socket.socket | None = None
    """Sees what TCP arrives for the browsers, and nothing of the machine's; None where the kernel refuses that.

    It is a raw socket of their network, so it is theirs in no way: closed where a program is executed, and when the guard
    ends. A ring on it must be closed before.
    """

    def check(self) -> None:
        """EgressUnavailable unless all of the guard is there and as it was set up; says what is missing or differs.

        All of it: the namespace, both ends of the link, addresses, routes, the rules inside and outside, forwarding, and the
        machine's own way out. It changes nothing. For after each visit: what it takes is in decision record 15.

        After EgressUnavailable no visit that ended since the last good check says anything of its site. Claim no more, give
        those visits back, and call `mend`; the browsers may live on.
        """
        self._ask(CHECK)
        if self.capture is not None and self.capture.getsockname()[0] != INNER:
            raise EgressUnavailable("the address guard is not whole: its capture does not see its link")

    def mend(self) -> None:
        """Put back whatever is missing, rules before links; EgressUnavailable, which says what, where that cannot be.

        Afterwards `check` has passed. This guard and its `capture` remain what they were, so browsers and captures live on;
        pages that were being loaded meanwhile see their network change. It may take seconds: call it in a thread. Where it
        fails because the machine's own network is away it may be called again later; whoever will not wait ends the run
        with its error.
        """
        self._ask(MEND)
        if self.capture is not None:
            try:
                renew(self.capture, INNER)
            except OSError as exc:
                raise EgressUnavailable(
                    f"the capture of the address guard cannot be renewed: {exc.strerror}"
                ) from exc
        self.check()

    def _ask(self, what: bytes) -> None:
        try:
            namespace = str(Path(f"/proc/{self.holder}/ns/net").readlink())
        except OSError:
            namespace = ""
        if namespace != self.namespace:
            raise EgressUnavailable(ENDED)
        self.control.ask(what)

    def refuses(self, address: str) -> bool:
        """Whether no page in it may reach an address, as of the last check."""
        return is_refused(address, self.control.local)

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
def guarded(blocked: Sequence[Network] = ()) -> Iterator[Guard]:
    """Set the guard up; EgressUnavailable, which says what to do, where that cannot be.

    `blocked` are networks that are refused besides those that always are (`networks.py`) and the machine's own.
    """
    uid = browser_uid()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ours)
        ours.settimeout(READY_WITHIN_S)
        with theirs:
            stack.enter_context(_holder(uid, theirs.fileno(), blocked))
        control = Control(ours)
        try:
            said, captures = control.entrance()
        except EgressUnavailable as exc:
            raise EgressUnavailable(f"the address guard cannot be set up: {exc}") from exc
        for one in captures:
            stack.enter_context(one)
        yield Guard(
            holder=said["holder"],
            namespace=said["namespace"],
            uid=uid,
            control=control,
            capture=captures[0] if captures else None,
        )


@contextlib.contextmanager
def _holder(uid: int, channel: int, blocked: Sequence[Network]) -> Iterator[subprocess.Popen[bytes]]:
    networks = ",".join(map(str, blocked))
    call = [sys.executable, "-m", "crawler.egress.holder", str(uid), str(channel), networks]
    with subprocess.Popen(
        call,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=[channel],
        env={name: os.environ[name] for name in NEEDED if name in os.environ},
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

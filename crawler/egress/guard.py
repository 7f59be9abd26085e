"""The guard as the crawl uses it: set up once, before the first browser, and entered by each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.box import browser_uid
from crawler.capture.ring import renew
from crawler.egress.control import CHECK, MEND, Control
from crawler.egress.namespace import INNER
from crawler.egress.networks import is_refused
from crawler.errors import EgressUnavailable, GuardEnded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.egress.networks import Network

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 40.0

NEEDED = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
"""Variables that the guard process starts with; a database's URL or a store's keys are none of its business, still less of the process
in the namespaces, which is the browsers' user."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """Namespaces that are there, and how a browser gets into them."""

    namespace_pid: int
    """Process that lives in them."""
    namespace: str
    """Of the network, as /proc/PID/ns/net says: net:[4026532247]."""
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
            namespace = str(Path(f"/proc/{self.namespace_pid}/ns/net").readlink())
        except OSError:
            namespace = ""
        if namespace != self.namespace:
            raise GuardEnded
        self.control.ask(what)

    def refuses(self, address: str) -> bool:
        """Whether no page in it may reach an address, as of the last check."""
        return is_refused(address, self.control.local)

    def entrance(self) -> list[str]:
        """A command that enters, and there becomes the command that follows it; it fails where the guard is gone."""
        look = (
            f'[ "$(readlink /proc/self/ns/net)" = "{self.namespace}" ] && exec "$@"; '
            'echo "not inside the address guard" >&2; exit 1'
        )
        inside = [f"--{kind}=/proc/{self.namespace_pid}/ns/{kind}" for kind in ("user", "net")]
        return ["nsenter", "--preserve-credentials", *inside, "sh", "-c", look, "sh"]


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
            stack.enter_context(_guard_process(uid, theirs.fileno(), blocked))
        control = Control(ours)
        try:
            said, captures = control.entrance()
        except EgressUnavailable as exc:
            raise EgressUnavailable(f"the address guard cannot be set up: {exc}") from exc
        for one in captures:
            stack.enter_context(one)
        yield Guard(
            namespace_pid=said["namespace_pid"],
            namespace=said["namespace"],
            control=control,
            capture=captures[0] if captures else None,
        )


@contextlib.contextmanager
def _guard_process(uid: int, channel: int, blocked: Sequence[Network]) -> Iterator[subprocess.Popen[bytes]]:
    networks = ",".join(map(str, blocked))
    call = [sys.executable, "-m", "crawler.egress.guard_process", str(uid), str(channel), networks]
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

"""The address guard as the crawl uses it: set up once, before the first browser,
and entered by each browser."""

import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler.box import browser_uid
from crawler.capture.ring import renew_ring
from crawler.egress.control import CHECK, MEND, Control
from crawler.egress.namespace import INNER
from crawler.egress.networks import Network, is_refused
from crawler.errors import EgressUnavailable, GuardEnded

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 40.0

NEEDED = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
"""Environment variables of the guard process: neither it nor the process in the namespaces, which has the
browsers' user, needs the database's URL or a store's keys."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AddressGuard:
    """An address guard that is up."""

    namespace_pid: int
    namespace: str
    """Network namespace as /proc/PID/ns/net names it: net:[4026532247]."""
    control: Control
    capture: socket.socket | None = None
    """Raw socket that receives the TCP packets of the browsers, and none of the machine's;
    None if the kernel refuses it.

    No browser inherits it: it is closed when a program is executed. It is closed when the guard ends, and a
    ring on it must be closed before.
    """
    tcp_info: socket.socket | None = None
    """Socket for the TCP connections of the browsers' network (`capture.tcp_info`), closed as `capture` is;
    None if the kernel refuses it.
    """

    def check(self) -> None:
        """Raise EgressUnavailable, which names the part, unless the whole guard is as it was set up.

        The parts are the namespace, both ends of the link, addresses, routes, the rules inside and outside,
        forwarding, and the machine's own default route. Nothing is changed. Call it after each visit: without
        a change that the kernel announced, it is one request to the guard's process.

        After EgressUnavailable no visit that ended since the last good check says anything of its site: claim
        no site, give those visits back, and call `mend`. The browsers may live on.
        """
        self._ask(CHECK)
        if self.capture is not None and self.capture.getsockname()[0] != INNER:
            raise EgressUnavailable("the address guard is not whole: its capture does not see its link")

    def mend(self) -> None:
        """Put back the missing parts, rules before links, and check; EgressUnavailable names what cannot be
        put back.

        This guard and its `capture` stay valid; pages that are loading see their network change. It may take
        seconds: call it in a thread. While the machine's own network is away it fails, and may be called
        again.
        """
        self._ask(MEND)
        if self.capture is not None:
            try:
                renew_ring(self.capture, INNER)
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
        return is_refused(address, self.control.local)

    def entrance(self) -> list[str]:
        """Return a command that enters the guard and executes the command after it."""
        look = (
            f'[ "$(readlink /proc/self/ns/net)" = "{self.namespace}" ] && exec "$@"; '
            'echo "not inside the address guard" >&2; exit 1'
        )
        inside = [f"--{kind}=/proc/{self.namespace_pid}/ns/{kind}" for kind in ("user", "net")]
        return ["nsenter", "--preserve-credentials", *inside, "sh", "-c", look, "sh"]


@contextlib.contextmanager
def set_up_guard(blocked: Sequence[Network] = ()) -> Iterator[AddressGuard]:
    """Set up the guard; EgressUnavailable says what to do.

    `blocked` are networks besides those that are always refused (`networks.py`) and the machine's own.
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
            entrance, captures = control.entrance()
        except EgressUnavailable as exc:
            raise EgressUnavailable(f"the address guard cannot be set up: {exc}") from exc
        for capture in captures:
            stack.enter_context(capture)
        yield AddressGuard(
            namespace_pid=entrance["namespace_pid"],
            namespace=entrance["namespace"],
            control=control,
            capture=captures[0] if captures else None,
            tcp_info=captures[1] if len(captures) > 1 else None,
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

"""Builds both sides of an address guard, compares them with what was built, and builds them anew."""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterator

from crawler.egress import forwarding
from crawler.egress.changes import have_changed, open_listeners
from crawler.egress.inside import Inside
from crawler.egress.layout import GuardLayout, Link, make_layout
from crawler.egress.machine import read_machine
from crawler.egress.nameservers import RESOLV_CONF, parse_nameservers
from crawler.egress.networks import Network
from crawler.errors import EgressUnavailable

LOCK_FILE = "/proc/sys/net/ipv4/tcp_fastopen_key"
"""File that is locked. Each network namespace has its own, of mode 0600, which the kernel opens only for the
namespace's owner and for CAP_NET_ADMIN over it. It is neither read nor written."""

LOCK_WITHIN_S = 30.0
LOCK_PAUSE_S = 0.05


class Building:
    """An address guard in the guard process.

    Its namespaces exist from the beginning, the rest from `build` on.
    """

    def __init__(self, uid: int, blocked: tuple[Network, ...]) -> None:
        """Make the namespaces of the user `uid`; `blocked` are the operator's networks."""
        self._blocked = blocked
        self._opened: set[str] = set()
        self.inside = Inside(uid)
        self._link: Link | None = None
        self.layout: GuardLayout | None = None
        self._built: dict[str, object] = {}
        self._listening = [*open_listeners(), *self.inside.listeners()]
        self._known_servers = ""
        self._is_good = False

    def build(self) -> list[socket.socket]:
        """Build the guard, or build it anew; return the sockets on which DNS is asked.

        The link is removed first and made last: nothing passes while rules are missing, or after
        EgressUnavailable.
        """
        self._is_good = False
        with hold_lock():
            self._link = link = self._link or forwarding.free_link()
            forwarding.unlink(link)
            forwarding.sweep()
            forwarding.check_firewall()
            layout = self._make_layout(link)
            try:
                forwarding.attach(layout, self.inside.pid, self._opened)
                sockets = self.inside.settle(layout)
                built = self._read_state(layout)
                _check_built(built)
            except (EgressUnavailable, OSError):
                forwarding.unlink(link)
                raise
        self.layout, self._built = layout, built
        return sockets

    def check(self) -> None:
        """Raise EgressUnavailable if a part is missing or changed, or if the machine's network is."""
        if have_changed(self._listening):
            self._is_good = False
        if not self._is_good or self._servers() != self._known_servers:
            self._check_all()
            self._is_good = True

    def _check_all(self) -> None:
        self._is_good = False
        assert self.layout is not None
        forwarding.check_firewall()
        if self._make_layout(self.layout.link) != self.layout:
            raise EgressUnavailable(
                "this machine's network is not what it was when the address guard was built"
            )
        state = self._read_state(self.layout)
        wrong = [name for name, value in self._built.items() if state.get(name) != value]
        if wrong:
            raise EgressUnavailable(f"the address guard is not whole: missing or changed: {', '.join(wrong)}")

    def remove(self) -> None:
        self.inside.close()
        if self._link is not None:
            with hold_lock():
                forwarding.detach(self._link, self._opened)

    def _make_layout(self, link: Link) -> GuardLayout:
        outside = read_machine()
        self._known_servers = self._servers()
        return make_layout(
            link,
            outside,
            forwarding.forwarded_versions(outside),
            blocked=self._blocked,
            nameservers=parse_nameservers(self._known_servers.splitlines()),
        )

    @staticmethod
    def _servers() -> str:
        return RESOLV_CONF.read_text(encoding="utf-8", errors="replace")

    def _read_state(self, layout: GuardLayout) -> dict[str, object]:
        return forwarding.read_state(layout, self._opened) | self.inside.look()


def _check_built(built: dict[str, object]) -> None:
    for name, value in built.items():
        if not value or (isinstance(value, dict) and not value["up"]):
            raise EgressUnavailable(f"the address guard could not be built: missing: {name}")


@contextlib.contextmanager
def hold_lock() -> Iterator[None]:
    """Hold the lock while a guard is set up, mended or ended; the kernel releases it if the process dies.

    Lock files would differ from user to user, and a fixed name could be taken by a user who may not set up a
    guard.
    """
    try:
        descriptor = os.open(LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as exc:
        raise EgressUnavailable(
            f"{LOCK_FILE} cannot be opened ({exc.strerror}), by which guards take turns"
        ) from exc
    try:
        _wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int) -> None:
    deadline = time.monotonic() + LOCK_WITHIN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EgressUnavailable("another address guard is being set up and does not end") from None
            time.sleep(LOCK_PAUSE_S)
        else:
            return

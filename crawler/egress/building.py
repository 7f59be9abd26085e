"""Builds both sides of an address guard, compares them with what was built, and builds them anew."""

from __future__ import annotations

import socket
from typing import Any

from crawler.egress import forwarding
from crawler.egress.changes import have_changed, listeners
from crawler.egress.inside import Inside
from crawler.egress.lock import alone
from crawler.egress.machine import machine
from crawler.egress.nameservers import RESOLV_CONF, nameservers
from crawler.egress.networks import Network
from crawler.egress.plan import Link, Plan, planned
from crawler.errors import EgressUnavailable


class Building:
    """An address guard in the guard process. Its namespaces exist from the beginning, the rest from `build` on."""

    def __init__(self, uid: int, blocked: tuple[Network, ...]) -> None:
        """Make the namespaces for browsers of the user `uid`; `blocked` are networks that the operator names."""
        self._blocked = blocked
        self._opened: set[str] = set()
        self.inside = Inside(uid)
        self._link: Link | None = None
        self.plan: Plan | None = None
        self._built: dict[str, Any] = {}
        self._listening = [*listeners(), *self.inside.listeners()]
        self._known_servers = ""
        self._is_good = False
        """True if the last look found the guard whole, and the kernel has reported no change since."""

    def build(self) -> list[socket.socket]:
        """Build the guard, or build it anew; return the sockets on which DNS is asked.

        The link is removed first and made last, so that nothing passes while rules are missing. After EgressUnavailable
        there is no link.
        """
        self._is_good = False
        with alone():
            self._link = link = self._link or forwarding.free_link()
            forwarding.unlink(link)
            forwarding.sweep()
            forwarding.check_firewall()
            plan = self._planned(link)
            try:
                forwarding.attach(plan, self.inside.pid, self._opened)
                sockets = self.inside.settle(plan)
                built = self._look(plan)
                _check_there(built)
            except (EgressUnavailable, OSError):
                forwarding.unlink(link)
                raise
        self.plan, self._built = plan, built
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
        assert self.plan is not None
        forwarding.check_firewall()
        if self._planned(self.plan.link) != self.plan:
            raise EgressUnavailable(
                "this machine's network is not what it was when the address guard was built"
            )
        found = self._look(self.plan)
        wrong = [name for name, value in self._built.items() if found.get(name) != value]
        if wrong:
            raise EgressUnavailable(f"the address guard is not whole: missing or changed: {', '.join(wrong)}")

    def remove(self) -> None:
        """Remove the whole guard."""
        self.inside.close()
        if self._link is not None:
            with alone():
                forwarding.detach(self._link, self._opened)

    def _planned(self, link: Link) -> Plan:
        outside = machine()
        self._known_servers = self._servers()
        return planned(
            link,
            outside,
            forwarding.versions(outside),
            blocked=self._blocked,
            nameservers=nameservers(self._known_servers.splitlines()),
        )

    @staticmethod
    def _servers() -> str:
        return RESOLV_CONF.read_text(encoding="utf-8", errors="replace")

    def _look(self, plan: Plan) -> dict[str, Any]:
        return forwarding.look(plan, self._opened) | self.inside.look()


def _check_there(built: dict[str, Any]) -> None:
    """Raise EgressUnavailable if a part was not built after all."""
    for name, value in built.items():
        if not value or (isinstance(value, dict) and not value["up"]):
            raise EgressUnavailable(f"the address guard could not be built: missing: {name}")

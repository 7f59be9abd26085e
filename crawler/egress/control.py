"""The crawl's end of the channel to the guard process, which checks or mends the guard on request."""

import ipaddress
import socket
import threading
from typing import Any, TypedDict

from crawler.egress.inside import receive_answer
from crawler.egress.networks import Network
from crawler.errors import GuardEnded

CHECK, MEND = b"check", b"mend"

CHECKED_WITHIN_S = 60.0
MENDED_WITHIN_S = 120.0
"""Time limits on a loaded machine, in seconds: each program has 20 s, and waiting for another guard 30 s."""


class Entrance(TypedDict):
    """The first message of a guard process: how its namespaces are entered."""

    namespace_pid: int
    namespace: str
    local: list[str]


class Control:
    """Sends requests to the guard process; threads may share it, and each gets its own answer."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._asking = threading.Lock()
        self.local: tuple[Network, ...] = ()
        """Networks refused on this machine alone, as of the last answer."""

    def entrance(self) -> tuple[Entrance, list[socket.socket]]:
        """Receive how to enter the guard, and the sockets of the capture, once it is up."""
        result, sockets = self._answer()
        self._learn(result["local"])
        return result, sockets

    def ask(self, what: bytes) -> None:
        """Send CHECK or MEND; EgressUnavailable says what is wrong,
        GuardEnded if the process ended or does not answer."""
        with self._asking:
            try:
                self._channel.settimeout(CHECKED_WITHIN_S if what == CHECK else MENDED_WITHIN_S)
                self._channel.send(what)
            except OSError as exc:
                raise GuardEnded from exc
            self._learn(self._answer()[0])

    def _answer(self) -> tuple[Any, list[socket.socket]]:
        try:
            return receive_answer(self._channel)
        except EOFError as exc:
            raise GuardEnded from exc
        except OSError as exc:
            self._channel.close()  # or a late answer would be taken for the answer to the next request
            raise GuardEnded("the address guard's own process does not answer: run it again") from exc

    def _learn(self, local: list[str]) -> None:
        self.local = tuple(map(ipaddress.ip_network, local))

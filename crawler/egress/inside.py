"""The process that is root of the browsers' namespaces, and does in them what the guard process asks for."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.egress import namespace
from crawler.egress.changes import listeners
from crawler.egress.namespace import MESSAGE_BYTES, SOCKETS_LIMIT
from crawler.egress.plan import Plan
from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSWERS_WITHIN_S = 60.0


class Inside:
    """A child in new namespaces that belong to the user `uid`; it ends with this process, or when it is closed."""

    def __init__(self, uid: int) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if not self.pid:
            _live(uid, theirs)
        theirs.close()
        self._channel.settimeout(ANSWERS_WITHIN_S)
        self._receive()

    def settle(self, plan: Plan) -> list[socket.socket]:
        """Rules, then the link, which is there and new (`namespace.settle`); the sockets that are asked for DNS."""
        return self._ask({"do": "settle", "plan": plan.to_json()})[1]

    def capture(self) -> list[socket.socket]:
        """A socket that sees what TCP arrives at its end of the link, if the kernel grants one."""
        return self._ask({"do": "capture"})[1]

    def listeners(self) -> list[socket.socket]:
        """Sockets that are told what changes there."""
        return self._ask({"do": "listen"})[1]

    def look(self) -> dict[str, Any]:
        """All that the guard is made of there."""
        found: dict[str, Any] = self._ask({"do": "look"})[0]
        return found

    def close(self) -> None:
        """Let it end, and wait until it has."""
        self._channel.close()
        os.waitpid(self.pid, 0)

    def _ask(self, request: dict[str, Any]) -> tuple[Any, list[socket.socket]]:
        try:
            self._channel.send(json.dumps(request).encode())
        except OSError as exc:
            raise EgressUnavailable("the process in the browsers' namespace ended") from exc
        return self._receive()

    def _receive(self) -> tuple[Any, list[socket.socket]]:
        try:
            message, sockets = receive_sockets(self._channel)
        except OSError as exc:
            raise EgressUnavailable("the process in the browsers' namespace does not answer") from exc
        said = json.loads(message or b'{"error": "the process in the browsers\' namespace ended"}')
        if "error" in said:
            raise EgressUnavailable(said["error"])
        return said["found"], sockets


def receive_sockets(channel: socket.socket) -> tuple[bytes, list[socket.socket]]:
    """A message and the sockets that came with it (unix(7), SCM_RIGHTS), closed where a program is executed."""
    message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, SOCKETS_LIMIT)
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for one in sockets:  # not by a flag: Python 3.11's recv_fds does not pass it on
        one.set_inheritable(False)
    return message, sockets


def hand_over(channel: socket.socket, message: dict[str, Any], sockets: Sequence[socket.socket] = ()) -> None:
    """Send a message and sockets, which are the receiver's alone then."""
    socket.send_fds(channel, [json.dumps(message).encode()], [one.fileno() for one in sockets])
    for one in sockets:
        one.close()


def _live(uid: int, channel: socket.socket) -> None:
    """The child's life: it does not return."""
    code = 1
    try:
        # Or nobody would see the guard process end, and the lock would be held as long as the namespace.
        for descriptor in {int(one.name) for one in Path("/proc/self/fd").iterdir()} - {2, channel.fileno()}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        namespace.become_owner(uid)
        hand_over(channel, {"found": None})
        while message := channel.recv(MESSAGE_BYTES):
            _answer(channel, json.loads(message))
        code = 0
    except (EgressUnavailable, OSError) as exc:
        with contextlib.suppress(OSError):
            hand_over(channel, {"error": str(exc)})
    finally:
        os._exit(code)


def _answer(channel: socket.socket, request: dict[str, Any]) -> None:
    try:
        if request["do"] == "settle":
            hand_over(channel, {"found": None}, namespace.settle(Plan.from_json(request["plan"])))
        elif request["do"] == "capture":
            hand_over(channel, {"found": None}, namespace.capture_inside())
        elif request["do"] == "listen":
            hand_over(channel, {"found": None}, listeners())
        else:
            hand_over(channel, {"found": namespace.look()})
    except (EgressUnavailable, OSError) as exc:
        hand_over(channel, {"error": str(exc)})

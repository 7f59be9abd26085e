"""The process that is root in the browsers' namespaces, and changes them as the guard process requests."""

import contextlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crawler.egress import namespace
from crawler.egress.changes import open_listeners
from crawler.egress.layout import GuardLayout
from crawler.egress.namespace import MESSAGE_BYTES, SOCKETS_LIMIT
from crawler.errors import EgressUnavailable

ANSWERS_WITHIN_S = 60.0


class Inside:
    """A child process in new namespaces of the user `uid`, which ends with this one."""

    def __init__(self, uid: int) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if not self.pid:
            _live(uid, theirs)
        theirs.close()
        self._channel.settimeout(ANSWERS_WITHIN_S)
        self._receive()

    def settle(self, layout: GuardLayout) -> list[socket.socket]:
        """Load the rules, then set up the link; return the sockets on which DNS is asked."""
        return self._ask({"do": "settle", "layout": layout.to_message()})[1]

    def capture(self) -> list[socket.socket]:
        """Open sockets for TCP and for TCP_INFO at the inner end of the link, as far as the kernel allows."""
        return self._ask({"do": "capture"})[1]

    def listeners(self) -> list[socket.socket]:
        return self._ask({"do": "listen"})[1]

    def look(self) -> dict[str, object]:
        state: dict[str, object] = self._ask({"do": "look"})[0]
        return state

    def close(self) -> None:
        self._channel.close()
        os.waitpid(self.pid, 0)

    def _ask(self, request: dict[str, object]) -> tuple[Any, list[socket.socket]]:
        try:
            self._channel.send(json.dumps(request).encode())
        except OSError as exc:
            raise EgressUnavailable("the process in the browsers' namespace ended") from exc
        return self._receive()

    def _receive(self) -> tuple[Any, list[socket.socket]]:
        try:
            return receive_answer(self._channel)
        except EOFError as exc:
            raise EgressUnavailable("the process in the browsers' namespace ended") from exc
        except OSError as exc:
            raise EgressUnavailable("the process in the browsers' namespace does not answer") from exc


def receive_answer(channel: socket.socket) -> tuple[Any, list[socket.socket]]:
    """Receive an answer and its sockets (unix(7), SCM_RIGHTS), which are closed when a program is executed.

    EgressUnavailable has the error that was sent instead; EOFError if the other process ended.
    """
    message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, SOCKETS_LIMIT)
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for sock in sockets:  # not by a flag: Python 3.11's recv_fds does not pass it on
        sock.set_inheritable(False)
    if not message:
        raise EOFError
    answer = json.loads(message)
    if "error" in answer:
        raise EgressUnavailable(answer["error"])
    return answer["result"], sockets


def hand_over(
    channel: socket.socket, message: Mapping[str, object], sockets: Sequence[socket.socket] = ()
) -> None:
    """Send a message with sockets, of which our copies are closed."""
    socket.send_fds(channel, [json.dumps(message).encode()], [sock.fileno() for sock in sockets])
    for sock in sockets:
        sock.close()


def _live(uid: int, channel: socket.socket) -> None:
    code = 1
    try:
        # Copies in this process would hide the end of the guard process,
        # and hold the lock as long as the namespace.
        for descriptor in {int(path.name) for path in Path("/proc/self/fd").iterdir()} - {
            2,
            channel.fileno(),
        }:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        namespace.become_owner(uid)
        hand_over(channel, {"result": None})
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
            hand_over(
                channel, {"result": None}, namespace.set_up_link(GuardLayout.from_message(request["layout"]))
            )
        elif request["do"] == "capture":
            hand_over(channel, {"result": None}, namespace.open_captures())
        elif request["do"] == "listen":
            hand_over(channel, {"result": None}, open_listeners())
        else:
            hand_over(channel, {"result": namespace.read_state()})
    except (EgressUnavailable, OSError) as exc:
        hand_over(channel, {"error": str(exc)})

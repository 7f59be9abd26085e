"""`python -m crawler.egress.holder UID SOCKET`: sets the guard up, keeps it, relays DNS, and removes it in the end.

A process of its own, so that what it changed is undone even if the crawl is killed: it ends when its standard
input does. It says one line of JSON on standard output: how to enter, or what is missing. Before that it sends a
message on the Unix socket whose number it was given, and with it the capture socket, if there is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.egress import forwarding
from crawler.egress.nameservers import RESOLV_CONF, Relay, nameservers
from crawler.egress.namespace import (
    MESSAGE_BYTES,
    Link,
    become_owner,
    capture_inside,
    check_privilege,
    connect_inside,
    machine,
    receive_sockets,
)
from crawler.egress.networks import is_refused
from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from crawler.egress.namespace import Machine
    from crawler.egress.networks import Address


def main() -> int:
    """Exit code 0 after a guard was there, 1 if it could not be set up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the crawl, which then ends us
    uid = int(sys.argv[1])
    crawl = socket.socket(fileno=int(sys.argv[2]))
    try:
        check_privilege()
        with forwarding.alone():
            forwarding.sweep()
            forwarding.check_firewall()
            outside = machine()
            servers = nameservers(RESOLV_CONF.read_text(encoding="utf-8", errors="replace").splitlines())
            child, channel = hold(uid, outside, servers)
            link, sockets, capture = build(child, channel, outside)
    except (EgressUnavailable, OSError) as exc:
        print(json.dumps({"error": str(exc)}), flush=True)
        return 1
    try:
        with crawl:
            _hand_over(crawl, b"capture", capture)
        namespace = str(Path(f"/proc/{child}/ns/net").readlink())
        print(json.dumps({"holder": child, "namespace": namespace, "link": link.name}), flush=True)
        asyncio.run(serve([one for one in servers if is_refused(one)], sockets))
    finally:
        channel.close()
        os.waitpid(child, 0)
        with forwarding.alone():
            forwarding.detach(link)
    return 0


def hold(uid: int, outside: Machine, servers: list[Address]) -> tuple[int, socket.socket]:
    """A child that is root of the new namespaces, and waits; its process id and a channel to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child:
        theirs.close()
        _expect_ready(ours)
        return child, ours
    ours.close()
    code = 1
    try:
        # Or nobody would see the holder's end, and the lock would be held as long as the namespace.
        for descriptor in {int(one.name) for one in Path("/proc/self/fd").iterdir()} - {2, theirs.fileno()}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        become_owner(uid)
        theirs.send(b"ready")
        wanted = json.loads(theirs.recv(MESSAGE_BYTES))
        sockets = connect_inside(Link(wanted["link"]), wanted["versions"], outside.mtu, servers, outside.own)
        _hand_over(theirs, b"ready", sockets)
        _hand_over(theirs, b"ready", capture_inside())
        theirs.recv(1)  # until the holder ends
        code = 0
    except (EgressUnavailable, OSError) as exc:
        theirs.send(str(exc).encode())
    finally:
        os._exit(code)


def build(
    child: int, channel: socket.socket, outside: Machine
) -> tuple[Link, list[socket.socket], list[socket.socket]]:
    """Link the child's namespace to ours; the sockets on which it is asked for DNS, and the capture socket, if any."""
    ip_versions = forwarding.versions(outside)
    link = forwarding.attach(outside, child, ip_versions)
    try:
        channel.send(json.dumps({"link": link.number, "versions": ip_versions}).encode())
        sockets, capture = _expect_ready(channel), _expect_ready(channel)
    except (EgressUnavailable, OSError):
        forwarding.detach(link)
        raise
    return link, sockets, capture


def _expect_ready(channel: socket.socket) -> list[socket.socket]:
    message, sockets = receive_sockets(channel)
    if message != b"ready":
        raise EgressUnavailable(message.decode() or "the namespace's process ended")
    return sockets


def _hand_over(channel: socket.socket, message: bytes, sockets: list[socket.socket]) -> None:
    socket.send_fds(channel, [message], [one.fileno() for one in sockets])
    for one in sockets:
        one.close()


async def serve(relayed: list[Address], sockets: list[socket.socket]) -> None:
    """Relay DNS until standard input ends, or SIGTERM comes."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(0, lambda: None if os.read(0, MESSAGE_BYTES) else ended.set())
    relay = Relay()
    for number, address in enumerate(relayed):
        datagrams, streams = sockets[2 * number : 2 * number + 2]
        datagrams.setblocking(False)
        streams.setblocking(False)
        await relay.serve(address, datagrams, streams)
    await ended.wait()


if __name__ == "__main__":
    sys.exit(main())

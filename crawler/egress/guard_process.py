"""`python -m crawler.egress.guard_process UID SOCKET NETWORKS`: sets the guard up, relays DNS,
and removes the guard at the end.

It is a process of its own, so that its changes are undone even if the crawl is killed: it ends when its
standard input does. SOCKET is the number of the Unix socket to the crawl (`control.py`). NETWORKS are refused
too, as the operator wishes.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from crawler.egress.building import Building
from crawler.egress.control import CHECK
from crawler.egress.inside import hand_over
from crawler.egress.nameservers import Relay
from crawler.egress.namespace import MESSAGE_BYTES, check_privilege
from crawler.egress.networks import parse_networks
from crawler.errors import EgressUnavailable


def main() -> int:
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal's Ctrl-C is for the crawl, which then ends this process
    crawl = socket.socket(fileno=int(sys.argv[2]))
    crawl.set_inheritable(False)
    try:
        check_privilege()
        building = Building(int(sys.argv[1]), parse_networks(sys.argv[3]))
    except (EgressUnavailable, OSError) as exc:
        hand_over(crawl, {"error": str(exc)})
        return 1
    try:
        sockets, captures = building.build(), building.inside.capture()
        namespace = str(Path(f"/proc/{building.inside.pid}/ns/net").readlink())
        entrance = {
            "namespace_pid": building.inside.pid,
            "namespace": namespace,
            "local": list_local(building),
        }
        hand_over(crawl, {"result": entrance}, captures)
        asyncio.run(GuardProcess(building, crawl).live(sockets))
    except (EgressUnavailable, OSError) as exc:
        with contextlib.suppress(OSError):  # the crawl may be gone
            hand_over(crawl, {"error": str(exc)})
        return 1
    finally:
        building.remove()
    return 0


def list_local(building: Building) -> list[str]:
    return [str(network) for network in building.layout.local] if building.layout else []


class GuardProcess:
    """Relays DNS and answers the crawl, which sends one request at a time."""

    def __init__(self, building: Building, crawl: socket.socket) -> None:
        self._building = building
        self._crawl = crawl
        self._relay = Relay()
        self._ended = asyncio.Event()

    async def live(self, sockets: Sequence[socket.socket]) -> None:
        """Serve until standard input ends, or SIGTERM."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._ended.set)
        loop.add_reader(0, lambda: None if os.read(0, MESSAGE_BYTES) else self._ended.set())
        self._crawl.setblocking(False)
        await self._serve(sockets)
        ways = [asyncio.create_task(coroutine) for coroutine in (self._ended.wait(), self._answer_all())]
        done, left = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._relay.close()
        for task in done:
            task.result()

    async def _answer_all(self) -> None:
        loop = asyncio.get_running_loop()
        while asked := await loop.sock_recv(self._crawl, MESSAGE_BYTES):
            try:
                result = await self._answer(asked)
            except (EgressUnavailable, OSError) as exc:
                hand_over(self._crawl, {"error": str(exc)})
            else:
                hand_over(self._crawl, {"result": result})

    async def _answer(self, asked: bytes) -> list[str]:
        if asked == CHECK:
            await asyncio.to_thread(self._building.check)
        else:
            await self._relay.close()
            self._relay = Relay()
            await self._serve(await asyncio.to_thread(self._building.build))
        return list_local(self._building)

    async def _serve(self, sockets: Sequence[socket.socket]) -> None:
        assert self._building.layout is not None
        for number, address in enumerate(self._building.layout.relayed):
            await self._relay.serve(address, *sockets[2 * number : 2 * number + 2])


if __name__ == "__main__":
    sys.exit(main())

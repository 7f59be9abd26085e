"""Origins on loopback, each host on an address of its own, and the flags that lead Chromium to them."""

import asyncio
import contextlib
import ipaddress
import resource
import socket
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from localweb.serving.handler import ServedOrigin
from localweb.serving.listener import Listener
from localweb.serving.log import TruthLog

SCHEME_PORTS = {"http": 80, "https": 443}

CONNECTIONS_EXPECTED = 4096
"""Descriptors wanted for connections, besides those of the listeners."""


class Web:
    """Hosts on loopback while the block runs: `async with web`.

    A subclass fills in the hosts and their listeners.
    """

    network: ipaddress.IPv4Network
    """Network of the hosts' addresses; all of 127/8 is loopback on Linux."""

    def __init__(self) -> None:
        self.log = TruthLog()
        self.hosts: Sequence[str] = ()
        """The browser takes the first that matches: `a.test` before `*.test`."""
        self.listeners: Mapping[ServedOrigin, Sequence[Listener]] = {}
        self.trusted = ""
        self._endpoints: dict[ServedOrigin, tuple[str, int]] = {}

    @property
    def browser_flags(self) -> list[str]:
        """Flags by which Chromium finds this web, trusts it and reaches nothing else."""
        rules = [
            "MAP {}:{} {}:{}".format(host, port, *self.endpoint(ServedOrigin(scheme, host)))
            for host in self.hosts
            for scheme, port in SCHEME_PORTS.items()
        ]
        return [
            f"--host-resolver-rules={','.join([*rules, 'MAP * ~NOTFOUND'])}",
            f"--ignore-certificate-errors-spki-list={self.trusted}",
        ]

    def endpoint(self, origin: ServedOrigin) -> tuple[str, int]:
        return self._endpoints.get(origin, self._refusing)

    async def __aenter__(self) -> Self:
        allow_descriptors(len(self.listeners) + CONNECTIONS_EXPECTED)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.sleep, 0)  # lets transports tell their connections
            # Bound, but never listening: the kernel refuses all connections,
            # and no other program gets the port.
            unheard = stack.enter_context(socket.socket())
            unheard.bind((str(self.network[1]), 0))
            self._refusing: tuple[str, int] = unheard.getsockname()
            for origin, listeners in self.listeners.items():
                address = str(self.network[256 + self.hosts.index(origin.host)])
                port = 0  # the system chooses, for each host anew
                for listener in listeners:
                    stack.push_async_callback(listener.close)
                    port = await listener.listen(address, port)
                self._endpoints[origin] = address, port
            self._open = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._open.aclose()


def allow_descriptors(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        most = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

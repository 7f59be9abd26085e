"""Listener of HTTP/3: a site on a UDP port."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any, cast

from aioquic.asyncio.server import QuicServer
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection, QuicConnectionId
from aioquic.quic.events import ConnectionIdIssued
from aioquic.quic.packet import QuicFrameType
from aioquic.quic.packet_builder import QuicPacketBuilder
from aioquic.tls import SessionTicket
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificates

from localweb.serving.certificates import Authority
from localweb.serving.handler import ServedSite
from tests.zoo.serving.h3 import Connection
from tests.zoo.serving.packets import CLEAN, Counters, HostSocket, Path

TOKEN = bytes(range(200)) * 2
"""Token for the client's next connection, as servers of the web send it (RFC 9000 §8.1.3)."""

PATHS = 8
PREFERRED_ADDRESS = 0x0D
"""Number of the transport parameter."""


class QuicListener:
    """One host on one UDP port."""

    def __init__(
        self,
        site: ServedSite,
        authority: Authority,
        path: Path = CLEAN,
        *,
        tickets: bool = True,
        forgets: bool = False,
        is_moving: bool = False,
    ) -> None:
        self._site = site
        self._authority = authority
        self._has_tickets = tickets
        self._path = path
        self._forgets = forgets
        self._is_moving = is_moving
        self._second: asyncio.DatagramTransport | None = None
        self._tickets: dict[bytes, SessionTicket] = {}
        self.connections: list[Connection] = []

    async def listen(self, address: str, port: int) -> int:
        loop = asyncio.get_running_loop()
        self._socket, server = await loop.create_datagram_endpoint(self._server, local_addr=(address, port))
        bound: int = self._socket.get_extra_info("sockname")[1]
        if self._is_moving:
            self._second, _ = await loop.create_datagram_endpoint(
                lambda: SecondSocket(server), local_addr=(address, 0)
            )
        return bound

    async def close(self) -> None:
        for connection in self.connections:
            await connection.drop()
        self._socket.close()
        if self._second:
            self._second.close()

    def _server(self) -> Server:
        return Server(
            configuration=self._configuration(),
            create_protocol=self._accepted,
            session_ticket_fetcher=self._tickets.get if self._has_tickets else None,
            session_ticket_handler=self._remember if self._has_tickets else None,
            retry=self._path.retry,
        )

    def _accepted(self, quic: QuicConnection, **_: object) -> Connection:
        give_token(quic)
        if self._second:
            prefer(quic, self._second.get_extra_info("sockname"))
        self.connections.append(Connection(quic, self._site, self._path))
        return self.connections[-1]

    def _remember(self, ticket: SessionTicket) -> None:
        if not self._forgets:
            self._tickets[ticket.ticket] = ticket

    def _configuration(self) -> QuicConfiguration:
        configuration = QuicConfiguration(
            is_client=False,
            alpn_protocols=["h3"],
            quic_logger=Counters(),
            congestion_control_algorithm="constant",
            max_datagram_size=self._path.datagram_bytes,
            max_datagram_frame_size=65_536,  # without which there is no WebTransport
        )
        chain, key = self._authority.files(self._site.host)
        configuration.certificate, *configuration.certificate_chain = load_pem_x509_certificates(chain)
        configuration.private_key = load_pem_private_key(key, None)
        return configuration


def give_token(quic: QuicConnection) -> None:
    """Send NEW_TOKEN after HANDSHAKE_DONE; aioquic itself has no way to."""
    write = quic._write_handshake_done_frame

    def write_both(builder: QuicPacketBuilder) -> None:
        write(builder)
        frame = builder.start_frame(QuicFrameType.NEW_TOKEN, capacity=3 + len(TOKEN))
        frame.push_uint_var(len(TOKEN))
        frame.push_bytes(TOKEN)

    quic._write_handshake_done_frame = write_both  # type: ignore[method-assign]


def prefer(quic: QuicConnection, endpoint: tuple[str, int]) -> None:
    """Ask the client to migrate to another address of the server (RFC 9000 §9.6); aioquic itself does not."""
    name = QuicConnectionId(
        cid=os.urandom(8), sequence_number=1, stateless_reset_token=os.urandom(16), was_sent=True
    )
    quic._host_cids.append(name)
    quic._host_cid_seq = 2
    quic._events.append(ConnectionIdIssued(connection_id=name.cid))
    # Chromium's own name is empty, and the same on every path; aioquic wants a new one for each.
    quic._peer_cid_available = [QuicConnectionId(cid=b"", sequence_number=0) for _ in range(PATHS)]
    quic._retire_peer_cid = lambda connection_id: None  # type: ignore[method-assign]
    address, port = socket.inet_aton(endpoint[0]), endpoint[1].to_bytes(2, "big")
    value = address + port + bytes(18) + bytes([len(name.cid)]) + name.cid + name.stateless_reset_token
    write = quic._serialize_transport_parameters
    quic._serialize_transport_parameters = lambda: write() + bytes([PREFERRED_ADDRESS, len(value)]) + value  # type: ignore[method-assign]


class SecondSocket(asyncio.DatagramProtocol):
    """Another socket of a host, to which its clients migrate."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._server.socket.moved[addr] = self._transport
        self._server.datagram_received(data, addr)


class Server(QuicServer):
    """Tells connections apart, and asks for Retry."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio's own sockets for datagrams are none by inheritance.
        self.socket = HostSocket(cast("asyncio.DatagramTransport", transport))
        super().connection_made(self.socket)

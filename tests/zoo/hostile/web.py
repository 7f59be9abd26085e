"""Server of the hostile pages: `python -m tests.zoo.hostile.web` prints the browser's
flags and serves until stdin ends."""

import asyncio
import contextlib
import ipaddress
import json
import socket
import ssl
import sys

from localweb.serving.certificates import Authority
from localweb.serving.handler import ALPN_HTTP1, Reply, ServedOrigin, ServedRequest, ServedSite
from localweb.serving.listener import TcpListener
from localweb.serving.web import Web
from tests.zoo.hostile.pages import PAGES

HEAD_LIMIT = 8 << 20
FILTERED = "filtered.secure.test"
CLIENT_CERTIFICATES = {
    "wants-certificate.secure.test": ssl.CERT_OPTIONAL,
    "needs-certificate.secure.test": ssl.CERT_REQUIRED,
}
HOSTS = (FILTERED, *CLIENT_CERTIFICATES, "*.secure.test", "*.test")


async def serve(request: ServedRequest, reply: Reply) -> None:
    """Answer as the page that the host names, or as the plain page."""
    await PAGES.get(request.host.removesuffix(".test"), PAGES["plain"])(request, reply)


class FullListener:
    """A port with a full backlog: the kernel drops further connections, as a filter does."""

    async def listen(self, address: str, port: int) -> int:
        self._socket = socket.create_server((address, port), backlog=0)
        self._waiting = [socket.socket() for _ in range(4)]
        for sock in self._waiting:
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                sock.connect(self._socket.getsockname())
        bound: int = self._socket.getsockname()[1]
        return bound

    async def close(self) -> None:
        for sock in (*self._waiting, self._socket):
            sock.close()


class HostileWeb(Web):
    """Clear text for all hosts, TLS for *.secure.test, and for one host a port that takes no connection."""

    network = ipaddress.IPv4Network("127.22.0.0/16")

    def __init__(self) -> None:
        super().__init__()
        self.hosts = HOSTS
        self._authority, self._stranger = Authority(), Authority()
        self.trusted = self._authority.spki_hash
        self.listeners = {
            **{
                ServedOrigin("http", host): [self._listener(host, "http")]
                for host in HOSTS
                if host != FILTERED
            },
            **{
                ServedOrigin("https", host): [self._listener(host, "https")]
                for host in HOSTS
                if host != "*.test"
            },
            ServedOrigin("http", FILTERED): [FullListener()],
        }

    def _listener(self, host: str, scheme: str) -> TcpListener:
        site = ServedSite(host=host, handler=serve, log=self.log, head_limit=HEAD_LIMIT)

        def tls() -> ssl.SSLContext:
            authority = self._stranger if host == FILTERED else self._authority
            context = authority.context(host, [ALPN_HTTP1])
            context.verify_mode = CLIENT_CERTIFICATES.get(host, ssl.CERT_NONE)
            return context

        return TcpListener(site, tls if scheme == "https" else None)


async def main() -> None:
    async with HostileWeb() as web:
        print(json.dumps({"browser_flags": web.browser_flags}), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # until the process that started it ends


if __name__ == "__main__":
    asyncio.run(main())

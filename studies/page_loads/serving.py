"""Serves the pages to the far end of the path, in the network namespace of this process,
over HTTP/2 and TLS 1.3.

`python -m studies.page_loads.serving RECIPES STATE`: the state is written when all hosts listen; it serves
until its standard input ends.
"""

import asyncio
import ipaddress
import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from localweb import recipes
from localweb.modes import Mode
from localweb.recipes import Page
from localweb.server import Deployed, LocalWeb
from localweb.serving.handler import ServedSite
from localweb.serving.listener import TcpListener
from storage.staging import write_whole
from studies.page_loads.shaped_path import SERVERS

CONGESTION_CONTROL = "cubic"
TCP_NOTSENT_LOWAT = 25
"""Socket option (linux/tcp.h), which Python does not name."""
UNSENT_BYTES = 65_536
"""Most bytes that TCP takes before it can send them:
streams take turns as on the lab's servers (replay/lab/guest/page)."""
OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION_CONTROL.encode()),
    (socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES),
)


class FarWeb(LocalWeb):
    """The local web at addresses of the path's far end, with the senders of a cell."""

    network = ipaddress.IPv4Network(SERVERS)

    def __init__(self, pages: Sequence[Page]) -> None:
        super().__init__(pages, mode=Mode.H2)

    def _listener(self, deployed: Deployed) -> TcpListener:
        origin = deployed.origin
        context = self._authority.context(
            origin.host, deployed.alpn
        )  # now: the first visit must not wait for it
        site = ServedSite(host=origin.host, handler=deployed.handler, log=self.log)
        return TcpListener(site, lambda: context, options=OPTIONS)


async def serve(pages: Sequence[Page], state: Path) -> None:
    """Serve until standard input ends."""
    async with FarWeb(pages) as web:
        facts = {"sites": web.sites, "browser_flags": web.browser_flags}
        write_whole(state, json.dumps(facts).encode())
        await asyncio.to_thread(sys.stdin.read)
        if web.log.failures:
            sys.exit("\n".join(web.log.failures))


def main() -> None:
    """Wait for the path, then serve."""
    print("ready", flush=True)
    sys.stdin.readline()
    pages = recipes.load(Path(sys.argv[1]).read_text(encoding="ascii"))
    asyncio.run(serve(pages, Path(sys.argv[2])))


if __name__ == "__main__":
    main()

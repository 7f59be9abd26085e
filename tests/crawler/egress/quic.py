"""The part of the Internet that speaks HTTP/3 alone:
a public page that asks a private address for something."""

import functools
from collections.abc import Callable, Mapping

from localweb.serving.certificates import Authority
from localweb.serving.handler import Reply, ServedRequest, ServedSite
from localweb.serving.log import TruthLog
from tests.zoo.serving.packets import Path
from tests.zoo.serving.quic import QuicListener

PUBLIC_HOST, PRIVATE_HOST = "quic.test", "quic-private.test"
PORT = 443
SMALLEST = Path(datagram_bytes=1200)
"""Fits into every path that carries QUIC (RFC 9000 §14)."""

PAGE = f"""<!doctype html><link rel=icon href=data:,><script>
fetch('https://{PRIVATE_HOST}/', {{mode: 'no-cors'}})
</script>"""


async def serve(addresses: Mapping[str, str], came: Callable[[str], None]) -> str:
    """Answer for each host on its address, and say which address was asked;
    the hash of the key that browsers have to trust."""
    authority = Authority()
    log = TruthLog()
    for host, address in addresses.items():
        site = ServedSite(host=host, handler=functools.partial(_answer, address, came), log=log)
        await QuicListener(site, authority, SMALLEST).listen(address, PORT)
    return authority.spki_hash


async def _answer(address: str, came: Callable[[str], None], request: ServedRequest, reply: Reply) -> None:
    came(address)
    await reply.head(200, [("content-type", "text/html")])
    await reply.body(PAGE.encode() if request.host == PUBLIC_HOST else b"reached", end=True)


def browser_flags(spki_hash: str) -> list[str]:
    origins = ",".join(f"{host}:{PORT}" for host in (PUBLIC_HOST, PRIVATE_HOST))
    return [f"--origin-to-force-quic-on={origins}", f"--ignore-certificate-errors-spki-list={spki_hash}"]

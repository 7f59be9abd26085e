"""Cases of TLS over TCP: versions, ciphers, chains, tickets.

Each has a web of its own, since all hosts of a web use the same TLS.
"""

import asyncio
import contextlib

from localweb.serving.handler import Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.replies import CORS, NO_STORE, TEXT, answer, fields
from tests.zoo.serving.security import Security

CLEAR = {"h1": "there is no TLS"}
QUIC = {"h3": "QUIC has TLS 1.3 alone"}
UNSERVED = {"h3": "the zoo's server does it over TCP alone"}


async def last(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, fields(f"content-length: {len(TEXT)}", NO_STORE, CORS))
    await reply.body(TEXT)
    await reply.end()
    await asyncio.sleep(0.1)  # what the client still has to say of its settings comes meanwhile
    with contextlib.suppress(OSError):  # it may have gone
        await reply.close()


def reconnect(case_id: str, apart: dict[str, str]) -> Case:
    """Return a case of a connection that ends and a second one to the same host."""
    return Case(
        id=case_id,
        routes={"THERE/last": last, "THERE/x": answer(TEXT, NO_STORE, CORS)},
        script="await get('THERE/last'); await pause(300); await get('THERE/x');",
        unread_end="the server's last words (GOAWAY, close_notify) may find the browser gone",
        apart=apart,
    )


def turns(case_id: str) -> Case:
    """Return a case of enough responses on one connection to use every odd way of the server's."""
    return Case(
        id=case_id,
        routes={f"HERE/{n}": answer(TEXT, NO_STORE) for n in range(12)},
        script="for (let n = 0; n < 12; n++) await get(`HERE/${n}`);",
        apart=CLEAR | QUIC,
    )


PAGES = (
    Page(host="resumed.test", cases=(reconnect("resumed", CLEAR),)),
    Page(host="old.test", security=Security(version="TLS 1.2"), cases=(reconnect("tls-1.2", CLEAR | QUIC),)),
    Page(
        host="blocks.test",
        security=Security(version="TLS 1.2", cbc=True, tickets=False),
        cases=(reconnect("tls-1.2-cbc", CLEAR | QUIC | {"h2": "HTTP/2 does not allow it"}),),
    ),
    Page(host="long.test", security=Security(intermediates=4), cases=(reconnect("long-chain", CLEAR),)),
    Page(
        host="fragments.test",
        security=Security(intermediates=18, fragment=512),
        cases=(reconnect("many-handshake-records", CLEAR | QUIC),),
    ),
    Page(
        host="padded.test",
        security=Security(padding=1024),
        cases=(reconnect("padded-to-1024", CLEAR | QUIC),),
    ),
    Page(
        host="overpadded.test",
        security=Security(padding=16_000),
        cases=(reconnect("padded-to-16000", CLEAR | QUIC),),
    ),
    Page(
        host="asked.test",
        security=Security(curve="secp384r1", asks_certificate=True),
        cases=(reconnect("hello-retry-and-client-certificate", CLEAR | QUIC),),
    ),
    Page(
        host="post-quantum.test",
        security=Security(post_quantum=True),
        cases=(reconnect("post-quantum-key-exchange", CLEAR),),
    ),
    Page(
        host="compressed.test",
        security=Security(compressed=True),
        cases=(reconnect("compressed-certificate", CLEAR),),
    ),
    Page(
        host="forgotten.test",
        security=Security(forgets=True),
        # Over HTTP/3 the request is sent in 0-RTT, and once more when the server has refused it.
        cases=(reconnect("refused-ticket", CLEAR),),
    ),
    Page(
        host="greased.test",
        security=Security(ech=True),
        # Chromium sends a random extension, and the server answers with its configuration.
        cases=(reconnect("ech-grease", CLEAR | UNSERVED),),
    ),
    Page(
        host="early.test",
        security=Security(early_data=True, browser_flags=("--enable-features=EnableTLS13EarlyData",)),
        cases=(reconnect("early-data", CLEAR | {"h3": "every resumed connection has early data there"}),),
    ),
    Page(
        host="odd-records.test",
        security=Security(odd="messages", tickets=False),
        cases=(turns("odd-messages"),),
    ),
    Page(
        host="odd-padding.test",
        security=Security(odd="padding", tickets=False),
        cases=(turns("odd-padding"),),
    ),
)

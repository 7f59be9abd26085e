"""Cases of TLS over TCP: versions, ciphers, chains, tickets. Each has a web of its own, since all hosts of a web use the same TLS."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from tests.zoo.case import Case, Page
from tests.zoo.replies import CORS, NO_STORE, TEXT, answer, fields
from tests.zoo.serving.security import Security

if TYPE_CHECKING:
    from localweb.serving.handler import Reply, Request

CLEAR = {"h1": "there is no TLS"}
QUIC = {"h3": "QUIC has TLS 1.3 alone"}


async def last(request: Request, reply: Reply) -> None:
    """Send a response, then end its connection."""
    await reply.head(200, fields(f"content-length: {len(TEXT)}", NO_STORE, CORS))
    await reply.body(TEXT)
    await reply.end()
    await asyncio.sleep(0.1)  # what the client still has to say of its settings comes meanwhile
    with contextlib.suppress(OSError):  # it may have gone
        await reply.close()


def anew(case_id: str, apart: dict[str, str]) -> Case:
    """Return a case of a connection that ends and a second one to the same host."""
    return Case(
        id=case_id,
        routes={"THERE/last": last, "THERE/x": answer(TEXT, NO_STORE, CORS)},
        script="await get('THERE/last'); await pause(300); await get('THERE/x');",
        unread_end="the server's last words (GOAWAY, close_notify) may find the browser gone",
        apart=apart,
    )


PAGES = (
    Page(host="resumed.test", cases=(anew("resumed", CLEAR),)),
    Page(
        host="old.test",
        security=Security(version="TLS 1.2"),
        cases=(anew("tls-1.2", CLEAR | QUIC),),
    ),
    Page(
        host="blocks.test",
        security=Security(version="TLS 1.2", cbc=True, tickets=False),
        cases=(anew("tls-1.2-cbc", CLEAR | QUIC | {"h2": "HTTP/2 does not allow it"}),),
    ),
    Page(
        host="long.test",
        security=Security(long_chain=True),
        cases=(anew("long-chain", CLEAR),),
    ),
)

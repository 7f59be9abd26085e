"""Cases of responses that the page abandons without a word in the log,
and of bodies that only the connection's end ends."""

import socket
from typing import cast

from localweb.serving.handler import Handler, Reply, ServedRequest
from localweb.serving.http1 import Http1Reply
from tests.zoo.case import Case, Page
from tests.zoo.replies import HTML, NO_STORE, PIXEL, TEXT, answer, fields, page, script, send_part

IMAGE = "content-type: image/gif"
LENGTH = 1_000_000
"""Content-Length of the responses, of which a part is sent."""

READ_A_BIT = "fetch('HERE/x').then(found => found.body.getReader().read());"


def part_of(content: bytes, *lines: str) -> Handler:
    """Return a handler that sends a part of a response, and no more."""
    return send_part(content, TEXT, lines=(*lines, NO_STORE), length=LENGTH)


async def close_cleanly(request: ServedRequest, reply: Reply) -> None:
    """Send a body that ends with FIN, without close_notify."""
    await reply.head(200, fields(NO_STORE, "connection: close"))
    await reply.body(TEXT)
    cast("Http1Reply", reply)._session.channel._socket.shutdown(socket.SHUT_WR)


async def reset(request: ServedRequest, reply: Reply) -> None:
    """Send a body without a length that a reset of the connection breaks off."""
    await reply.head(200, fields(NO_STORE, "connection: close"))
    await reply.body(TEXT)
    await reply.reset()


NO_LENGTH = dict.fromkeys(("h2", "h3"), "the end of a stream is not the end of its connection")

ABANDONED = Page(
    host="abandoned.test",
    cases=(
        Case(
            id="changed-image",
            routes={"HERE/x": part_of(PIXEL, IMAGE), "HERE/y": answer(PIXEL, IMAGE)},
            html="<img id=changing src=HERE/x>",
            script="await pause(600); changing.src = 'HERE/y';",
        ),
        Case(
            id="removed-frame",
            routes={
                "HERE/frame": page(f"<script>{READ_A_BIT.replace('HERE', '/removed-frame')}</script>"),
                "HERE/x": part_of(TEXT),
                "HERE/half": part_of(b"<p>half", HTML),
            },
            html="<iframe id=removed src=HERE/frame></iframe><iframe id=halved src=HERE/half></iframe>",
            script="await pause(600); removed.remove(); halved.remove();",
            initiators={"HERE/x": "HERE/frame"},
        ),
        Case(
            id="terminated-worker",
            routes={
                "HERE/main": script(READ_A_BIT.replace("HERE", "/terminated-worker")),
                "HERE/x": part_of(TEXT),
            },
            script="const worker = new Worker('HERE/main'); await pause(600); worker.terminate();",
            initiators={"HERE/x": "HERE/main"},
        ),
        Case(
            id="closed-without-notice",
            routes={"HERE/x": close_cleanly},
            script="await get('HERE/x');",
            apart={"h1": "there is no TLS", **NO_LENGTH},
        ),
        Case(
            id="reset-without-length",
            routes={"HERE/x": reset},
            script="await get('HERE/x');",
            apart=NO_LENGTH,
        ),
    ),
)

LEFT = Page(
    host="left.test",
    cases=(
        Case(
            id="navigated-away",
            routes={"HERE/x": part_of(TEXT), "HERE/y": part_of(PIXEL, IMAGE), "HERE/next": page("elsewhere")},
            script=f"{READ_A_BIT} add('img', {{src: 'HERE/y'}}); await pause(600); "
            "location.href = 'HERE/next';",
            initiators={"HERE/next": None},
        ),
    ),
)

PAGES = (ABANDONED, LEFT)

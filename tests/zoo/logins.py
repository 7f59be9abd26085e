"""Cases of requests that the browser sends again by itself: logins,
and requests that a server wants on another connection."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.odd import HTTP2_ALONE, RST_STREAM, frame, message
from tests.zoo.replies import (
    CORS,
    HTML,
    NO_STORE,
    TEXT,
    answer,
    fields,
    framing_field,
    redirect_with_body,
    taking_turns,
)

BASIC = 'www-authenticate: Basic realm="%s"'
DIGEST = 'www-authenticate: Digest realm="%s", nonce="abc", qop="auth", algorithm=MD5'

HTTP_1_1_REQUIRED = (0x0D).to_bytes(4, "big")
"""Error code of RFC 9113 §7."""

DROPPED = {"h3": "the browser drops the stream of the 401, and does not tell its header and body apart"}
HTTP1 = {"h2": "a connection does not end with a response", "h3": "a connection does not end with a response"}

ASK = """const ask = (url, user, password, method = 'GET') => new Promise(done => {
  const request = new XMLHttpRequest();
  request.open(method, url, true, user, password);
  request.onloadend = done;
  request.send(method === 'GET' ? null : 'x'.repeat(3000));
});
"""
"""A request with credentials, which `fetch` does not take."""


def require_login(refusal: Handler, then: Handler) -> Handler:
    """Refuse requests without credentials."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await (then if "authorization" in request.headers else refusal)(request, reply)

    return handle


def login(case_id: str, refusal: Handler, ask: str, apart: dict[str, str] | None = None) -> Case:
    """Return a case of a refused request that is sent again with credentials, and of a request after it."""
    return Case(
        id=case_id,
        routes={
            "HERE/x": require_login(refusal, answer(TEXT, NO_STORE)),
            "HERE/after": answer(b"after", NO_STORE),
        },
        script=f"{ASK}{ask} await get('HERE/after');",
        apart=apart or {},
    )


def ask_for_login(case_id: str, body: bytes, *lines: str, scheme: str = BASIC) -> Handler:
    return answer(body, scheme % case_id, *lines, status=401)


def in_chunks(case_id: str) -> Handler:
    """Ask for credentials in a response of unknown length."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.head(401, fields(*framing_field(request), BASIC % case_id))
        for part in (TEXT, b"x", TEXT):
            await reply.body(part)
        await reply.end()

    return handle


REFUSAL = message(
    b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\nConnection: close\r\n"
    b'WWW-Authenticate: Basic realm="closing-login"\r\n\r\n',
    b"bye",
    3,
    status=401,
    close=True,
)


async def refuse_and_close(request: ServedRequest, reply: Reply) -> None:
    """Refuse, though the client may have gone before the connection is ended."""
    with contextlib.suppress(OSError):
        await REFUSAL(request, reply)


async def refuse_and_close_late(request: ServedRequest, reply: Reply) -> None:
    """Ask for credentials, and send the body when the browser has left."""
    await reply.head(401, fields("content-length: 3", BASIC % "late-login", "connection: close"))
    with contextlib.suppress(OSError):
        await asyncio.sleep(0.3)
        await reply.body(b"bye", end=True)
        await reply.close()


async def http1_required(request: ServedRequest, reply: Reply) -> None:
    """Refuse a request over HTTP/2, before any of a response."""
    if request.protocol == "h2":
        await asyncio.sleep(0.3)  # others on the connection end before
        await reply.write_frames(frame(RST_STREAM, 0, None, HTTP_1_1_REQUIRED, of=reply.entry.stream_id))
    else:
        await answer(TEXT, CORS, NO_STORE)(request, reply)


ASKED = "await ask('HERE/x', 'user', 'pass');"

LOGIN = Page(
    host="login.test",
    cases=(
        login("basic-login", ask_for_login("basic-login", b"n" * 3000), ASKED),
        login("empty-login", ask_for_login("empty-login", b""), ASKED),
        login("long-login", ask_for_login("long-login", TEXT * 4), ASKED),
        login("chunked-login", in_chunks("chunked-login"), ASKED, apart=DROPPED),
        login("digest-login", ask_for_login("digest-login", b"n" * 2000, scheme=DIGEST), ASKED),
        login(
            "posted-login",
            ask_for_login("posted-login", TEXT),
            "await ask('HERE/x', 'user', 'pass', 'POST');",
        ),
        login("second-login", ask_for_login("second-login", TEXT), f"{ASKED} await ask('HERE/x');"),
        dataclasses.replace(
            login("closing-login", refuse_and_close, ASKED, apart=HTTP1),
            unread_end="the server's close_notify may find the browser gone",
        ),
        dataclasses.replace(
            login("late-login", refuse_and_close_late, ASKED, apart=HTTP1),
            bounded="the browser ends the connection at the header of the 401",
        ),
        Case(
            id="refused-login",
            routes={"HERE/x": ask_for_login("refused-login", TEXT), "HERE/after": answer(b"after", NO_STORE)},
            script=f"{ASK}{ASKED} await get('HERE/after');",
        ),
        Case(
            id="refused-by-no-proxy",
            routes={
                "//proxy.test/refused-by-no-proxy/x": answer(
                    b"n", "proxy-authenticate: Basic", CORS, status=407
                )
            },
            script="await get('//proxy.test/refused-by-no-proxy/x');",
        ),
        Case(
            id="misdirected",
            routes={
                "//misdirected.test/misdirected/before": answer(b"first", CORS),
                "//misdirected.test/misdirected/x": taking_turns(
                    answer(b"", CORS, status=421), answer(TEXT, CORS, NO_STORE)
                ),
            },
            script="await get('//misdirected.test/misdirected/before'); await pause(100);"
            "await get('//misdirected.test/misdirected/x');",
        ),
        Case(
            id="too-late",
            routes={
                "//late.test/too-late/before": answer(b"first", CORS),
                "//late.test/too-late/x": taking_turns(
                    answer(b"", CORS, status=408), answer(TEXT, CORS, NO_STORE)
                ),
            },
            script="await get('//late.test/too-late/before'); await pause(100);"
            "await get('//late.test/too-late/x');",
        ),
        Case(
            id="http1-required",
            routes={
                "//required.test/http1-required/x": http1_required,
                "//required.test/http1-required/beside": answer(TEXT, CORS, NO_STORE),
            },
            script="await Promise.all(['x', 'beside'].map(name => "
            "get(`//required.test/http1-required/${name}`)));",
            apart=HTTP2_ALONE,
        ),
    ),
)

NAMES = {
    ("http/1.1", "http"): "h1",
    ("http/1.1", "https"): "h1tls",
    ("h2", "https"): "h2",
    ("h3", "https"): "h3",
}


async def behind_credentials(request: ServedRequest, reply: Reply) -> None:
    """Send a redirect to an address with user and password, then ask for them, then send the document."""
    if "cookie" not in request.headers:
        await redirect_with_body("//user:pw@member.test/", "set-cookie: asked=1; path=/", NO_STORE)(
            request, reply
        )
    elif "authorization" not in request.headers:
        await ask_for_login("member", b"n" * 3000)(request, reply)
    else:
        markup = MEMBER.markup(NAMES[request.protocol, request.scheme])
        await answer(markup.encode(), HTML, NO_STORE)(request, reply)


MEMBER = Page(
    host="member.test",
    document=behind_credentials,
    cases=(
        Case(
            id="document-login",
            routes={"HERE/x": answer(TEXT, NO_STORE)},
            script=f"{ASK}await ask('HERE/x');",  # `fetch` takes no address below one with a password
        ),
    ),
)

PAGES = (LOGIN, MEMBER)

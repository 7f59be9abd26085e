"""Cases of requests: ahead of need, across origins, when the page is left, many at once."""

import asyncio

from localweb.serving.handler import Reply, ServedRequest
from tests.circles import ALL
from tests.zoo.case import Case, Page
from tests.zoo.replies import (
    CORS,
    FRESH,
    HTML,
    NO_STORE,
    PIXEL,
    SCRIPT,
    TEXT,
    answer,
    bodiless,
    fields,
    page,
    script,
)

IMAGE = "content-type: image/gif"

SPECULATION = """<script type=speculationrules>
{"prefetch": [{"source": "list", "urls": ["HERE/ahead"], "eagerness": "immediate"}]}
</script>"""
LATER = "await pause(300); await get('HERE/later');"

PREFLIGHTED = bodiless(
    CORS, "access-control-allow-headers: x-zoo", "access-control-allow-methods: PUT", status=204
)


async def accept_put(request: ServedRequest, reply: Reply) -> None:
    await (PREFLIGHTED if request.method == "OPTIONS" else answer(b"stored", CORS))(request, reply)


PUT = "{method: 'PUT', headers: {'x-zoo': '1'}, body: 'x'}"

ORIGINS = (
    Case(id="preflight", routes={"THERE/x": accept_put}, script=f"await get('THERE/x', {PUT});"),
    Case(
        id="preflight-refused", routes={"THERE/x": answer(status=403)}, script=f"await get('THERE/x', {PUT});"
    ),
    Case(id="cors-blocked", routes={"THERE/x": answer(b"", NO_STORE)}, script="await get('THERE/x');"),
    Case(
        id="cors-blocked-body",
        routes={"THERE/x": answer(TEXT, NO_STORE)},
        script="await get('THERE/x');",
        bounded="the browser stops reading when it has seen the header",
    ),
    Case(id="opaque", routes={"THERE/x": answer(TEXT)}, script="await get('THERE/x', {mode: 'no-cors'});"),
)
"""Cases of asking across origins."""

AHEAD = Page(
    host="ahead.test",
    cases=(
        Case(id="prefetch", routes={"HERE/x": answer(TEXT, FRESH)}, html="<link rel=prefetch href=HERE/x>"),
        Case(
            id="preload",
            routes={
                "HERE/x": answer(TEXT, "content-type: font/woff2", FRESH, CORS),
                "HERE/y": answer(PIXEL, IMAGE, FRESH),
                "HERE/z": script("0;", FRESH),
            },
            html="<link rel=preload as=font crossorigin href=HERE/x><link rel=preload as=image href=HERE/y>"
            "<link rel=modulepreload href=HERE/z><img src=HERE/y>",
        ),
        Case(
            id="preconnect",
            routes={"//unused.test/preconnect/x": answer()},
            html="<link rel=preconnect href=//unused.test>",
        ),
        Case(
            id="speculation-rules",
            routes={"HERE/ahead": page("soon", FRESH), "HERE/later": answer(b"later")},
            html=SPECULATION,
            script=LATER,
            initiators={"HERE/ahead": None},
            apart={"h1": "Chromium prefetches by rules what is https alone"},
        ),
        Case(
            id="speculation-rules-unheeded",
            routes={"HERE/later": answer(b"later")},
            html=SPECULATION,
            script=LATER,
            apart=dict.fromkeys(("h1tls", "h2", "h3"), "Chromium heeds them there"),
        ),
        *ORIGINS,
    ),
)


async def send_hint(request: ServedRequest, reply: Reply) -> None:
    """Send 103 that announces a script, then the document."""
    path = f"/{UNHEEDED if request.protocol == 'http/1.1' else 'early-hints'}/x"
    # Chromium drops a 103 that comes before it waits for the header: a millisecond after the request,
    # on loopback.
    await asyncio.sleep(0.1)
    await reply.inform(103, fields(f"link: <{path}>; rel=preload; as=script"))
    await asyncio.sleep(0.1)
    body = f"<!doctype html><link rel=icon href=data:,><script src={path}></script>"
    await answer(body.encode(), HTML)(request, reply)


UNHEEDED = "early-hints-unheeded"

HINTED = Page(
    host="hinted.test",
    document=send_hint,
    cases=(
        Case(
            id="early-hints",
            routes={"HERE/x": answer(b"0;", SCRIPT, FRESH)},
            apart=dict.fromkeys(("h1", "h1tls"), "Chromium does not heed 103 in HTTP/1.1"),
        ),
        Case(
            id=UNHEEDED,
            routes={"HERE/x": answer(b"0;", SCRIPT, FRESH)},
            apart=dict.fromkeys(("h2", "h3"), "Chromium heeds 103 there"),
        ),
    ),
)


async def send_hints(request: ServedRequest, reply: Reply) -> None:
    """Send two 103, each of which announces a script, then the document; Chromium heeds the first alone."""
    await asyncio.sleep(0.1)
    for name in ("x", "y"):
        await reply.inform(103, fields(f"link: </several-hints/{name}>; rel=preload; as=script"))
        await asyncio.sleep(0.1)
    scripts = "".join(f"<script src=/several-hints/{name}></script>" for name in ("x", "y"))
    await answer(f"<!doctype html><link rel=icon href=data:,>{scripts}".encode(), HTML)(request, reply)


HINTED_TWICE = Page(
    host="hints.test",
    document=send_hints,
    cases=(
        Case(
            id="several-hints",
            routes={f"HERE/{name}": answer(b"0;", SCRIPT, FRESH) for name in ("x", "y")},
        ),
    ),
)

DEFERRED = Page(
    host="later.test",
    cases=(
        Case(
            id="fetch-later",
            routes={"HERE/x": bodiless(status=204), "HERE/next": page("elsewhere")},
            script="fetchLater('HERE/x'); await pause(300); location.href = 'HERE/next';",
            initiators={"HERE/next": None},
            apart={"h1": "fetchLater needs https"},
        ),
    ),
)

PRERENDERED = Page(
    host="prerendered.test",
    cases=(
        Case(
            id="prerender",
            # The headless shell fetches the document alone, and shows it to nobody.
            routes={"HERE/ahead": page("<img src=/prerender/image>")},
            html="""<script type=speculationrules>
{"prerender": [{"source": "list", "urls": ["HERE/ahead"], "eagerness": "immediate"}]}</script>""",
            initiators={"HERE/ahead": None},
            apart={"h1": "Chromium prerenders by rules what is https alone"},
        ),
    ),
)

LEAVING = Page(
    host="leaving.test",
    cases=(
        Case(
            id="unload",
            routes={
                "HERE/next": page("elsewhere"),
                "HERE/beacon": bodiless(status=204),
                # Without a body: Chromium may leave it unread once the renderer that asked is gone.
                "HERE/kept": answer(b"", pause_s=0.05),
            },
            script="""
            addEventListener('pagehide', () => {
              navigator.sendBeacon('HERE/beacon', 'x'.repeat(500));
              fetch('HERE/kept', {keepalive: true, method: 'POST', body: 'bye'});
            });
            await pause(100);
            location.href = 'HERE/next';""",
            initiators={"HERE/next": None, "HERE/beacon": None, "HERE/kept": None},
        ),
    ),
)

MANY = Page(
    host="many.test",
    cases=(
        Case(
            id="six-connections",
            routes={f"HERE/{n}": answer(TEXT, NO_STORE, pause_s=0.05) for n in range(12)},
            script="await Promise.all([...Array(12).keys()].map(n => get(`HERE/${n}`)));",
        ),
        Case(
            id="hundred-streams",
            routes={f"THERE/{n}": answer(TEXT[: 100 * n], NO_STORE, CORS) for n in range(100)},
            script="await Promise.all([...Array(100).keys()].map(n => get(`THERE/${n}`)));",
        ),
    ),
)

CALM = Page(
    host="calm.test",
    cases=(
        Case(
            id="one-by-one",
            # So short that it leaves at once: nothing of it queues.
            routes={f"HERE/{n}": answer(TEXT[:500], NO_STORE) for n in range(40)},
            script="for (let n = 0; n < 40; n++) { await get(`HERE/${n}`); await pause(10); }",
        ),
    ),
)

LARGE_BYTES = 200_000_000 if ALL else 80_000_000
PIECE_BYTES = 1 << 18


CUT = 5_000_000
"""Size where the protocol does not matter, to save time."""


async def large(request: ServedRequest, reply: Reply) -> None:
    """Send a body too large to hold in memory, piece by piece."""
    size = LARGE_BYTES if (request.scheme, request.protocol) == ("https", "http/1.1") else CUT
    await reply.head(200, fields(f"content-length: {size}", NO_STORE))
    piece, left = bytes(PIECE_BYTES), size
    while left:
        part = piece[: min(left, PIECE_BYTES)]
        await reply.body(part)
        left -= len(part)
    await reply.end()


LARGE = Page(
    host="large.test",
    settle_s=200.0,
    cases=(
        Case(
            id="large",
            routes={"HERE/x": large},
            script="const reader = (await fetch('HERE/x')).body.getReader();"
            "while (!(await reader.read()).done);",
        ),
    ),
)

PAGES = (AHEAD, HINTED, HINTED_TWICE, DEFERRED, PRERENDERED, LEAVING, MANY, CALM, LARGE)

"""Cases of requests by frames, style sheets and workers."""

from tests.zoo.case import PAGE, Case, Page
from tests.zoo.replies import CORS, NO_STORE, PIXEL, STYLE, TEXT, answer, page, script
from tests.zoo.serving.security import Security
from tests.zoo.serving.server import ANNOUNCED, MOVING

ALT_SVC = 'alt-svc: h3=":443"; ma=3600'
WOFF2 = "content-type: font/woff2"
IMAGE = "content-type: image/gif"


def fetch_script(path: str) -> str:
    return f"fetch('{path}').then(r => r.arrayBuffer()).catch(() => 0);"


FRAMES = Page(
    host="frames.test",
    cases=(
        Case(
            id="cross-origin-frame",
            routes={
                "THERE/frame": page(
                    "<img src=/cross-origin-frame/image><script src=/cross-origin-frame/script></script>"
                    f"<script>{fetch_script('/cross-origin-frame/inline')}</script>"
                    "<iframe src=//third.test/cross-origin-frame/inner></iframe>"
                ),
                "THERE/image": answer(PIXEL, IMAGE),
                "THERE/script": script(fetch_script("/cross-origin-frame/by-script")),
                "THERE/by-script": answer(TEXT),
                "THERE/inline": answer(TEXT),
                "//third.test/cross-origin-frame/inner": page(
                    "<img src=//other.test/cross-origin-frame/across>"
                ),
                "THERE/across": answer(PIXEL, IMAGE),
            },
            html="<iframe src=THERE/frame></iframe>",
            initiators={
                "THERE/image": "THERE/frame",
                "THERE/script": "THERE/frame",
                "THERE/by-script": "THERE/script",
                "THERE/inline": "THERE/frame",
                "//third.test/cross-origin-frame/inner": "THERE/frame",
                "THERE/across": "//third.test/cross-origin-frame/inner",
            },
        ),
        Case(
            id="same-origin-frame",
            routes={
                "HERE/frame": page(f"<script>{fetch_script('/same-origin-frame/x')}</script>"),
                "HERE/x": answer(TEXT),
            },
            html="<iframe src=HERE/frame></iframe>",
            initiators={"HERE/x": "HERE/frame"},
        ),
        Case(
            id="font",
            routes={
                "HERE/sheet": answer(
                    b"@import url(imported);"
                    b"@font-face{font-family:f;src:url(//other.test/font/f)}p{font-family:f}",
                    STYLE,
                ),
                "HERE/imported": answer(b"p{background:url(background)}", STYLE),
                "HERE/background": answer(PIXEL, IMAGE),
                "THERE/f": answer(TEXT, WOFF2, CORS),
            },
            html="<link rel=stylesheet href=HERE/sheet><p>text</p>",
            initiators={
                "HERE/imported": "HERE/sheet",
                "HERE/background": "HERE/imported",
                "THERE/f": "HERE/sheet",
            },
        ),
        Case(
            id="uncredentialed",
            routes={"THERE/with": answer(TEXT), "THERE/without": answer(TEXT, CORS)},
            html="<img src=THERE/with><img crossorigin=anonymous src=THERE/without>",
        ),
        Case(
            id="by-script",
            routes={
                "HERE/outer": script("import('/by-script/inner');"),
                "HERE/inner": script(fetch_script("/by-script/x")),
                "HERE/x": answer(TEXT),
            },
            html="<script src=HERE/outer></script>",
            initiators={"HERE/inner": "HERE/outer", "HERE/x": "HERE/inner"},
        ),
    ),
)

WORKERS = Page(
    host="workers.test",
    cases=(
        Case(
            id="worker",
            routes={
                "HERE/main": script("importScripts('/worker/imported');" + fetch_script("/worker/x")),
                "HERE/imported": script(fetch_script("/worker/y")),
                "HERE/x": answer(TEXT),
                "HERE/y": answer(TEXT),
            },
            script="new Worker('HERE/main');",
            initiators={"HERE/imported": "HERE/main", "HERE/x": "HERE/main", "HERE/y": "HERE/imported"},
        ),
        Case(
            id="module-worker",
            routes={
                "HERE/main": script("import '/module-worker/imported';"),
                "HERE/imported": script(fetch_script("//other.test/module-worker/x")),
                "THERE/x": answer(TEXT, CORS),
            },
            script="new Worker('HERE/main', {type: 'module'});",
            initiators={"HERE/imported": "HERE/main", "THERE/x": "HERE/imported"},
        ),
        Case(
            id="blob-worker",
            routes={"HERE/x": answer(TEXT)},
            script="new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}HERE/x')"
            ".then(r => r.arrayBuffer())`])));",
            initiators={"HERE/x": None},
        ),
        Case(
            id="shared-worker",
            routes={"HERE/main": script(fetch_script("/shared-worker/x")), "HERE/x": answer(TEXT)},
            script="new SharedWorker('HERE/main');",
            initiators={"HERE/x": "HERE/main"},
        ),
    ),
)

SERVICE_WORKER = """
addEventListener('install', event => event.waitUntil(fetch('/service-worker/installed').then(r => r.text())));
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
  if (event.request.url.endsWith('/made-up')) event.respondWith(new Response('made up'));
  else if (event.request.url.endsWith('/through')) event.respondWith(fetch(event.request));
});
"""

CONTROLLED = """<script>
Promise.all(['through', 'made-up', 'past'].map(
  name => fetch(`/service-worker/${name}`).then(r => r.arrayBuffer()).catch(() => 0)));
</script>"""

SERVICE_WORKERS = Page(
    host="service.localhost",
    cases=(
        Case(
            id="service-worker",
            routes={
                "HERE/main": script(SERVICE_WORKER, NO_STORE, "service-worker-allowed: /service-worker/"),
                "HERE/installed": answer(TEXT),
                "HERE/controlled": page(CONTROLLED),
                "HERE/through": answer(TEXT),
                "HERE/past": answer(TEXT),
            },
            script="const registration = await navigator.serviceWorker.register('HERE/main', {scope: "
            "'HERE/'});await new Promise(done => { const worker = "
            "registration.installing;worker.onstatechange = () => { if (worker.state === 'activated') "
            "done(); }; });await add('iframe', {src: 'HERE/controlled'});",
            initiators={
                "HERE/installed": "HERE/main",
                "HERE/controlled": PAGE,
                "HERE/through": "HERE/controlled",
                "HERE/past": "HERE/controlled",
            },
        ),
    ),
)

SESSION = """
const drain = async stream => { const reader = stream.getReader(); while (!(await reader.read()).done); };
const converse = async (url, options) => {
  const session = new WebTransport(url, options);
  await session.ready;
  const both = await session.createBidirectionalStream();
  await both.writable.getWriter().write(new Uint8Array(9));
  await drain(both.readable);
  await drain((await session.incomingUnidirectionalStreams.getReader().read()).value);
};
"""


def sessions(case_id: str, act: str) -> Case:
    here = f"const here = `${{location.origin}}/{case_id}/session`;"
    return Case(
        id=case_id,
        routes={"HERE/after": answer(TEXT)},
        script=f"{SESSION} {here} {act} await get('HERE/after');",
        apart=dict.fromkeys(("h1", "h1tls", "h2"), "WebTransport is HTTP/3's"),
    )


SESSIONS = Page(
    host="session.test",
    cases=(
        sessions("webtransport", "await converse(here);"),
        # Chromium gives each a connection of its own, even where it may share one.
        sessions(
            "webtransport-sessions",
            "await Promise.all([converse(here), converse(here, {allowPooling: true}),"
            " converse('https://other.test/webtransport-sessions/session')]); await converse(here);",
        ),
    ),
)

SWITCHED = Page(
    host=ANNOUNCED,
    cases=(
        Case(
            id="alt-svc",
            routes={"HERE/announced": answer(TEXT, ALT_SVC, NO_STORE)}
            | {f"HERE/{n}": answer(TEXT, NO_STORE) for n in range(12)},
            script="await get('HERE/announced');"
            "for (let n = 0; n < 12; n++) { get(`HERE/${n}`); await pause(30); }",
            apart=dict.fromkeys(("h1", "h1tls", "h2"), "the switch is to HTTP/3"),
        ),
    ),
)

MIGRATING = Page(
    host=MOVING,
    security=Security(browser_flags=("--quic-client-connection-options=SPAD",)),
    cases=(
        Case(
            id="migration",
            routes={f"HERE/{n}": answer(TEXT, NO_STORE) for n in range(12)},
            script="for (let n = 0; n < 12; n++) { get(`HERE/${n}`); await pause(30); }",
            apart=dict.fromkeys(("h1", "h1tls", "h2"), "connections migrate in QUIC alone"),
        ),
    ),
)

PAGES = (FRAMES, WORKERS, SERVICE_WORKERS, SESSIONS, SWITCHED, MIGRATING)

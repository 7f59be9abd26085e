"""Cases of what a page asks for first, what it waits for, and when it is painted."""

from tests.zoo.case import Case, Page
from tests.zoo.replies import NO_STORE, PIXEL, STYLE, TEXT, answer, script

IMAGE = "content-type: image/gif"
SVG = "content-type: image/svg+xml"

LARGE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" '
    b'height="400" fill="green"/>'
    b"<!--%s--></svg>" % bytes(b"x" * 8000)
)
"""Image that is the largest of its page, and of so many bytes that it counts as content."""

DOCUMENT = """<!doctype html><meta charset=utf-8><link rel=icon href=data:,>
<link rel=stylesheet href=/blocking/sheet><script src=/blocking/script></script>
<script async src=/blocking/async></script><script defer src=/blocking/defer></script>
<link rel=preload as=image href=/priority/preloaded>
<body><p>text</p><link rel=stylesheet href=/blocking/in-body>
<img src=/priority/high fetchpriority=high><img src=/priority/low fetchpriority=low>
<img src=/painted/large width=600 height=400>
<script>
document.head.append(Object.assign(document.createElement('link'), {rel: 'stylesheet', href: '/blocking/inserted'}));
fetch('/priority/own', {headers: {priority: 'u=7, i=?0'}}).then(r => r.arrayBuffer());
</script>"""  # noqa: E501

BLOCKING = {
    "sheet": "blocking",
    "script": "blocking",
    "async": "potentially_blocking",
    "defer": "non_blocking",
    "in-body": "in_body",
    "inserted": "dynamic",
}
"""render_blocking by the last segment of the path."""

SIGNALS = {"preloaded": (3, True), "high": (1, True), "low": (3, True), "own": (7, False)}
"""urgency and is_incremental over HTTP/2 and HTTP/3; over HTTP/1.1, only `own` has a Priority header."""

HURRIED = Page(
    host="hurried.test",
    document=answer(DOCUMENT.encode(), "content-type: text/html; charset=utf-8"),
    cases=(
        Case(
            id="blocking",
            routes={
                "HERE/sheet": answer(b"p{color:green}", STYLE, pause_s=0.2),
                "HERE/in-body": answer(b"p{color:blue}", STYLE),
                "HERE/inserted": answer(b"p{color:red}", STYLE),
                **{f"HERE/{name}": script("0;") for name in ("script", "async", "defer")},
            },
        ),
        Case(
            id="priority",
            routes={
                **{f"HERE/{name}": answer(PIXEL, IMAGE) for name in ("preloaded", "high", "low")},
                "HERE/own": answer(TEXT),
            },
        ),
        Case(id="painted", routes={"HERE/large": answer(LARGE, SVG, pause_s=0.4)}),
    ),
)

WAIT_MS = (0, 50, 200)
WAITING = Page(  # which paints nothing
    host="waiting.test",
    cases=(
        Case(
            id="think-time",
            routes={
                f"HERE/{wait_ms}": answer(TEXT[:500], NO_STORE, pause_s=wait_ms / 1000) for wait_ms in WAIT_MS
            },
            script="for (const wait of [0, 50, 200, 0, 50, 200]) { await get(`HERE/${wait}`); "
            "await pause(10); }",
        ),
    ),
)

PAGES = (HURRIED, WAITING)

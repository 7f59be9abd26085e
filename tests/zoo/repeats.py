"""Cases of several requests for a URL: redirects, caches, ranges, retries."""

from localweb.serving.handler import Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.media import make_recording
from tests.zoo.replies import (
    CORS,
    FRESH,
    NO_STORE,
    PIXEL,
    SCRIPT,
    TEXT,
    answer,
    once,
    page,
    ranges,
    redirect_with_body,
    taking_turns,
)

IMAGE = "content-type: image/gif"


async def hung_up(request: ServedRequest, reply: Reply) -> None:
    """End the connection instead of a response; the browser retries if the
    connection has served a response before."""
    await reply.close()


REPEATS = Page(
    host="repeats.test",
    cases=(
        Case(
            id="chain",
            routes={
                "HERE/1": redirect_with_body("/chain/2", CORS),
                "HERE/2": redirect_with_body("//other.test/chain/3", CORS, status=307, body=b"moved again"),
                "THERE/3": redirect_with_body("/chain/4", CORS, status=303, body=b""),
                "THERE/4": answer(b"the end", CORS),
            },
            script="await get('HERE/1');",
        ),
        Case(
            id="undrained-redirect",
            routes={
                "HERE/1": redirect_with_body("/undrained-redirect/2", body=TEXT * 4),
                "HERE/2": answer(TEXT),
            },
            script="await get('HERE/1');",
            bounded="of a redirect's body the browser reads 16 kB at most, then drops connection or stream",
        ),
        Case(
            id="loop",
            routes={
                "HERE/1": redirect_with_body("/loop/2", NO_STORE),
                "HERE/2": redirect_with_body("/loop/1", NO_STORE),
            },
            script="await get('HERE/1');",
        ),
        Case(
            id="to-itself",
            routes={
                "HERE/x": once(
                    redirect_with_body("/to-itself/x", NO_STORE, "set-cookie: seen=1; path=/"),
                    answer(TEXT, NO_STORE),
                )
            },
            script="await get('HERE/x');",
        ),
        Case(
            id="image-redirect",
            routes={
                "HERE/a": redirect_with_body("//other.test/image-redirect/b"),
                "THERE/b": answer(PIXEL, IMAGE),
            },
            html="<img src=HERE/a>",
        ),
        Case(
            id="disk-cache",
            routes={"HERE/x": answer(TEXT, FRESH)},
            script="await get('HERE/x'); await get('HERE/x');",
        ),
        Case(
            id="memory-cache",
            routes={
                "HERE/x": answer(b"0;", SCRIPT, FRESH),
                "HERE/frame": page("<script src=/memory-cache/x></script>"),
            },
            html="<script src=HERE/x></script>",
            script="await add('iframe', {src: 'HERE/frame'});",
        ),
        Case(
            id="image-again",
            routes={"HERE/x": answer(PIXEL, IMAGE, FRESH)},
            html="<img src=HERE/x><img src=HERE/x>",
            script="await pause(100); await add('img', {src: 'HERE/x'});",
        ),
        Case(
            id="twice-at-once",
            routes={"HERE/x": answer(TEXT, NO_STORE, pause_s=0.05)},
            script="await Promise.all([get('HERE/x'), get('HERE/x')]);",
        ),
        Case(
            id="twice-cacheable",
            routes={"HERE/x": answer(TEXT, FRESH, pause_s=0.05)},
            script="await Promise.all([get('HERE/x'), get('HERE/x')]);",
        ),
        Case(
            id="range",
            routes={"HERE/x": ranges(TEXT, FRESH)},
            script="await get('HERE/x', {headers: {range: 'bytes=100-499'}});"
            "await get('HERE/x', {headers: {range: 'bytes=400-899'}});",
        ),
        Case(
            id="retried",
            routes={
                "//retried.test/retried/before": answer(b"first", CORS),
                "//retried.test/retried/x": taking_turns(hung_up, answer(TEXT, CORS)),
            },
            # A host of its own, and time for the connection to fall idle,
            # so that it is the one that is used again.
            script="await get('//retried.test/retried/before'); await pause(100);"
            "await get('//retried.test/retried/x');",
            apart=dict.fromkeys(("h2", "h3"), "a connection that ends is no stream that ends"),
        ),
    ),
)

MEDIA = Page(
    host="media.test",
    settle_s=1.5,
    stop_reasons=frozenset({"quiet", "busy"}),
    cases=(
        Case(
            id="media-cut-short",
            routes={"HERE/x": ranges(make_recording(seconds=120), "content-type: audio/wav")},
            html="<audio preload=metadata src=HERE/x></audio>",
            bounded="the browser stops reading when it has enough, and the kernel holds more",
        ),
        Case(
            id="media-sought",
            routes={"HERE/x": ranges(make_recording(seconds=120), "content-type: audio/wav")},
            html="<audio id=sought preload=auto src=HERE/x></audio>",
            script="sought.onloadedmetadata = () => { sought.currentTime = 100; };",
            bounded="the browser drops one range for another, and the kernel holds more",
        ),
    ),
)

PAGES = (REPEATS, MEDIA)

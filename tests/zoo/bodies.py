"""Cases of bodies: encodings, framings, and responses without a body."""

from localweb.serving.handler import Handler, Reply, Request
from tests.zoo.case import Case, Page
from tests.zoo.replies import (
    BROTLI,
    GZIP,
    NO_STORE,
    TEXT,
    ZSTD,
    answer,
    bodiless,
    fields,
    pieces,
    revalidate,
)

NO_HTTP1 = "HTTP/1.1 has no frames"
CHUNKS_ARE_HTTP1 = "chunks are HTTP/1.1's alone"


async def to_close(request: Request, reply: Reply) -> None:
    """Send a body that ends with its connection."""
    await reply.head(200, fields(NO_STORE, "connection: close"))
    await reply.body(TEXT)
    await reply.close()


def inform_first(then: Handler) -> Handler:
    """Send 103 before the response."""

    async def handle(request: Request, reply: Reply) -> None:
        await reply.inform(103, fields("link: </informed/x>; rel=preload; as=image"))
        await then(request, reply)

    return handle


def fetch_case(case_id: str, handler: Handler, options: str = "{}") -> Case:
    """Return a case of one fetch."""
    return Case(id=case_id, routes={"HERE/x": handler}, script=f"await get('HERE/x', {options});")


BODIES = Page(
    host="bodies.test",
    cases=(
        fetch_case("plain", answer(TEXT)),
        fetch_case("gzip", answer(GZIP, "content-encoding: gzip")),
        fetch_case("br", answer(BROTLI, "content-encoding: br")),
        fetch_case("zstd", answer(ZSTD, "content-encoding: zstd")),
        Case(
            id="chunked",
            routes={"HERE/x": pieces(b"abc", TEXT, b"d" * 70_000)},
            script="await get('HERE/x');",
            apart=dict.fromkeys(("h2", "h3"), CHUNKS_ARE_HTTP1),
        ),
        fetch_case("unknown-length", pieces(b"abc", TEXT, pause_s=0.02)),
        fetch_case("trailers", pieces(TEXT, trailers=("x-checksum: 1",))),
        fetch_case("empty", answer(b"")),
        Case(
            id="to-close",
            routes={"HERE/x": to_close},
            script="await get('HERE/x');",
            apart=dict.fromkeys(("h2", "h3"), "the end of a stream is not the end of its connection"),
        ),
        fetch_case("large-header", answer(TEXT, f"x-large: {'h' * 60_000}")),
        fetch_case("interim", inform_first(answer(TEXT))),
        fetch_case("upload", answer(b"thanks"), "{method: 'POST', body: 'x'.repeat(40000)}"),
        Case(
            id="data-and-blob",
            routes={},
            script="await get('data:text/plain,x'); await get(URL.createObjectURL(new Blob(['x'])));",
        ),
        fetch_case("204", bodiless(status=204)),
        fetch_case("204-end-apart", bodiless(status=204, end_apart=True)),
        Case(
            id="304", routes={"HERE/x": revalidate(TEXT)}, script="await get('HERE/x'); await get('HERE/x');"
        ),
        Case(
            id="304-end-apart",
            routes={"HERE/x": revalidate(TEXT, end_apart=True)},
            script="await get('HERE/x'); await get('HERE/x');",
        ),
        fetch_case("404", answer(TEXT, status=404)),
        fetch_case("500", answer(b"sorry", status=500)),
        fetch_case("head", answer(TEXT, NO_STORE), "{method: 'HEAD'}"),
        Case(
            id="cookies",
            routes={
                "HERE/set": answer(TEXT, f"set-cookie: long={'c' * 3000}; path=/", "set-cookie: two=2"),
                "HERE/sent": answer(b"seen"),
            },
            script="await get('HERE/set'); await get('HERE/sent');",
        ),
    ),
)

PAGES = (BODIES,)

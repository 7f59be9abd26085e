"""Cases of bodies: encodings, framings, and responses without a body."""

import base64
import hashlib

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.replies import (
    BROTLI,
    CORS,
    FRESH,
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
from tests.zoo.serving.security import Security

NO_HTTP1 = "HTTP/1.1 has no frames"
CHUNKS_ARE_HTTP1 = "chunks are HTTP/1.1's alone"


async def to_close(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, fields(NO_STORE, "connection: close"))
    await reply.body(TEXT)
    await reply.close()


def inform_first(then: Handler) -> Handler:
    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.inform(103, fields("link: </informed/x>; rel=preload; as=image"))
        await then(request, reply)

    return handle


def fetch_case(case_id: str, handler: Handler, options: str = "{}") -> Case:
    return Case(id=case_id, routes={"HERE/x": handler}, script=f"await get('HERE/x', {options});")


NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(64))
"""Compression dictionary of 2,048 bytes."""
VARIED = (NOISE[1024:] + NOISE[:1024]) * 4
BY_DICTIONARY = {
    "dcb": b"\xffDCB" + hashlib.sha256(NOISE).digest() + base64.b64decode("G/8f+CcA4rFAIPcCAA=="),
    "dcz": bytes.fromhex("5e2a4d1820000000")
    + hashlib.sha256(NOISE).digest()
    + base64.b64decode("KLUv/WAAH50AABA2bgMA/TMA2AP/A4T/8R+gymw="),
}
"""Zeros, as Brotli compresses them without the dictionary,
and VARIED, as Zstandard compresses it with the dictionary (RFC 9842)."""


def by_dictionary(coding: str) -> Handler:
    """Encode the body with the dictionary that the browser has, and without one not at all."""
    plain = bytes(len(VARIED)) if coding == "dcb" else VARIED

    async def handle(request: ServedRequest, reply: Reply) -> None:
        if "available-dictionary" in request.headers:
            await answer(BY_DICTIONARY[coding], f"content-encoding: {coding}")(request, reply)
        else:
            await answer(plain)(request, reply)

    return handle


def dictionary_case(coding: str) -> Case:
    """Return a case of a dictionary, and a body that is encoded with it."""
    return Case(
        id=coding,
        routes={
            "HERE/dictionary": answer(NOISE, FRESH, f'use-as-dictionary: match="/{coding}/x"'),
            "HERE/x": by_dictionary(coding),
        },
        script="await get('HERE/dictionary'); await pause(300); await get('HERE/x');",
        apart={"h1": "Chromium takes dictionaries over https alone"},
    )


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

DICTIONARIES = Page(
    host="dictionaries.test",
    security=Security(
        browser_flags=("--disable-features=CompressionDictionaryTransportRequireKnownRootCert",)
    ),
    cases=(
        dictionary_case("dcb"),
        dictionary_case("dcz"),
        Case(
            id="dictionary-link",
            routes={
                "HERE/dictionary": answer(NOISE, FRESH, 'use-as-dictionary: match="/dictionary-link/x"', CORS)
            },
            html="<link rel=compression-dictionary href=HERE/dictionary>",
            initiators={"HERE/dictionary": None},
            apart={"h1": "Chromium takes dictionaries over https alone"},
        ),
    ),
)

PAGES = (BODIES, DICTIONARIES)

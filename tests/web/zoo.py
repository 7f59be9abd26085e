"""Kinds of responses that are easily measured wrong, as bytes, and a page that asks for all of them."""

from __future__ import annotations

import gzip

from tests.web.raw import Answer, answer, html

TEXT = b"all work and no play makes jack a dull boy\n" * 400
CORS = "Access-Control-Allow-Origin: *"


def chunked(*pieces: bytes, trailer: bytes = b"") -> Answer:
    """Chunks, with a trailer section."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nAccess-Control-Allow-Origin: *\r\n\r\n"
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return Answer(head + body + b"0\r\n" + trailer + b"\r\n", sum(map(len, pieces)))


def early_hints(found: Answer) -> Answer:
    """103 in front: header bytes of the response that follows."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </plain>; rel=preload; as=image\r\n\r\n"
    return Answer(hints + found.wire, found.body_bytes)


PREFLIGHT = answer(b"", CORS, "Access-Control-Allow-Headers: x-zoo", "Access-Control-Allow-Methods: PUT")

KINDS: dict[str, Answer] = {
    "/plain": answer(TEXT, CORS),
    "/gzip": answer(gzip.compress(TEXT, mtime=0), CORS, "Content-Encoding: gzip"),
    "/chunked": chunked(b"abc", TEXT, b"d" * 70_000),
    "/trailer": chunked(TEXT, trailer=b"X-Checksum: 1\r\n"),
    "/empty": answer(b"", CORS),
    "/no-content": Answer(b"HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n", 0),
    "/missing": answer(TEXT, CORS, status="404 Not Found"),
    "/error": answer(b"sorry", CORS, status="500 Internal Server Error"),
    "/to-close": Answer(
        b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\n\r\n" + TEXT, len(TEXT), close=True
    ),
    "/hinted": early_hints(answer(TEXT, CORS)),
    "/redirect": answer(b"moved", CORS, "Location: /chain", status="302 Found"),
    "/chain": answer(
        b"moved again", CORS, "Location: http://other.test/end", status="307 Temporary Redirect"
    ),
    "/short": answer(b"x" * 3000, CORS, length=9000),
    "/reset": Answer(answer(b"x" * 3000, CORS, length=9000).wire, 3000, reset=True),
    "/large-header": answer(TEXT, CORS, f"X-Large: {'h' * 60_000}"),
}
SHORT = Answer(KINDS["/short"].wire, 3000, close=True)

SCRIPT = """
const read = (url, options) => fetch(url, options).then(r => r.arrayBuffer()).catch(() => 0);
(async () => {
  await Promise.all(KINDS.map(path => read(path)));
  await read("/plain", {method: "HEAD"});
  await read("/upload", {method: "POST", body: "x".repeat(40000)});
  await read("http://other.test/put", {method: "PUT", headers: {"x-zoo": "1"}});
  await read("/cached"); await read("/cached");
  await Promise.all([read("/twice"), read("/twice?b")]);
})();
"""

ZOO: dict[str, Answer] = (
    {
        "zoo.test/": html(f"<script>const KINDS = {list(KINDS)!r};{SCRIPT}</script>"),
        "zoo.test/upload": answer(b"thanks"),
        "zoo.test/cached": answer(TEXT, "Cache-Control: max-age=3600"),
        "zoo.test/twice": answer(TEXT, "Cache-Control: no-store"),
        "other.test/end": answer(b"the end", CORS),
        "other.test/put": answer(b"stored", CORS),
    }
    | {f"zoo.test{path}": found for path, found in KINDS.items()}
    | {"zoo.test/short": SHORT}
)
"""Of zoo.test and another origin."""

PREFLIGHTS = {"other.test/put": PREFLIGHT}
"""What OPTIONS is answered with."""

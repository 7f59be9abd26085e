"""Hostile pages: bodies and headers."""

from localweb.serving.handler import Handler
from tests.zoo.hostile.bombs import BROTLI_BOMB, bomb, gzip_bomb, zstd_bomb
from tests.zoo.hostile.handlers import HTML, as_fast_as_it_goes, by_path, document, html, raw, script, slowly

INVALID = b"\xff\xfe\x80\xc3\x28\xed\xa0\x80"  # no beginning, no middle, half a pair
GARBLED = (
    b"HTTP/1.1 200 "
    + INVALID
    + b"\r\nContent-Type: text/html; charset="
    + INVALID
    + b"\r\nSet-Cookie: a"
    + INVALID
    + b"=b"
    + INVALID
    + b"\r\nX-"
    + INVALID
    + b": "
    + INVALID
    + b"\r\nLink: </"
    + INVALID
    + b">; rel=preload; as=image\r\nContent-Length: 120\r\n\r\n"
    + (
        b"<link rel=icon href=data:,><title>"
        + INVALID
        + b"</title><img src='/"
        + INVALID
        + b"?"
        + INVALID
        + b"'>"
        + b"<script>fetch('/\\ud800?\\udfff')</script>"
    ).ljust(120, b" ")[:120]
)

PAGES: dict[str, Handler] = {
    "endless": as_fast_as_it_goes(HTML, b"<p>on and on</p>\n" * 4096),
    "endless-script": by_path(
        root=html("<script src=/js></script>"),
        js=as_fast_as_it_goes(HTML.replace(b"html", b"javascript"), b"/*" + b"x" * 65536 + b"*/\n"),
    ),
    "endless-fetch": by_path(
        root=script("fetch('/more').then(r => r.text())"), more=as_fast_as_it_goes(HTML, bytes(65536))
    ),
    "endless-interim": as_fast_as_it_goes(
        b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 100
    ),
    "gzip-bomb": bomb("gzip", lambda: gzip_bomb(512)),
    "zstd-bomb.secure": bomb("zstd", lambda: zstd_bomb(4096)),
    "brotli-bomb.secure": bomb("br", lambda: BROTLI_BOMB),
    "no-gzip": bomb("gzip", lambda: b"this is none"),
    "slow-header": slowly(b"", b"H", 1.0),
    "slow-body": slowly(HTML + b"<p>", b"x", 1.0),
    "slow-script": by_path(root=html("<script src=/js></script>"), js=slowly(HTML, b"/", 1.0)),
    "large-header": raw(document("fine", *(f"X-{n}: {'h' * 4000}" for n in range(62)))),
    "header-too-large": raw(document("never", *(f"X-{n}: {'h' * 4000}" for n in range(70)))),
    "endless-header": as_fast_as_it_goes(b"HTTP/1.1 200 OK\r\nX: ", b"h" * 65536),
    "garbled": by_path(root=raw(GARBLED)),
    "garbled-redirect": by_path(
        root=raw(
            b"HTTP/1.1 302 "
            + INVALID
            + b"\r\nLocation: /to/"
            + INVALID
            + b"?"
            + INVALID
            + b"\r\nContent-Length: 0\r\n\r\n"
        ),
        to=html("there"),
    ),
    "nuls": raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n" + b"<p>\0" * 5),
    "no-http": raw(b"SSH-2.0-OpenSSH_9.2\r\n" * 10),
    "wrong-length": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx"),
    "two-lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nxxxxxxxxx"),
}

"""Hostile pages: scripts that keep the processor or take memory."""

from localweb.serving.handler import Handler
from tests.zoo.hostile.handlers import document, html, script

WORKER = "new Worker(URL.createObjectURL(new Blob(['for(;;);'])))"

PAGES: dict[str, Handler] = {
    "busy": script("for (;;);"),
    "busy-later": script("addEventListener('load', () => setTimeout(() => { for (;;); }))"),
    "busy-worker": script(WORKER),
    "busy-frame": html("<iframe src=/frame></iframe>", frame=document("<script>for(;;);</script>")),
    "busy-frame-elsewhere": html("<iframe src=http://busy.test/></iframe>"),
    "promises": script("const again = () => Promise.resolve().then(again); again()"),
    "console": script(
        "const x = 'x'.repeat(1e5); setInterval(() => { for (let n = 0; n < 100; n++) console.log(x, {n}) })"
    ),
    "exceptions": script(
        "setInterval(() => { for (let n = 0; n < 100; n++) setTimeout(() => { throw new "
        "Error('x'.repeat(1e4)) }) })"
    ),
    "print": script("for (let n = 0; n < 50; n++) print()"),
    "debugger": script("setInterval(() => { debugger })"),
    "regular-expression": script("/^(a+)+$/.test('a'.repeat(40) + 'b')"),
    # Memory
    "memory-hog": script("const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1))"),
    "heap-hog": script("const all = []; for (;;) all.push(new Array(1e6).fill({}).map((_, n) => ({n})))"),
    "nodes": script("for (let n = 0; n < 1e5; n++) document.body.append(document.createElement('p'))"),
    "deep": html("<b>" * 100_000),
    "data-url": script(
        "const u = 'data:image/svg+xml,' + 'x'.repeat(1e7); new Image().src = u; fetch(u).catch(() => "
        "0);document.body.appendChild(document.createElement('iframe')).src = "
        "'data:text/html,' + 'x'.repeat(1e7)"
    ),
    "long-addresses": script("for (let n = 0; n < 40; n++) fetch('/' + 'x'.repeat(2e6)).catch(() => 0)"),
}

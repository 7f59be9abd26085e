"""Hostile pages: redirects and navigations."""

import json

from localweb.serving.handler import Handler
from tests.zoo.hostile.handlers import by_path, document, html, raw, redirects, script, stall

SCHEMES = [
    "mailto:a@b.test",
    "tel:1",
    "intent://x#Intent;scheme=http;end",
    "file:///etc/passwd",
    "chrome://crash",
    "chrome://settings",
    "view-source:http://plain.test/",
    "javascript:alert(1)",
    "ftp://plain.test/",
    "about:srcdoc",
    "devtools://devtools/bundled/inspector.html",
    "filesystem:x",
    "x-unknown:y",
]

PAGES: dict[str, Handler] = {
    "plain": html("<img src=/one><img src=/two>"),
    "redirects": redirects(0),
    "slow-redirects": redirects(1.5),
    "script-redirects": raw(document("<script>location.replace('/' + Math.random())</script>")),
    "meta-redirects": raw(document("<meta http-equiv=refresh content='0;url=/next'>")),
    "locations": script("for (let n = 0;; n++) location.href = '/' + n"),
    "fragments": script("let n = 0; setInterval(() => { location.hash = n++ })"),
    "push-states": script("for (let n = 0; n < 1e5; n++) history.pushState(n, '', '/pushed' + n)"),
    "schemes": script(f"for (const url of {json.dumps(SCHEMES)}) {{ open(url); location.href = url }}"),
    "chrome-crash": script("location.href = 'chrome://crash'"),
    "no-content": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "never-loads": by_path(root=html("<img src=/stalled>"), stalled=stall),
    "sync-request": by_path(
        root=script("const r = new XMLHttpRequest(); r.open('GET', '/stalled', false); r.send()"),
        stalled=stall,
    ),
    "document-write": script(
        "document.open(); document.write('<p>new</p><img src=/a>'); document.close();const f = "
        "document.body.appendChild(document.createElement('iframe')).contentDocument;f.open(); f.write('<img "
        "src=/b>'); f.close(); const w = open('about:blank'); w.document.write('<img src=/c>')"
    ),
}

"""Hostile pages: requests, downloads and permissions."""

import base64
import hashlib

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.hostile.handlers import (
    as_fast_as_it_goes,
    by_path,
    document,
    html,
    raw,
    redirects,
    response,
    script,
)

ATTACHMENT = response(
    b"x" * 5000, "Content-Type: application/zip", "Content-Disposition: attachment; filename=a.zip"
)
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
SERVICE_WORKER = b"""
self.addEventListener('install', event => skipWaiting());
self.addEventListener('activate', event => clients.claim());
self.addEventListener('fetch', event => event.respondWith(new Response('<p>mine</p>', {headers: {'Content-Type': 'text/html'}})));
"""  # noqa: E501
ASK_FOR_ALL = """
navigator.geolocation.getCurrentPosition(() => 0, () => 0);
navigator.geolocation.watchPosition(() => 0);
const tries = [
  () => Notification.requestPermission(), () => navigator.mediaDevices.getUserMedia({video: true, audio: true}),
  () => navigator.mediaDevices.getDisplayMedia({video: true}), () => navigator.clipboard.readText(),
  () => navigator.clipboard.writeText('x'), () => navigator.serial.requestPort(), () => navigator.usb.requestDevice({filters: []}),
  () => navigator.bluetooth.requestDevice({acceptAllDevices: true}), () => navigator.hid.requestDevice({filters: []}),
  () => navigator.requestMIDIAccess({sysex: true}), () => document.documentElement.requestFullscreen(),
  () => document.body.requestPointerLock(), () => navigator.keyboard.lock(), () => navigator.wakeLock.request('screen'),
  () => navigator.storage.persist(), () => document.requestStorageAccess(), () => showOpenFilePicker(),
  () => queryLocalFonts(), () => new IdleDetector().start(), () => navigator.credentials.get({password: true}),
  () => navigator.credentials.create({publicKey: {}}), () => new PaymentRequest([{supportedMethods: 'basic-card'}], {}).show(),
  () => navigator.registerProtocolHandler('mailto', '/?%s'), () => navigator.share({text: 'x'}),
  () => Object.assign(document.createElement('input'), {type: 'file'}).click(),
];
for (const one of tries) { try { Promise.resolve(one()).catch(() => 0); } catch (_) { } }
"""  # noqa: E501


async def websocket(request: ServedRequest, reply: Reply) -> None:
    """Upgrade to a WebSocket that sends messages of 64 kB without pause."""
    digest = hashlib.sha1(
        f"{request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()
    )
    accept = base64.b64encode(digest.digest()).decode()
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    head = "\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode()
    message = b"\x82\x7f" + (65536).to_bytes(8, "big") + bytes(65536)
    await as_fast_as_it_goes(head, message)(request, reply)


PAGES: dict[str, Handler] = {
    "requests": script("for (let n = 0; n < 10000; n++) fetch('/' + n).catch(() => 0)"),
    "hosts": script(
        "for (let n = 0; n < 1000; n++) fetch('http://h' + n + '.plain.test/', {mode: "
        "'no-cors'}).catch(() => 0)"
    ),
    "websocket": by_path(root=script("new WebSocket('ws://websocket.test/socket')"), socket=websocket),
    "event-source": by_path(
        root=script("new EventSource('/events')"), events=as_fast_as_it_goes(EVENTS, b"data: x\n\n" * 1000)
    ),
    "download": raw(ATTACHMENT),
    "downloads": script(
        "for (let n = 0; n < 100; n++) Object.assign(document.createElement('a'), {href: "
        "'/file' + n, download: n}).click()"
    ),
    "attachments": html("".join(f"<iframe src=/file/{n}></iframe>" for n in range(50)), file=ATTACHMENT),
    "download-later": script("location.href = '/file'", file=ATTACHMENT),
    "login": raw(document("who?", "WWW-Authenticate: Basic realm=x", status="401 Unauthorized")),
    "cookies": script("for (let n = 0; n < 1000; n++) document.cookie = n + '=' + 'x'.repeat(4000)"),
    "permissions.secure": script(ASK_FOR_ALL),
    "service-worker.secure": html(
        "<script>navigator.serviceWorker.register('/worker').then(() => navigator.serviceWorker.ready)"
        ".then(() => setTimeout(() => location.replace('/next'), 100))</script>",
        worker=response(SERVICE_WORKER, "Content-Type: text/javascript"),
    ),
    "slow-redirects.secure": redirects(1.5),
    "wants-certificate.secure": html("optional"),
    "needs-certificate.secure": html("never"),
}

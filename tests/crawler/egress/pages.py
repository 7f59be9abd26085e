"""Pages that try to reach refused addresses, each in its own way, which the path of the request names."""

import json

TARGETS = [
    "10.9.9.9",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.5.5",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "198.51.100.1",
    "93.184.215.2",
    "93.184.215.1",
    "93.184.215.77",
    "93.184.217.17",
    "[64:ff9b::93.184.217.17]",
    "127.0.0.1",
    "localhost",
    "0",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.9.9.9]",
    "[fd00:ec2::254]",
    "[fd12:3456:789a::9]",
    "[fe80::99]",
    "[2606:2800:220:2::2]",
    "private.test",
    "loop.test",
    "mapped.test",
    "both.test",
]
"""Literals in every form that a URL may have them in, the public addresses of the machine, of its gateway, of
a neighbour and of what its operator named, and names."""

WORKER = """
onmessage = async event => {
  await Promise.allSettled(event.data.map(one => fetch(`http://${one}/worker`, {mode: 'no-cors'})))
  postMessage('done')
}
"""

ESCAPES = """<!doctype html><link rel=icon href=data:,><body><script>
const targets = TARGETS
const waits = []
let hasTriedAll = false
const hold = async () => { while (!hasTriedAll) await fetch('/hold') }  // until all has been tried the page is not quiet
hold()
for (const one of targets) {
  waits.push(fetch(`http://${one}/fetch`, {mode: 'no-cors'}))
  waits.push(fetch(`/to/http://${one}/redirect`, {mode: 'no-cors'}))
  waits.push(fetch(`https://${one}:80/tls`, {mode: 'no-cors'}))
  waits.push(new Promise(end => { const image = new Image(); image.onload = image.onerror = end; image.src = `http://${one}/image` }))
  waits.push(new Promise(end => { const socket = new WebSocket(`ws://${one}/socket`); socket.onclose = end }))
  const frame = document.createElement('iframe')
  frame.src = `http://${one}/frame`
  document.body.append(frame)
}
waits.push(new Promise(end => {
  const worker = new Worker(URL.createObjectURL(new Blob([WORKER])))
  worker.onmessage = worker.onerror = end
  worker.postMessage(targets)
}))
const peer = new RTCPeerConnection({iceServers: [{urls: ['stun:10.9.9.9:3478', 'stun:127.0.0.1:3478', 'stun:93.184.216.34:3478']}]})
peer.createDataChannel('x')
peer.createOffer().then(offer => peer.setLocalDescription(offer))
Promise.allSettled(waits).then(() => fetch('/tried-all')).then(() => { hasTriedAll = true })
</script>""".replace("TARGETS", json.dumps(TARGETS)).replace("WORKER", json.dumps(WORKER))  # noqa: E501

PAGES = {
    "escapes.test": ESCAPES,
    "jump.test": "<!doctype html><script>location = 'http://10.9.9.9/jump'</script>",
}


def answer(host: str, path: str) -> bytes:
    """The whole response to a request; every connection is closed after it, so that each try is a new one."""
    target = "http://10.9.9.9/redirected" if host == "redirect.test" else path.partition("/to/")[2]
    if target:
        return (
            b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            % target.encode()
        )
    body = PAGES.get(host, "reached").encode() if path == "/" else b"reached"
    head = (
        "HTTP/1.1 200 OK\r\n"
        "Content-Type: text/html\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n"
        "\r\n"
    )
    return head.encode() + body

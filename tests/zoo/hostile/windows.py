"""Hostile pages: frames and windows."""

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.hostile.handlers import document, html, raw, script


async def nest_frames(request: ServedRequest, reply: Reply) -> None:
    """Frames in frames, a hundred deep."""
    depth = int(request.path[1:] or 0)
    await reply.write(document(f"<iframe src=/{depth + 1}></iframe>" if depth < 100 else "bottom"), end=True)


async def bottomless(request: ServedRequest, reply: Reply) -> None:
    frames = "".join(f"<iframe src={request.path.rstrip('/')}/{n}></iframe>" for n in range(3))
    await reply.write(document(frames), end=True)


PAGES: dict[str, Handler] = {
    "nested": nest_frames,
    "bottomless": bottomless,
    "frames": html("<iframe src=/leaf></iframe>" * 500),
    "flickering": script(
        "setInterval(() => { for (let n = 0; n < 20; n++) { const f = document.createElement('iframe');"
        "f.src = '/leaf'; document.body.append(f); f.remove() } })"
    ),
    "popups": script("for (let n = 0; n < 100; n++) open('/popup' + n)"),
    "popups-in-popups": raw(
        document("<script>open('/' + Math.random()); open('/' + Math.random())</script>")
    ),
    "popup-of-itself": script("if (!opener) open('/')"),
    "closing": script("close()"),
    "closing-later": script("addEventListener('load', () => setTimeout(() => close(), 100))"),
    "alerts": script("for (;;) alert(1)"),
    "dialogs": script("setInterval(() => { alert(1); confirm(2); prompt(3) })"),
    "before-unload": script(
        "onbeforeunload = e => { e.preventDefault(); return 'stay' }; "
        "setInterval(() => { location.href = '/x' })"
    ),
}

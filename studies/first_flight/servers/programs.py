"""Servers of the guest that speak TLS, as programs and in this one, and a client of theirs.

All serve /THINK_US/FLUSHED/BODY.
"""

import contextlib
import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PORTS = {
    ("openssl", "h1"): 443,
    ("nginx", "h2"): 444,
    ("nginx", "h1"): 445,
    ("go", "h2"): 446,
    ("go", "h1"): 447,
    ("s_server", "h1"): 448,
}
"""By server and protocol."""
BACKEND = 8000
FOLDER = Path("/run")
REQUEST_BYTES = 400
PIECE_BYTES = 16_384
READY_S = 30.0

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
STREAM_WINDOW, CONNECTION_WINDOW = 6_291_456, 15_663_105
"""Windows of HTTP/2 as Chromium sets them, in bytes."""


def start(programs: str, bodies: list[int], enter: Callable[[], None]) -> None:
    """Start all servers in the network namespace that `enter` moves a thread into;
    returns once all of them listen.

    The folder `programs` has the certificate and its key, and `server`, if Go's is to be among them.
    """
    folder = Path(programs)
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    (FOLDER / "nginx.conf").write_text(
        Path(__file__)
        .with_name("nginx.conf")
        .read_text()
        .replace("CERT", cert)
        .replace("KEY", key)
        .replace("FOLDER", str(FOLDER))
    )
    for body in bodies:
        (FOLDER / f"{body}").write_bytes(b"")
        os.truncate(FOLDER / f"{body}", body)
    enter()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    for port, wrap in ((PORTS["openssl", "h1"], context.wrap_socket), (BACKEND, None)):
        threading.Thread(target=_listen, args=[port, wrap, enter], daemon=True).start()
    openssl = ["openssl", "s_server", "-accept", str(PORTS["s_server", "h1"]), "-cert", cert, "-key", key]
    go = folder / "server"
    for command in (
        ["nginx", "-p", str(FOLDER), "-c", str(FOLDER / "nginx.conf")],
        [*openssl, "-WWW", "-quiet"],
        *([[str(go), cert, key, str(PORTS["go", "h2"]), str(PORTS["go", "h1"])]] if go.exists() else ()),
    ):
        subprocess.Popen(command, cwd=FOLDER)
    for (server, _), port in PORTS.items():
        if server != "go" or go.exists():
            _await(port)
    _await(BACKEND)


def _await(port: int) -> None:
    end = time.monotonic() + READY_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def _listen(port: int, wrap: Callable[..., socket.socket] | None, enter: Callable[[], None]) -> None:
    enter()
    with socket.create_server(("", port), backlog=64) as listener:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=_serve, args=[sock, wrap], daemon=True).start()


def _serve(sock: socket.socket, wrap: Callable[..., socket.socket] | None) -> None:
    with contextlib.suppress(OSError):
        sock = wrap(sock, server_side=True) if wrap else sock
        request = b""
        while b"\r\n\r\n" not in request:
            piece = sock.recv(65_536)
            if not piece:
                return
            request += piece
        think_us, flushed, body = map(int, request.split()[1].strip(b"/").split(b"/"))
        sock.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\nServer: think\r\n\r\n" % body
        )
        _write(sock, flushed)
        time.sleep(think_us / 1e6)
        _write(sock, body - flushed)
        sock.shutdown(socket.SHUT_WR)
        sock.recv(1)


def _write(sock: socket.socket, size: int) -> None:
    for at in range(0, size, PIECE_BYTES):
        sock.sendall(bytes(min(PIECE_BYTES, size - at)))


class Client:
    """A client that remembers its sessions, as a browser does."""

    def __init__(self) -> None:
        self._contexts = {"h1": self._context("http/1.1"), "h2": self._context("h2")}

    @staticmethod
    def _context(protocol: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols([protocol])
        return context

    def ask(
        self, sock: socket.socket, cell: dict[str, Any], session: ssl.SSLSession | None = None
    ) -> tuple[int, ssl.SSLSession | None]:
        """Take a response over a connected socket; returns the time of the
        request and the session for the next."""
        path = f"/{cell['think_us']}/{cell['flushed']}/{cell['body']}"
        if cell["server"] == "s_server":
            path = f"/{cell['body']}"
        context = self._contexts[cell["protocol"]]
        with context.wrap_socket(sock, server_hostname="lab.test", session=session) as secured:
            take = _take_h2 if cell["protocol"] == "h2" else _take_h1
            began = take(secured, path)
            return began, secured.session


def _take_h1(sock: ssl.SSLSocket, path: str) -> int:
    request = f"GET {path} HTTP/1.1\r\nHost: lab.test\r\nConnection: close\r\nX: ".encode()
    request = request.ljust(REQUEST_BYTES - 4, b"x") + b"\r\n\r\n"
    began = time.time_ns()
    sock.sendall(request)
    with contextlib.suppress(OSError):  # s_server ends without close_notify
        while sock.recv(1 << 20):
            pass
    return began


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def _literal(text: bytes) -> bytes:
    """Return a string of HPACK without Huffman's code (RFC 7541 §5.2), of less than 127 + 128 bytes."""
    length = bytes((len(text),)) if len(text) < 127 else bytes((127, len(text) - 127))
    return length + text


def _take_h2(sock: ssl.SSLSocket, path: str) -> int:
    window = (4).to_bytes(2, "big") + STREAM_WINDOW.to_bytes(4, "big")
    sock.sendall(
        PREFACE
        + _frame(SETTINGS, 0, 0, window)
        + _frame(WINDOW_UPDATE, 0, 0, CONNECTION_WINDOW.to_bytes(4, "big"))
    )
    fields = b"\x82\x87\x41" + _literal(b"lab.test") + b"\x44" + _literal(path.encode())
    fields += b"\x00" + _literal(b"x-padding") + _literal(b"x" * 200)
    began = time.time_ns()
    sock.sendall(_frame(HEADERS, END_HEADERS | END_STREAM, 1, fields))
    buffer = b""
    while True:
        while len(buffer) < 9 or len(buffer) < 9 + int.from_bytes(buffer[:3], "big"):
            piece = sock.recv(1 << 20)
            if not piece:
                raise OSError("the connection ended before the response")
            buffer += piece
        size, kind, flags = int.from_bytes(buffer[:3], "big"), buffer[3], buffer[4]
        stream = int.from_bytes(buffer[5:9], "big")
        buffer = buffer[9 + size :]
        if kind == SETTINGS and not flags & ACK:
            sock.sendall(_frame(SETTINGS, ACK, 0, b""))
        if stream == 1 and kind in (DATA, HEADERS) and flags & END_STREAM:
            return began

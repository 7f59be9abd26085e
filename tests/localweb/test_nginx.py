"""Our counts against nginx's `$bytes_sent` for the same bodies."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from localweb import recipes
from localweb.answers import ServedAnswer
from localweb.content import play
from localweb.modes import Mode
from localweb.server import LocalWeb
from localweb.serving.certificates import Authority
from localweb.serving.handler import ALPN_H2, ALPN_HTTP1, ServedOrigin

HOST = "www.arcelormittal.com.test"
ADDRESS = "127.20.255.1"

CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    log_format sizes '$request_uri $bytes_sent $body_bytes_sent';
    access_log {folder}/access.log sizes;
    default_type application/octet-stream;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
    keepalive_requests 10000;
    root {folder}/bodies;
    server {{ listen {ADDRESS}:{ports.http1}; }}
    server {{ listen {ADDRESS}:{ports.http1_tls} ssl; }}
    server {{ listen {ADDRESS}:{ports.http2} ssl http2; }}
}}
"""


class Ports(NamedTuple):
    http1: int
    http1_tls: int
    http2: int


def free_ports() -> Ports:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in Ports._fields]
        for sock in sockets:
            sock.bind((ADDRESS, 0))
        return Ports(*(sock.getsockname()[1] for sock in sockets))


@pytest.fixture(scope="module")
def answers() -> list[ServedAnswer]:
    """With bodies: nginx serves them as files."""
    (page,) = recipes.choose(recipes.load_bundled(), "www.arcelormittal.com")
    return [answer for answer in play(page, Mode.H2).answers if answer.status == 200 and answer.body]


@pytest.fixture
def nginx(tmp_path: Path, answers: list[ServedAnswer]) -> Iterator[tuple[Ports, Path]]:
    executable = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if executable is None:
        pytest.fail("no nginx: apt-get install --no-install-recommends nginx-light")
    for answer in answers:
        file = tmp_path / "bodies" / answer.path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer.body)
    certificate, key = Authority().files(HOST)
    (tmp_path / "certificate.pem").write_bytes(certificate)
    (tmp_path / "key.pem").write_bytes(key)
    ports = free_ports()
    config = tmp_path / "nginx.conf"
    config.write_text(CONFIG.format(folder=tmp_path, ports=ports, ADDRESS=ADDRESS))
    call = [executable, "-p", str(tmp_path), "-e", str(tmp_path / "error.log"), "-c", str(config)]
    with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(ports.http2, process)
            yield ports, tmp_path / "access.log"
        finally:
            process.terminate()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        assert process.poll() is None, "nginx ended"
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection((ADDRESS, port)):
            return
        time.sleep(0.02)
    pytest.fail("nginx does not listen")


def logged(access_log: Path) -> dict[str, tuple[int, int]]:
    lines = (line.split() for line in access_log.read_text().splitlines())
    return {path: (int(total), int(body)) for path, total, body in lines}


@pytest.mark.parametrize("protocol", Ports._fields)
def test_nginx_counts_a_response_as_we_do(
    protocol: str,
    nginx: tuple[Ports, Path],
    answers: list[ServedAnswer],
    fetch: Callable[..., Coroutine[Any, Any, Any]],
) -> None:
    ports, access_log = nginx
    scheme = "http" if protocol == "http1" else "https"
    alpn = (ALPN_H2,) if protocol == "http2" else (ALPN_HTTP1,)
    mode = {"http1": Mode.H1, "http1_tls": Mode.H1TLS, "http2": Mode.H2}[protocol]
    paths = [answer.path for answer in answers]
    hosts = {answer.path: answer.origin.host for answer in answers}

    async def from_both() -> tuple[Any, dict[str, Any], LocalWeb]:
        theirs = await fetch(
            ServedOrigin(scheme, HOST), (ADDRESS, getattr(ports, protocol)), paths, alpn=alpn
        )
        (page,) = recipes.choose(recipes.load_bundled(), "www.arcelormittal.com")
        ours = {}
        async with LocalWeb([page], mode=mode) as web:
            for path in paths:
                origin = ServedOrigin(scheme, hosts[path])
                seen = await fetch(origin, web.endpoint(origin), [path], alpn=alpn)
                ours[path] = seen.arrived[path]
        return theirs, ours, web

    theirs, ours, web = asyncio.run(asyncio.wait_for(from_both(), 60))
    counted = logged(access_log)

    # The client's count, by which the server's log is tested, is nginx's own.
    assert {path: arrived.wire_bytes for path, arrived in theirs.arrived.items()} == {
        path: total for path, (total, _) in counted.items()
    }
    sent = {entry.path: entry for entry in web.log.responses}
    assert sent.keys() == counted.keys()
    for path, entry in sent.items():
        their_total, _ = counted[path]
        assert ours[path].body == theirs.arrived[path].body
        # Of the same body, totals differ by header and framing alone.
        their_header = their_total - len(theirs.arrived[path].body)
        assert entry.wire_bytes - entry.header_bytes == their_total - their_header
        assert 0 < entry.header_bytes < 9 * (2 + len(ours[path].body) // 1024) + 400

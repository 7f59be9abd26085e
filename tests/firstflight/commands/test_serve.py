import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.firstflight.commands.served import served

pytestmark = pytest.mark.process


WITHIN_S = 120


@contextlib.contextmanager
def serve(data_dir: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A service that is killed at the end of the block if it still runs,
    so that a test that fails does not wait for it."""
    with subprocess.Popen(
        [sys.executable, "-m", "firstflight", "serve", *arguments],
        env={**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data_dir)},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def test_it_says_where_it_serves_and_what_to_run_where_there_is_nothing_yet(tmp_path: Path) -> None:
    with serve(tmp_path, "--port", "0") as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert "firstflight demo" in server.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert address is not None, line
        with urllib.request.urlopen(address[0], timeout=WITHIN_S) as answer:
            assert b"No release yet" in answer.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=WITHIN_S) == 0
        assert server.stderr.read() == ""


def test_a_port_in_use_is_one_line_and_a_failure(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve(tmp_path, "--port", str(port)) as server:
            _, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 1
    assert len(errors.splitlines()) == 1
    assert re.search(rf"port {port}.*in use.*--port", errors)


@pytest.mark.parametrize("host", ["192.0.2.77", "not a host"])
def test_an_address_that_is_not_ours_is_one_line_and_a_failure(tmp_path: Path, host: str) -> None:
    with serve(tmp_path, "--host", host, "--port", "0") as server:
        _, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 1
    assert len(errors.splitlines()) == 1
    assert host in errors


def test_a_contact_that_no_reader_could_use_is_one_line_and_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_CONTACT_EMAIL", "nobody")
    with serve(tmp_path, "--port", "0") as server:
        _, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 1
    assert errors == "Error: FIRSTFLIGHT_CONTACT_EMAIL is 'nobody': write one address, name@host\n"


def settings_of(data_dir: Path) -> dict[str, str]:
    return {"FIRSTFLIGHT_DATA_DIR": str(data_dir), "FIRSTFLIGHT_CACHE_DIR": str(data_dir / "cache")}


def status(address: str) -> int:
    with urllib.request.urlopen(address, timeout=WITHIN_S) as answer:
        return int(answer.status)


def workers(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children]


@pytest.mark.parametrize(
    "url", ["sizes.example", "ftp://sizes.example", "https://sizes.example/below?x=1", "https:///"]
)
def test_a_base_url_that_no_link_can_begin_with_is_one_line_and_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_PUBLIC_BASE_URL", url)
    with serve(tmp_path, "--port", "0") as server:
        _, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 1
    assert len(errors.splitlines()) == 1
    assert "FIRSTFLIGHT_PUBLIC_BASE_URL" in errors


@pytest.mark.parametrize("proxy", ["proxy.example", "*", "172.18.0.1/16"])
def test_a_proxy_that_no_connection_could_come_from_is_one_line_and_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_TRUSTED_PROXIES", f"127.0.0.1, {proxy}")
    with serve(tmp_path, "--port", "0") as server:
        _, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 1
    assert len(errors.splitlines()) == 1
    assert repr(proxy) in errors


def test_with_a_base_url_requests_for_other_names_are_refused(tmp_path: Path) -> None:
    public = {
        "FIRSTFLIGHT_PUBLIC_BASE_URL": "https://sizes.example",
        "FIRSTFLIGHT_TRUSTED_HOSTS": "a.example, b.example",
    }
    with served({**settings_of(tmp_path), **public}) as address:
        for host, expected in {
            "sizes.example": 200,
            "b.example": 200,
            "127.0.0.1": 200,
            "evil.example": 421,
        }.items():
            request = urllib.request.Request(f"{address}v1/crawls", headers={"Host": host})
            try:
                with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
                    status = answer.status
            except urllib.error.HTTPError as exc:
                status = exc.code
            assert status == expected, host


def test_metrics_are_on_a_port_of_their_own(tmp_path: Path) -> None:
    host = f"127.24.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"  # of this process alone: so its ports stay free  # noqa: E501
    with socket.create_server((host, 0)) as free:
        port = free.getsockname()[1]
    with served(settings_of(tmp_path), "--host", host, "--metrics-port", str(port)) as address:
        for _ in range(3):
            assert status(f"{address}v1/crawls") == 200
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=WITHIN_S) as answer:
            body = answer.read().decode()
    assert 'firstflight_api_answers_total{route="/v1/crawls",status="200"} 3.0' in body


def test_a_worker_that_dies_is_replaced_and_none_outlives_the_server(tmp_path: Path) -> None:
    with serve(tmp_path, "--port", "0") as server:
        assert server.stderr is not None
        address = re.search(r"http://\S+/", server.stderr.readline())
        assert address is not None
        assert status(f"{address[0]}v1/crawls") == 200
        (worker,) = workers(server.pid)
        os.kill(worker, signal.SIGKILL)
        assert status(f"{address[0]}v1/crawls") == 200  # the socket is still bound: its queue waits
        server.kill()
        server.wait(WITHIN_S)
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            try:
                status(f"{address[0]}v1/crawls")
            except OSError:
                return
    pytest.fail("somebody still answers")

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest


def serve(data_dir: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "firstflight", "serve", *arguments],
        env={**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data_dir)},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_says_where_it_serves_and_what_to_run_where_there_is_nothing_yet(tmp_path: Path) -> None:
    with serve(tmp_path, "--port", "0") as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        assert "firstflight demo" in server.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert address is not None, said
        with urllib.request.urlopen(address[0], timeout=10) as answer:
            assert b"No release yet" in answer.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0
        assert server.stderr.read() == ""


def test_a_port_in_use_is_one_line_and_a_failure(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve(tmp_path, "--port", str(port)) as server:
            _, said = server.communicate(timeout=20)
    assert server.returncode == 1
    assert len(said.splitlines()) == 1
    assert re.search(rf"port {port}.*in use.*--port", said)


@pytest.mark.parametrize("host", ["192.0.2.77", "not a host"])
def test_an_address_that_is_not_ours_is_one_line_and_a_failure(tmp_path: Path, host: str) -> None:
    with serve(tmp_path, "--host", host, "--port", "0") as server:
        _, said = server.communicate(timeout=20)
    assert server.returncode == 1
    assert len(said.splitlines()) == 1
    assert host in said

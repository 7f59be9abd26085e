"""Calls into network namespaces: what comes back, and what does not outlive them."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.zoo.serving.namespace import in_namespace

pytestmark = pytest.mark.process

WITHIN_S = 60.0


def test_loopback_is_all_there_is() -> None:
    assert in_namespace("socket:if_nameindex") == [[1, "lo"]]


def test_loopback_is_up_on_all_its_addresses() -> None:
    assert "dev lo" in in_namespace("subprocess:getoutput", "ip -o -4 route get 127.21.1.0")


def test_a_failure_is_told_with_its_reason() -> None:
    with pytest.raises(AssertionError, match="JSONDecodeError: Expecting value"):
        in_namespace("json:loads", "as it should be")


def test_what_is_late_is_ended_with_all_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pid"
    wait = subprocess.Popen.wait

    def wait_once_it_runs(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        deadline = time.monotonic() + WITHIN_S
        while not (file.exists() and file.read_text().endswith("\n")):
            assert time.monotonic() < deadline, "it does not begin"
            time.sleep(0.02)
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", wait_once_it_runs)
    with pytest.raises(AssertionError, match="took more than"):
        in_namespace("subprocess:getoutput", f"echo $$ > {file}; exec sleep 60", timeout_s=0.1)
    pid = int(file.read_text())
    deadline = time.monotonic() + WITHIN_S
    while is_running(pid):
        assert time.monotonic() < deadline, "it runs on"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"

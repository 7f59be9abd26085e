"""The box: errors where it cannot be made, and the parts of the machine that it shows."""

import asyncio
import os
import platform
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from crawler import box
from crawler.browser import processes
from crawler.browser.browser import Browser
from crawler.errors import BoxUnavailable, LaunchFailed
from tests.crawler.namespaces import play

pytestmark = pytest.mark.browser


def launch(chromium: Path) -> None:
    async def launched() -> None:
        async with Browser.launch(chromium):
            pass

    asyncio.run(launched())


def test_in_a_container_with_a_masked_proc_the_error_says_how_to_run_it() -> None:
    line = play("tests.crawler.box.masked")["error"]
    assert "the browsers' box cannot be made (bwrap: Can't mount proc" in line
    assert line.endswith("run it with --security-opt systempaths=unconfined")


def test_a_browser_without_a_box_is_not_started(chromium: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "PROGRAM", "no-bubblewrap-here")
    with pytest.raises(BoxUnavailable, match=r"^no no-bubblewrap-here: apt-get install bubblewrap$"):
        launch(chromium)


def test_a_browser_that_cannot_run_in_the_box_fails_with_the_boxs_message(server_folder: Path) -> None:
    folder = server_folder / "another-shell"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    program = folder / "browser" / "chromium"
    program.parent.mkdir()
    program.write_text(f"#!{folder}/sh\necho Chromium 156.0.0.0\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(LaunchFailed, match=r"does not start \(prlimit: .*: No such file or directory\)"):
        launch(program)


def test_a_folder_of_programs_that_others_can_replace_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "ours").mkdir(mode=0o700)
    with pytest.raises(BoxUnavailable, match=f"everybody may rename what is in {shared}: .* set TMPDIR"):
        box.check_place(shared / "ours")
    shared.chmod(0o1777)
    box.check_place(shared / "ours")


def test_a_browsers_fifos_lie_in_a_folder_that_no_other_user_can_enter(
    chromium: Path, tmp_path: Path
) -> None:
    async def read_modes() -> dict[str, tuple[int, int]]:
        async with Browser.launch(chromium):
            (folder,) = tmp_path.glob("firstflight-*")
            return {
                path.name: (path.stat().st_uid, path.stat().st_mode & 0o777)
                for path in (folder, *folder.iterdir())
                if path.name in {folder.name, "launcher", "netlog"}
            }

    tempfile.tempdir = str(tmp_path)
    try:
        result = asyncio.run(read_modes())
    finally:
        tempfile.tempdir = None
    assert {uid for uid, _ in result.values()} == {os.geteuid()}
    assert sorted(mode for _, mode in result.values()) == [0o622, 0o700, 0o700]


def test_all_processes_of_a_browser_end_with_bubblewrap(chromium: Path) -> None:
    async def killed() -> list[int]:
        async with Browser.launch(chromium) as browser:
            family = processes.list_descendants(browser.pid)
            assert len(family) > 4
            os.kill(browser.pid, signal.SIGKILL)
            async with asyncio.timeout(60):
                while any(map(processes.is_running, family)):
                    await asyncio.sleep(0.05)
            return family

    assert asyncio.run(killed())


def test_the_environment_has_listed_names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://10.0.0.1:3128/")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.delenv("TZ", raising=False)
    assert box.browser_environment().items() >= {"LANG": "de_DE.UTF-8", "HOME": box.HOME}.items()
    assert set(box.browser_environment()) <= {"PATH", "HOME", *box.PASSED_ON}


def test_a_browser_outside_usr_is_seen_with_its_folder_alone(tmp_path: Path) -> None:
    program = tmp_path / "own" / "chromium"
    call = box.box_command(program, memory_bytes=2**30)
    assert [argument for argument in call if argument.startswith(str(tmp_path))] == [
        str(program.parent),
        str(program.parent),
        str(program),
    ]


def boxed(script: str) -> list[str]:
    call = [*box.with_filter(box.box_command(Path("/usr/bin/python3"), memory_bytes=2**30)), "-c", script]
    done = subprocess.run(
        call,
        input=box.system_call_filter(),
        env=box.browser_environment(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode().splitlines()


def test_a_browser_makes_no_sockets_but_those_that_the_guard_sees() -> None:
    script = """
import errno, socket
for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        for make in (socket.socket, socket.socketpair):
            try:
                make(family, kind)
            except OSError as exc:
                if exc.errno == errno.EAFNOSUPPORT:
                    continue
            print(family)
"""
    assert {int(line) for line in boxed(script)} == set(box.FAMILIES)
    assert socket.AF_VSOCK not in box.FAMILIES


def test_calls_that_no_namespace_holds_are_refused_and_those_of_other_architectures_do_not_exist() -> None:
    numbers = box.MACHINES[platform.machine()].refused
    script = f"""
import ctypes, os
call = ctypes.CDLL(None, use_errno=True).syscall
print([(call(number, -1, 0, 0, 0, 0), os.strerror(ctypes.get_errno())) for number in {numbers}])
print(call({box.X32} + 39), os.strerror(ctypes.get_errno()))
"""
    refused, other = boxed(script)
    assert refused == str([(-1, "Operation not permitted")] * len(numbers))
    assert other == "-1 Function not implemented"


def test_a_box_has_a_bound_on_its_processes_and_the_next_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "TASKS", 20)
    script = """
import os, sys
made = 0
try:
    while os.fork():
        made += 1
    os.read(os.pipe()[0], 1)
except OSError as exc:
    print(made, exc.strerror)
"""
    for _ in range(2):
        (line,) = boxed(script)
        started, _, words = line.partition(" ")
        assert int(started) < 20
        assert words == "Resource temporarily unavailable"


def test_without_a_filter_for_the_processor_there_is_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(
        BoxUnavailable, match="no filter of system calls for riscv64: crawl on x86_64 or aarch64"
    ):
        box.check_box()

"""A browser's messages reach its driver unchanged, and its events reach us."""

import asyncio
import json
import os
import shlex
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from crawler.devtools import pipe_tee as pipe_tee_module
from crawler.devtools.events import EVENTS, DevToolsEvent, RequestSent
from crawler.devtools.pipe_tee import SESSIONS_KEPT, PipeTee
from crawler.fifo import CHUNK_BYTES, PIPE_BYTES

ASKED = "Network.requestWillBeSent"

SLACK_BYTES = 4 * (PIPE_BYTES + CHUNK_BYTES)
"""What the pipes between a browser, the tee and its two readers hold."""


def event(method: str, session: str, **params: Any) -> bytes:
    fields = {"method": method, "params": params, "sessionId": session}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\0"


def attached(target: str, session: str, *, by: str = "", kind: str = "page") -> bytes:
    info = {"targetId": target, "type": kind}
    return event("Target.attachedToTarget", by, sessionId=session, targetInfo=info)


def asked(session: str, number: int) -> bytes:
    return event(ASKED, session, requestId=f"7.{number}", request={"url": "https://a.test/"})


async def driven(
    folder: Path, written: bytes, page: str = "PAGE", *, then: str = ""
) -> tuple[bytes, list[DevToolsEvent]]:
    """Bytes at the driver, and events, of a browser that writes and ends; or, as a program, writes for
    ever and is killed."""
    heard: list[DevToolsEvent] = []
    (folder / "written").write_bytes(written)
    browser = folder / "browser"
    last = f"exec {then} >&4\n" if then else ""
    browser.write_text(f"#!/bin/sh\ncat {shlex.quote(str(folder / 'written'))} >&4\n{last}")
    browser.chmod(0o700)
    pipe_tee = PipeTee(folder, {ASKED: EVENTS[ASKED]})
    pipe_tee.listen(page, heard.append)
    ours, theirs = socket.socketpair()
    with ours:
        program = await asyncio.create_subprocess_exec(
            *("sh", "-c", f"exec {shlex.quote(str(pipe_tee.program([str(browser)])))} 3<&- 4>&1 1>&2"),
            stdout=theirs.fileno(),
        )
        theirs.close()
        got = await asyncio.to_thread(lambda: b"".join(iter(lambda: ours.recv(1 << 16), b"")))
        assert await program.wait() == (-signal.SIGKILL if then else 0)
    await pipe_tee.catch_up(timeout_s=20)
    pipe_tee.stop()
    await asyncio.to_thread(pipe_tee.close)
    return got, heard


def numbers(events: list[DevToolsEvent]) -> list[str]:
    return [event.request_id for event in events if isinstance(event, RequestSent)]


def test_the_driver_gets_every_byte_and_the_browsers_end(tmp_path: Path) -> None:
    written = attached("PAGE", "A") + os.urandom(3_000_000) + b"\0" + asked("A", 1) * 10_000
    got, heard = asyncio.run(driven(tmp_path, written))
    assert got == written
    assert len(heard) == 10_000


def test_a_message_without_an_end_ends_the_browser_and_is_short_for_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe_tee_module, "MESSAGE_BYTES", 3_000_000)
    got, _ = asyncio.run(driven(tmp_path, b"x" * 2_999_000 + b"\0" + b"x" * 2_999_000, then="yes"))
    assert got.startswith(b"x" * 2_999_000 + b"\0")
    assert len(got) < 2 * 3_000_000 + SLACK_BYTES


def test_a_page_has_its_own_events_and_those_of_its_frames_and_workers(tmp_path: Path) -> None:
    written = b"".join(
        [
            *(attached("OTHER", "O"), attached("PAGE", "A"), attached("WORKER", "W", by="A")),
            *(attached("WITHIN", "V", by="W"), attached("ELSEWHERE", "X", by="O")),
            *(asked("A", 1), asked("W", 2), asked("O", 3), asked("V", 4), asked("X", 5), asked("unknown", 6)),
            event("Network.dataReceived", "A"),
            b'{"id":1,"result":{"method":"Network.requestWillBeSent"},"sessionId":"A"}\0',
        ]
    )
    _, heard = asyncio.run(driven(tmp_path, written))
    assert numbers(heard) == ["7.1", "7.2", "7.4"]


def test_a_session_by_way_of_one_of_the_browser_is_the_pages_own(tmp_path: Path) -> None:
    sessions = (attached("PAGE", "A"), attached("ITSELF", "B", kind="browser"), attached("PAGE", "C", by="B"))
    _, heard = asyncio.run(driven(tmp_path, b"".join([*sessions, asked("B", 1), asked("C", 2)])))
    assert numbers(heard) == ["7.2"]


def test_a_page_with_too_many_workers_has_its_events_and_so_has_the_next(tmp_path: Path) -> None:
    workers = [attached(f"WORKER{n}", f"W{n}", by="B") for n in range(2 * SESSIONS_KEPT)]
    before = b"".join([attached("BEFORE", "B"), *workers, asked("B", 1), asked(f"W{len(workers) - 1}", 2)])
    ended = event("Target.detachedFromTarget", "", sessionId="B")
    folders = [tmp_path / "before", tmp_path / "after"]
    for folder in folders:
        folder.mkdir()
    _, heard = asyncio.run(driven(folders[0], before, "BEFORE"))
    assert numbers(heard) == ["7.1"]
    written = before + ended + attached("OTHER", "O") + attached("PAGE", "A") + asked("A", 2) + asked("W1", 3)
    _, heard = asyncio.run(driven(folders[1], written))
    assert numbers(heard) == ["7.2"]


@pytest.mark.parametrize(
    "strange",
    [
        b'{"method":"Network.requestWillBeSent","params":{"a":' + b"[" * 100_000 + b"\0",
        b'{"method":"Network.requestWillBeSent","params":{"a":"\xff"},"sessionId":"A"}\0',
        b'{"method":"\0',
        b"\0\0\0",
    ],
)
def test_unreadable_messages_are_skipped(tmp_path: Path, strange: bytes) -> None:
    got, heard = asyncio.run(driven(tmp_path, attached("PAGE", "A") + strange + asked("A", 1)))
    assert got.endswith(strange + asked("A", 1))
    assert numbers(heard) == ["7.1"]

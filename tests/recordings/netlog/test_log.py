"""A NetLog is read in any layout, and as far as it goes; anything else is refused in a sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from recordings.exchange import RecordingError
from recordings.netlog.release import NetLogFile, content_of, read_file
from recordings.release import group_by_month
from tests.recordings.netlog.made_up_log import MadeUpLog
from tests.recordings.netlog.test_counting import STATED


@pytest.fixture
def log() -> MadeUpLog:
    made_up = MadeUpLog()
    made_up.page("http://a.example/")
    made_up.get("http://a.example/1?token=t0ken", 300)
    return made_up


def read(content: bytes, folder: Path, name: str = "log.json") -> NetLogFile:
    file = folder / name
    file.write_bytes(content)
    return read_file(file)


def error(content: bytes, folder: Path) -> str:
    with pytest.raises(RecordingError) as raised:
        read(content, folder)
    return str(raised.value)


def requests(file: NetLogFile) -> list[int]:
    return [len(page.exchanges) for page in file.traffic.pages]


def test_any_layout_and_container_will_do(log: MadeUpLog, tmp_path: Path) -> None:
    written = log.written()
    document = json.loads(written)
    for content in (
        json.dumps(document, separators=(",", ":")).encode(),
        json.dumps(document, indent=2).encode(),
        b"\xef\xbb\xbf" + written,
        written.decode().encode("utf-16"),
        gzip.compress(written),
    ):
        file = read(content, tmp_path)
        assert (requests(file), file.log.is_cut) == ([2], False)


def test_a_log_that_breaks_off_is_read_up_to_there(log: MadeUpLog, tmp_path: Path) -> None:
    written = log.written()
    compact = json.dumps(json.loads(written), separators=(",", ":")).encode()
    for content in (written, compact):
        at = content.index(b"token=t0ken")
        file = read(content[: at + 20], tmp_path)
        assert (requests(file), file.log.is_cut) == ([1], True)


def test_an_event_that_cannot_be_read_is_left_out_and_counted_and_refused_if_asked(
    log: MadeUpLog, tmp_path: Path
) -> None:
    log.events.insert(3, {"phase": "x"})
    log.events.insert(5, {**log.events[0], "params": {"url": 7}})
    log.events.insert(6, {**log.events[0], "time": "tomorrow"})
    file = read(log.written(), tmp_path)
    assert (requests(file), dict(file.traffic.left_out)) == ([2], {"unreadable_event": 3})
    with pytest.raises(RecordingError, match="3 events cannot be read"):
        read_file(tmp_path / "log.json", strict=True)


def test_the_day_and_the_browser_are_those_of_the_log(log: MadeUpLog, tmp_path: Path) -> None:
    file = read(log.written(), tmp_path)
    content = content_of([file], STATED, month="2026-09")
    assert list(group_by_month([file, file])) == ["2026-09"]
    assert content.tables["crawl"][0]["browser"] == "Chrome 140.0.1.2"
    assert content.recording["recorded"] == "2026-09-07"
    assert f"{content.tables['visit'][0]['started_at']:%H:%M:%S.%f}" == "07:00:01.000000"


def test_a_log_without_its_clock_has_no_day(tmp_path: Path) -> None:
    for offset in (None, "soon", 10**30):
        log = MadeUpLog(timeTickOffset=offset)
        log.page("http://a.example/")
        assert read(log.written(), tmp_path).day == ""


def test_no_path_or_query_is_kept(log: MadeUpLog, tmp_path: Path) -> None:
    content = content_of([read(log.written(), tmp_path)], STATED, month="2026-09")
    assert {(row["path"], row["query_hash"]) for row in content.tables["response"]} == {(None, None)}
    assert "t0ken" not in repr(content)


def test_the_capture_mode_is_reported(log: MadeUpLog, tmp_path: Path) -> None:
    recording = content_of([read(log.written(), tmp_path)], STATED, month="2026-09").recording
    assert recording["capture_modes"] == {"Default": 1}
    assert "capture mode Default" in recording["limits"][0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "log.json is not JSON, at line 1 column 1"),
        (b"hello", "log.json is not JSON, at line 1 column 1"),
        (
            b'{"a": 1}',
            "log.json is no NetLog: `constants` with `logEventTypes` and `logEventPhase`, and `events`",
        ),
        (b'{"constants": {"logEventTypes": {}}, "events": []}', "log.json is no NetLog: `constants` with"),
        (b'{"constants": {"logEventTypes": {"A": 1}', "log.json breaks off before its first event"),
        (b'{"log": {"entries": []}}', "log.json is a HAR: import it by `firstflight import har`"),
        (
            b'[{"method": "Network.requestWillBeSent", "params": {}}]',
            "log.json is a log of DevTools events: import it by `firstflight import cdp`",
        ),
        (b'{"traceEvents": []}', "log.json is a trace of Chrome"),
        (b"[" * 100_000, "log.json is nested too deeply"),
        (MadeUpLog().written(), "log.json: no page in it whose document arrived"),
    ],
)
def test_what_is_no_netlog_is_refused_with_the_command_that_reads_it(
    content: bytes, message: str, tmp_path: Path
) -> None:
    assert error(content, tmp_path).startswith(message)


def test_a_log_of_the_browser_alone_says_what_was_left_out(tmp_path: Path) -> None:
    log = MadeUpLog()
    log.get("http://updates.example/", 300, top="null")
    assert error(log.written(), tmp_path).endswith("(left out: 1 of_browser_dropped)")

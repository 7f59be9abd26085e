"""Files from outside are hostile: what is no recording, or cannot be true, is one error."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordings.errors import RecordingError
from recordings.files import reading
from recordings.files.reading import CDP, HAR, read_file
from tests.factories.made_up_recording import DOCUMENT, STYLE

CREATOR = {"name": "by hand", "version": "1"}


def text(*entries: Any, **other: Any) -> bytes:
    return json.dumps({"log": {"creator": CREATOR, "entries": entries, **other}}).encode()


def with_response(**values: Any) -> bytes:
    return text({**DOCUMENT, "response": {**DOCUMENT["response"], **values}})


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"<html>",
    "JSON that breaks off": text(DOCUMENT)[:-20],
    "another document": b"[1, 2, 3]",
    "no text": b"\xff\xfe\x00",
    "no entries": text(),
    "an entry that is a number": text(7),
    "deep nesting": b'{"log":' * 100_000,
    "no number": with_response(bodySize=1).replace(b'"bodySize": 1', b'"bodySize": NaN'),
    "an infinite size": with_response(bodySize=1).replace(b'"bodySize": 1', b'"bodySize": 1e999'),
    "an endless number": with_response(bodySize=1).replace(b'"bodySize": 1', b'"bodySize": ' + b"9" * 5_000),
    "an absurd size": with_response(bodySize=10**15),
    "half a byte": with_response(bodySize=0.5),
    "a size in words": with_response(bodySize="many"),
    "an absurd status": with_response(status=10**9),
    "an absurd time": text({**DOCUMENT, "timings": {**DOCUMENT["timings"], "wait": 1e12}}),
    "another century": text(DOCUMENT, {**STYLE, "startedDateTime": "1899-01-01T00:00:00Z"}),
    "no time": text({**DOCUMENT, "startedDateTime": "yesterday"}),
    "a broken URL": text({**DOCUMENT, "request": {**DOCUMENT["request"], "url": "https://[::1/"}}),
    "an absurd port": text(
        {**DOCUMENT, "request": {**DOCUMENT["request"], "url": "https://a.example:99999/"}}
    ),
    "half a character": text({**DOCUMENT, "serverIPAddress": "\ud800"}),
    "a control character": text({**DOCUMENT, "serverIPAddress": "\x1b[2J"}),
    "an endless name": text({**DOCUMENT, "connection": "x" * 10_000}),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_a_hostile_file_is_one_error(content: bytes, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / ("x.har.gz" if pack is gzip.compress else "x.har")
    file.write_bytes(pack(content))
    with pytest.raises(RecordingError, match=r"x\.har"):
        read_file(file, HAR)


@pytest.mark.parametrize(
    "content", [b"[]", b"[1]", b'{"log": {}}', b'["message"]', b'[{"method": "Network.requestWillBeSent"}]']
)
def test_a_file_that_is_no_log_of_events_is_one_error(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(RecordingError, match=r"x\.json: not a CDP recording"):
        read_file(file, CDP)


def test_what_is_not_gzipped_or_breaks_off_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "x.har.gz"
    for content in (b"no gzip", gzip.compress(text(DOCUMENT))[:-12]):
        file.write_bytes(content)
        with pytest.raises(RecordingError, match="cannot be read"):
            read_file(file, HAR)


def test_no_more_than_the_limit_of_a_bomb_is_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 2**20)
    file = tmp_path / "bomb.har.gz"
    file.write_bytes(gzip.compress(b" " * 64 * 2**20))
    with pytest.raises(RecordingError, match="more than 1 MiB: record it without the content"):
        read_file(file, HAR)


def test_a_page_of_too_many_requests_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_EXCHANGES", 1)
    file = tmp_path / "x.har"
    file.write_bytes(text(DOCUMENT, STYLE))
    with pytest.raises(RecordingError, match="more than 1 requests"):
        read_file(file, HAR)


def test_the_time_of_the_load_event_is_read_where_there_is_one(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    for shown, known in ((1234.5, 1_234_500), (-1, None), (None, None)):
        file.write_bytes(text(DOCUMENT, pages=[{"pageTimings": {"onLoad": shown}}]))
        assert read_file(file, HAR).load_us == known

"""Files from outside are hostile: what is no recording, or cannot be true, is one error."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recordings import containers, reading
from recordings.exchange import RecordingError, Times
from recordings.reading import CDP, HAR, read_file
from tests.factories.made_up_recording import DOCUMENT, STYLE

CREATOR = {"name": "by hand", "version": "1"}


def text(*entries: Any, **other: Any) -> bytes:
    return json.dumps({"log": {"creator": CREATOR, "entries": entries, **other}}).encode()


def with_response(**values: Any) -> bytes:
    return text({**DOCUMENT, "response": {**DOCUMENT["response"], **values}})


def zipped(content: bytes, *more: str, name: str = "har.har") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other in more:
            archive.writestr(other, b"x")
    return file.getvalue()


ICON = {
    **DOCUMENT,
    "response": {**DOCUMENT["response"], "content": {"mimeType": "image/x-icon"}},
}

HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"<html>",
    "JSON that breaks off": text(DOCUMENT)[:-20],
    "another document": b"[1, 2, 3]",
    "no text": b"\xff\xfe\x00",
    "no entries": text(),
    "entries that are none": b'{"log": {"entries": 7}}',
    "an entry that is a number": text(7),
    "deep nesting": b'{"log":' * 100_000,
    "no number": with_response(status=1).replace(b'"status": 1', b'"status": NaN'),
    "an infinite size": with_response(bodySize=1).replace(b'"bodySize": 1', b'"bodySize": 1e999'),
    "an endless number": with_response(bodySize=1).replace(b'"bodySize": 1', b'"bodySize": ' + b"9" * 5_000),
    "an absurd size": with_response(bodySize=10**15),
    "half a byte": with_response(bodySize=0.5),
    "a size in words": with_response(bodySize="many"),
    "an absurd status": with_response(status=10**9),
    "an absurd time of an icon": text({**ICON, "timings": {**ICON["timings"], "wait": 1e12}}),
    "another century": text({**DOCUMENT, "startedDateTime": "1899-01-01T00:00:00Z"}),
    "the first year": text({**DOCUMENT, "startedDateTime": "0001-01-01T00:00:00Z"}),
    "the last year": text({**DOCUMENT, "startedDateTime": "9999-12-31T23:59:59Z"}),
    "no time": text({**DOCUMENT, "startedDateTime": "yesterday"}),
    "a broken URL": text({**DOCUMENT, "request": {**DOCUMENT["request"], "url": "https://[::1/"}}),
    "an absurd port": text(
        {**DOCUMENT, "request": {**DOCUMENT["request"], "url": "https://a.example:99999/"}}
    ),
    "half a character": text({**DOCUMENT, "serverIPAddress": "\ud800"}),
    "a control character": text({**DOCUMENT, "serverIPAddress": "\x1b[2J"}),
    "an endless name": text({**DOCUMENT, "connection": "x" * 10_000}),
}


def damaged_zips() -> Iterator[bytes]:
    """Yield zips with a name that is no text, an empty name, an offset beyond the file, and broken LZMA."""
    plain = zipped(text(DOCUMENT), name="\u00e9.har")
    yield plain.replace(b"\xc3\xa9", b"\xff\xff")
    yield plain.replace(b"\xc3\xa9", b"\0\0")
    end = plain.index(b"PK\x05\x06")
    yield plain[: end + 16] + b"\0\0\xff\xff" + plain[end + 20 :]
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.har", text(DOCUMENT))
    yield compressed.getvalue()[:44] + b"\xff" * 20 + compressed.getvalue()[64:]


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped], ids=["plain", "gzipped", "zipped"])
def test_a_hostile_file_is_one_error(content: bytes, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(pack(content))
    with pytest.raises(RecordingError, match=r"x\.har") as caught:
        read_file(file, HAR)
    message = str(caught.value)
    assert len(message) < 200
    assert not any(sign in message for sign in ("Error(", "'>", "\\x", "{", "\n"))


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_no_har_is_is_no_log_either(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(RecordingError, match=r"x\.json"):
        read_file(file, CDP)


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        zipped,
        lambda content: zipped(content, "resources/1.png", "resources/2.css"),
        lambda content: zipped(content, name="recording"),
        lambda content: content.decode().encode("utf-16"),
        lambda content: content.decode().encode("utf-16-le"),
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.decode().encode("utf-32"),
        lambda content: gzip.compress(content.decode().encode("utf-16")),
        lambda content: content.replace(b"by hand", b"by \xe9\xe9"),
    ],
    ids=["gzip", "zip", "Playwright's zip", "zip of another name", "UTF-16", "UTF-16 without a mark", "UTF-8 with a mark",  # noqa: E501
         "UTF-32", "UTF-16 in gzip", "some Latin-1"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["page.har", "page.har.gz", "page.har.zip", "page"])
def test_a_container_is_told_by_its_content(
    pack: Callable[[bytes], bytes], name: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(pack(text(DOCUMENT, STYLE)))
    assert len(read_file(file, HAR).load.exchanges) == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (gzip.compress(text(DOCUMENT))[:-12], "damaged, cut short or encrypted"),
        (zipped(text(DOCUMENT))[:-12], "damaged, cut short or encrypted"),
        *((content, "damaged, cut short or encrypted") for content in damaged_zips()),
        (zipped(text(DOCUMENT), "other.har"), "zip file with 2 recordings in it: unpack it"),
        (b"\x28\xb5\x2f\xfd....", "is a zstd file: unpack it"),
        (b"BZh91AY&SY", "is a bzip2 file: unpack it"),
        (b"{\n 7}", "is not JSON, at line 2 column 2"),
        (b"{}", "an object `log` with `entries` is missing"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(content)
    with pytest.raises(RecordingError, match=sentence):
        read_file(file, HAR)


EVENT = {
    "method": "Network.requestWillBeSent",
    "params": {"requestId": "1", "request": {"url": "https://a.example/", "method": "GET", "headers": {}}},
}
LINES = b"\n".join(json.dumps(event).encode() for event in (EVENT, {"method": "Page.loadEventFired"}))


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([EVENT]).encode(),
        json.dumps({"events": [EVENT]}, indent=1).encode(),
        LINES,
        LINES + b"\n\n",
    ],
)
def test_a_log_of_events_has_any_of_three_forms(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    assert read_file(file, CDP).load.host == "a.example"


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (b'{"constants": {"logEventTypes": {}}, "events": []}', CDP, "a NetLog of Chrome: import it by `firstflight import netlog`"),  # noqa: E501
        (b'{"constants": {"logEventTypes": {}},\n"events": [\n', HAR, "a NetLog of Chrome"),
        (b'{"traceEvents": []}', CDP, "a trace of Chrome, which no command reads"),
        (b'[{"ph": "X", "ts": 1}]', CDP, "a trace of Chrome"),
        (text(DOCUMENT), CDP, "a HAR: import it by `firstflight import har`"),
        (LINES, HAR, "a log of DevTools events: import it by `firstflight import cdp`"),
        (b"[]", CDP, "is no log of DevTools events: an array of events"),
        (b"[1]", CDP, "is no log of DevTools events"),
        (b'{"a": {"message": "x"}}', CDP, "is no log of DevTools events"),
    ],
)  # fmt: skip
def test_a_recording_of_another_form_names_its_command(
    content: bytes, kind: str, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(RecordingError, match=sentence):
        read_file(file, kind)


@pytest.mark.parametrize("pack", [gzip.compress, zipped])
def test_no_more_than_the_limit_of_a_bomb_is_decompressed(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "MOST_BYTES", 2**20)
    file = tmp_path / "bomb.har.gz"
    file.write_bytes(pack(b" " * 64 * 2**20))
    with pytest.raises(RecordingError, match="more than 1 MiB: record it without the content"):
        read_file(file, HAR)


def test_a_page_of_too_many_requests_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_EXCHANGES", 1)
    file = tmp_path / "x.har"
    file.write_bytes(text(DOCUMENT, STYLE))
    with pytest.raises(RecordingError, match="more than 1 requests"):
        read_file(file, HAR)


def test_an_odd_entry_is_left_out_and_counted_or_refused_by_number_and_field(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(text(DOCUMENT, {**STYLE, "response": None}))
    load = read_file(file, HAR).load
    assert (len(load.exchanges), load.left_out) == (1, {"malformed response": 1})
    with pytest.raises(RecordingError, match=r"x\.har: entry 1: malformed response"):
        read_file(file, HAR, strict=True)


@pytest.mark.parametrize(
    "odd",
    [
        {"timings": {**DOCUMENT["timings"], "wait": 1e12}},
        {"timings": {**DOCUMENT["timings"], "receive": float("inf")}},
        {"timings": {"send": None, "wait": None, "receive": None}},
        {"timings": "long"},
        {"startedDateTime": "0001-01-01T00:00:00Z"},
        {"startedDateTime": "yesterday"},
        {"startedDateTime": None},
    ],
)
def test_a_document_with_an_odd_time_loses_its_times_alone(odd: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(text({**DOCUMENT, **odd}, STYLE))
    load = read_file(file, HAR).load
    assert load.document is load.exchanges[0]
    assert (len(load.exchanges), load.document.times) == (2, Times())
    assert sum(load.left_out.values()) == 1
    with pytest.raises(RecordingError, match=r"x\.har: entry 0: "):
        read_file(file, HAR, strict=True)


def test_another_entry_with_an_odd_time_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(text(DOCUMENT, {**STYLE, "timings": {**STYLE["timings"], "wait": 1e12}}))
    load = read_file(file, HAR).load
    assert (len(load.exchanges), load.left_out) == (1, {"malformed timings": 1})


def test_a_page_of_one_response_with_an_absurd_time_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(text({**DOCUMENT, "timings": {**DOCUMENT["timings"], "wait": 1e12}}))
    assert read_file(file, HAR).load.host == "a.example"


def test_the_time_of_the_load_event_is_read_where_there_is_one(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    for shown, known in ((1234.5, 1_234_500), (-1, None), (None, None)):
        file.write_bytes(text(DOCUMENT, pages=[{"id": "page_1", "pageTimings": {"onLoad": shown}}]))
        assert read_file(file, HAR).load.load_us == known


def test_the_name_of_a_file_need_not_be_unicode(tmp_path: Path) -> None:
    file = tmp_path / b"caf\xe9.har".decode("utf-8", "surrogateescape")
    file.write_bytes(text(DOCUMENT))
    assert read_file(file, HAR).name == "caf\ufffd.har"

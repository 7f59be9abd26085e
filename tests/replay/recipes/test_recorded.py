"""Recipes of a made-up HAR file and a made-up log of DevTools events."""

import json
from pathlib import Path
from typing import Any

import pytest

from replay.errors import RecipeError
from replay.recipes.page_recipe import Origin
from replay.recipes.recorded import read_recordings
from tests.factories.made_up_recording import (
    DOCUMENT,
    REUSED,
    ROOT,
    STYLE,
    TIMINGS,
    entry,
    read_one,
    recipe_of_har,
    write_har,
)


@pytest.fixture
def har(tmp_path: Path) -> Path:
    return write_har(tmp_path)


def test_a_hars_page_becomes_a_recipe_as_a_releases_does(har: Path) -> None:
    recipe = read_one(har).recipe
    assert (recipe.page, recipe.visit_id, recipe.left_out) == ("a.example", 1, 1)
    assert recipe.origins == (
        Origin(host="a.example", port=443, h2=True, tls_flight_bytes=4_096, tls_after_bytes=0),
        Origin(host="b.example", port=8080, h2=False, tls_flight_bytes=0, tls_after_bytes=0),
    )
    text_header = len("HTTP/1.1 200 \r\n") + len("cache-control: max-age=3600\r\n") + len("\r\n")
    sizes = [
        20_000 + 200 + 9 * 3,  # a frame of HEADERS, two of DATA
        1_000 + text_header + 9 * 2,
        1_000 + 200,
        1_000 + 200 + 9 * 2,
    ]
    assert [
        (object_.response_id, object_.origin, object_.parent, object_.is_document)
        for object_ in recipe.objects
    ] == [
        (1, 0, -1, True),
        (2, 0, 0, False),
        (4, 1, 1, False),
        (5, 0, 0, False),  # its parent was left out
    ]
    assert [object_.response_bytes for object_ in recipe.objects] == sizes
    assert [object_.fresh_s for object_ in recipe.objects] == [None, 3600, None, None]  # three have no header


def test_a_har_tells_where_and_when_the_browser_found_what(har: Path) -> None:
    header, body = 200 + 27, 20_000
    assert [(object_.place, object_.browser_delay_us) for object_ in read_one(har).recipe.objects] == [
        (None, 0),
        # After a third of the body, and 86 ms after the document's end, which came 214 ms after the start
        (header + round(body / 3) - 18, 86_000),
        (None, 78_000),
        (header + round(2 * body / 3) - 9, 178_000),
    ]


def test_a_har_tells_think_times_less_round_trips_of_tcp_and_of_the_first_record(har: Path) -> None:
    think_times = [(object_.kind, object_.server_delay_us) for object_ in read_one(har).recipe.objects]
    # The browser waited for 120 ms. TCP's round trip took 20 of them (60 to connect, 40 of them TLS), and the
    # rest of a record of 16 kB as much again.
    assert think_times == [("page", 80_000), ("file", 0), ("page", 100_000), ("page", 0)]


def test_a_think_time_that_is_unknown_is_the_median_of_its_kind(tmp_path: Path) -> None:
    first = {**DOCUMENT, "timings": TIMINGS}
    unknown = entry("http://c.example/", version="HTTP/1.1", connection="21", serverIPAddress="192.0.2.3")
    known = entry("https://a.example/known", timings={**REUSED, "wait": 60})
    page, other, last = recipe_of_har(tmp_path, first, unknown, known).objects
    assert (page.server_delay_us, other.server_delay_us, last.server_delay_us) == (80_000, None, 40_000)
    assert (page.think_us, other.think_us, last.think_us) == (80_000, 60_000, 40_000)


def test_estimates_and_repairs_of_a_har_are_stated(har: Path) -> None:
    facts = read_one(har).to_dict()
    assert (facts["file"], facts["kind"], facts["tool"]) == ("page.har.gz", "har", "by hand 1")
    assert facts["sizes_estimated"] == 3  # over HTTP/2 the header's text is not its size
    assert facts["left_out"] == {"later_page_dropped": 1}
    assert "assumed" in facts["sizes"]
    assert len(facts["sha256"]) == 64


def test_hosts_on_one_connection_are_one_origin_unless_its_name_is_a_port(tmp_path: Path) -> None:
    def hosts(connection: str) -> list[str]:
        two = (
            entry("https://a.example/", connection=connection),
            entry("https://b.example/", connection=connection, serverIPAddress="192.0.2.2"),
        )
        return [origin.host for origin in recipe_of_har(tmp_path, *two).origins]

    assert hosts("17") == ["a.example"]
    assert hosts("443") == hosts("0") == ["a.example", "b.example"]


def test_connecting_that_may_include_tls_is_no_round_trip(tmp_path: Path) -> None:
    whole = {**DOCUMENT, "timings": {**TIMINGS, "ssl": -1}}
    (document,) = recipe_of_har(tmp_path, whole).objects
    assert document.server_delay_us is None


def test_over_http1_the_fastest_handshake_of_all_exchanges_counts(tmp_path: Path) -> None:
    quick = {**TIMINGS, "connect": 50}
    first, second = (
        entry(f"https://a.example/{n}", version="HTTP/1.1", connection="", timings=timings)
        for n, timings in enumerate((TIMINGS, quick))
    )
    assert [object_.server_delay_us for object_ in recipe_of_har(tmp_path, first, second).objects] == [
        110_000,
        110_000,
    ]


def event(method: str, **params: Any) -> dict[str, Any]:
    return {"method": f"Network.{method}", "params": params}


def asked(key: str, url: str, **other: Any) -> dict[str, Any]:
    request = {"url": url, "method": "GET", "headers": {}}
    return event("requestWillBeSent", requestId=key, frameId="top", request=request, **other)


def phases(request_s: float, **phases_ms: float) -> dict[str, float]:
    return {"requestTime": request_s, "connectStart": -1, "connectEnd": -1, "sslStart": -1, **phases_ms}


def response(timing: dict[str, float], **other: Any) -> dict[str, Any]:
    standard = {"status": 200, "protocol": "h2", "mimeType": "text/html", "connectionId": 9}
    return {**standard, "timing": timing, "headers": {}, "remoteIPAddress": "192.0.2.1", **other}


def test_a_log_of_devtools_events_becomes_a_recipe_too(tmp_path: Path) -> None:
    opening = phases(1.0, connectStart=0, sslStart=20, connectEnd=60, sendEnd=61, receiveHeadersEnd=101)
    events = [
        asked("1", "https://a.example/old", type="Document", timestamp=1.0, initiator={"type": "other"}),
        asked(
            "1",
            ROOT,
            type="Document",
            timestamp=1.2,
            initiator={"type": "other"},
            redirectResponse=response(opening, status=301, headers={"content-length": "10"}),
        ),
        event(
            "responseReceived",
            requestId="1",
            type="Document",
            response=response(
                phases(1.2, sendEnd=0, receiveHeadersEnd=70), headers={"content-length": "5000"}
            ),
        ),
        event("loadingFinished", requestId="1", encodedDataLength=5_150, timestamp=1.4),
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(events))
    (recorded,) = read_recordings([], [path])
    redirect, document = recorded.recipe.objects
    assert (redirect.parent, document.parent) == (-1, 0)
    assert (redirect.is_document, document.is_document) == (False, True)
    assert (redirect.server_delay_us, document.server_delay_us) == (20_000, 50_000)
    assert document.response_bytes == 5_150  # with the headers of frames
    assert (recorded.kind, recorded.sizes_estimated) == (
        "cdp",
        1,
    )  # of this redirect the log has only the text


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"log": {}}', '{"log": {"creator": {}, "entries": []}}']
)
def test_what_is_no_har_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.har"
    path.write_text(content)
    with pytest.raises(RecipeError, match=r"^x\.har[^\n{]*$"):
        read_recordings([path], [])


def test_a_recording_whose_document_has_no_size_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "x.har"
    entries = [{**DOCUMENT, "response": {**DOCUMENT["response"], "bodySize": -1}}, STYLE]
    path.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    with pytest.raises(RecipeError, match="no main document of known size"):
        read_recordings([path], [])

"""Recipes of made-up recordings, a HAR and a log of DevTools events, of the form that real ones have."""

from __future__ import annotations

import dataclasses
import gzip
import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from firstflight.main import main
from firstflight.settings import from_environment
from replay.errors import RecipeError
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.recipes.recorded import Recorded, read_recordings
from replay.recipes.warm_cache import NOT_MODIFIED_BYTES, REVISIT_S, warm_recipe

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "https://a.example/"
TIMINGS = {"blocked": 1, "dns": 2, "connect": 60, "ssl": 40, "send": 1, "wait": 120, "receive": 30}
REUSED = {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1, "send": 1, "wait": 20, "receive": 0}


def entry(url: str, **other: Any) -> dict[str, Any]:
    return {
        "pageref": "page_1",
        "startedDateTime": other.pop("at", "2026-11-01T12:00:00.000Z"),
        "serverIPAddress": "192.0.2.1",
        "connection": other.pop("connection", "17"),
        "timings": other.pop("timings", REUSED),
        "_initiator": other.pop("initiator", ROOT),
        "request": {"url": url, "method": "GET", "headers": []},
        "response": {
            "status": other.pop("status", 200),
            "httpVersion": other.pop("version", "h2"),
            "headers": [{"name": k, "value": v} for k, v in other.pop("headers", {}).items()],
            "redirectURL": "",
            "bodySize": other.pop("body", 1_000),
            "headersSize": other.pop("header", 200),
            "content": {"mimeType": other.pop("mime", "text/html")},
        },
        **other,
    }


DOCUMENT = entry(ROOT, body=20_000, timings=TIMINGS, initiator=None)
STYLE = entry(
    "https://a.example/s.css",
    at="2026-11-01T12:00:00.300Z",
    mime="text/css",
    header=-1,
    headers={"Cache-Control": "max-age=3600"},
)
UNKNOWN = entry("https://a.example/u.js", body=-1, at="2026-11-01T12:00:00.300Z")
FONT = entry(
    "http://b.example:8080/f.woff",
    at="2026-11-01T12:00:00.400Z",
    version="HTTP/1.1",
    connection="18",
    initiator="https://a.example/s.css",
    timings={**TIMINGS, "connect": 20, "ssl": -1},
    serverIPAddress="192.0.2.2",
)
BY_UNKNOWN = entry(
    "https://a.example/x.png", initiator="https://a.example/u.js", at="2026-11-01T12:00:00.500Z"
)
LATER = {**entry("https://a.example/next"), "pageref": "page_2"}


@pytest.fixture
def har(tmp_path: Path) -> Path:
    log = {
        "creator": {"name": "by hand", "version": "1"},
        "entries": [DOCUMENT, STYLE, UNKNOWN, FONT, BY_UNKNOWN, LATER],
    }
    path = tmp_path / "page.har.gz"
    path.write_bytes(gzip.compress(json.dumps({"log": log}).encode()))
    return path


def read_one(path: Path) -> Recorded:
    (found,) = read_recordings([path], [])
    return found


def test_a_hars_page_becomes_a_recipe_as_a_releases_does(har: Path) -> None:
    recipe = read_one(har).recipe
    assert (recipe.page, recipe.visit_id, recipe.left_out) == ("a.example", 1, 1)
    assert recipe.origins == (
        Origin(host="a.example", port=443, h2=True, tls_flight_bytes=4_096, tls_after_bytes=0),
        Origin(host="b.example", port=8080, h2=False, tls_flight_bytes=0, tls_after_bytes=0),
    )
    text_header = len("HTTP/1.1 200 OK\r\n") + len("cache-control: max-age=3600\r\n") + len("\r\n")
    sizes = [
        20_000 + 200 + 9 * 3 + 22 * 2,  # a frame of HEADERS, two of DATA; two records
        1_000 + text_header + 9 * 2 + 22,
        1_000 + 200,
        1_000 + 200 + 9 * 2 + 22,
    ]
    assert recipe.objects == tuple(
        Object(
            response_id=number,
            origin=origin,
            parent=parent,
            response_bytes=size,
            is_document=number == 1,
            server_delay_us=server_delay_us,
            fresh_s=fresh_s,
        )
        for number, origin, parent, size, server_delay_us, fresh_s in (
            (1, 0, -1, sizes[0], 100_000, 0),  # 120 ms less the 20 that TCP took of the 60 to connect
            (2, 0, 0, sizes[1], 0, 3600),
            (4, 1, 1, sizes[2], 100_000, 0),
            (5, 0, 0, sizes[3], 0, 0),  # what is left out hands over to who asked for it
        )
    )


def test_what_a_har_does_not_say_is_said(har: Path) -> None:
    facts = read_one(har).to_dict()
    assert (facts["file"], facts["kind"], facts["tool"]) == ("page.har.gz", "har", "by hand 1")
    assert facts["headers_estimated"] == 1
    assert facts["repairs"] == {"later_page_dropped": 1}
    assert "assumed" in facts["sizes"]
    assert len(facts["sha256"]) == 64


def recipe_of_har(tmp_path: Path, *entries: dict[str, Any]) -> Recipe:
    path = tmp_path / "some.har"
    path.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    return read_one(path).recipe


def test_hosts_on_one_connection_are_one_origin_unless_its_name_is_a_port(tmp_path: Path) -> None:
    def hosts(connection: str) -> list[str]:
        two = (
            entry("https://a.example/", connection=connection),
            entry("https://b.example/", connection=connection),
        )
        return [origin.host for origin in recipe_of_har(tmp_path, *two).origins]

    assert hosts("17") == ["a.example"]
    assert hosts("443") == hosts("0") == ["a.example", "b.example"]


def test_connecting_that_may_hold_tls_tells_no_round_trip(tmp_path: Path) -> None:
    whole = {**DOCUMENT, "timings": {**TIMINGS, "ssl": -1}}
    (document,) = recipe_of_har(tmp_path, whole).objects
    assert document.server_delay_us is None


def test_over_http1_each_exchange_may_tell_a_quicker_round_trip(tmp_path: Path) -> None:
    quick = {**TIMINGS, "connect": 50}
    first, second = (
        entry(f"https://a.example/{n}", version="HTTP/1.1", connection="", timings=timings)
        for n, timings in enumerate((TIMINGS, quick))
    )
    assert [one.server_delay_us for one in recipe_of_har(tmp_path, first, second).objects] == [
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
    (found,) = read_recordings([], [path])
    redirect, document = found.recipe.objects
    assert (redirect.parent, document.parent) == (-1, 0)
    assert (redirect.is_document, document.is_document) == (False, True)
    assert (redirect.server_delay_us, document.server_delay_us) == (20_000, 50_000)
    assert document.response_bytes == 5_000 + 150 + 9 * 2 + 22
    assert (found.kind, found.headers_estimated) == ("cdp", 1)  # of a redirect the log has only the text


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"log": {}}', '{"log": {"creator": {}, "entries": []}}']
)
def test_what_is_no_har_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.har"
    path.write_text(content)
    with pytest.raises(RecipeError, match=r"x\.har: not a HAR recording"):
        read_recordings([path], [])


def test_a_recording_whose_document_has_no_size_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "x.har"
    entries = [{**DOCUMENT, "response": {**DOCUMENT["response"], "bodySize": -1}}, STYLE]
    path.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    with pytest.raises(RecipeError, match="no main document of known size"):
        read_recordings([path], [])


def test_a_second_visit_asks_for_the_document_and_for_what_is_stale(har: Path) -> None:
    cold = read_one(har).recipe
    warm = warm_recipe(cold)
    assert [one.response_id for one in warm.objects] == [1, 4, 5]
    assert [one.parent for one in warm.objects] == [-1, 0, 0]  # the style sheet's font is the document's now
    assert warm.origins == cold.origins


def test_what_is_stale_and_has_a_validator_is_confirmed_by_a_304(tmp_path: Path) -> None:
    tagged = {"ETag": '"1"', "Cache-Control": "no-cache"}
    cold = recipe_of_har(
        tmp_path,
        {**DOCUMENT, "response": {**DOCUMENT["response"], "headers": [{"name": "etag", "value": '"1"'}]}},
        entry("https://a.example/large", headers=tagged, body=50_000),
        entry("https://a.example/small", headers=tagged, body=10, header=20),
        entry("http://b.example/clear", headers=tagged, version="HTTP/1.1", connection="18"),
        entry("https://a.example/absent", headers={"ETag": '"1"'}, body=50_000, status=404),
    )
    before = [one.response_bytes for one in cold.objects]
    after = [one.response_bytes for one in warm_recipe(cold).objects]
    over_tls = NOT_MODIFIED_BYTES + 22  # a record
    assert after == [over_tls, over_tls, before[2], NOT_MODIFIED_BYTES, before[4]]


def test_what_is_fresh_until_the_second_visit_is_stale_at_it(har: Path) -> None:
    cold = read_one(har).recipe
    for fresh_s, left in ((REVISIT_S, 4), (REVISIT_S + 1, 1)):
        objects = tuple(dataclasses.replace(one, fresh_s=fresh_s) for one in cold.objects)
        assert len(warm_recipe(dataclasses.replace(cold, objects=objects)).objects) == left


def test_the_document_is_asked_for_again_even_where_it_is_fresh(har: Path, tmp_path: Path) -> None:
    fresh = {
        **DOCUMENT["response"],
        "headers": [{"name": "Cache-Control", "value": f"max-age={REVISIT_S + 1}"}],
    }
    path = tmp_path / "fresh.har"
    log = {"creator": {"name": "x", "version": "1"}, "entries": [{**DOCUMENT, "response": fresh}]}
    path.write_text(json.dumps({"log": log}))
    assert len(warm_recipe(read_one(path).recipe).objects) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "give either --crawl, or recordings"),
        (["--crawl", "2026-11", "--har", "HAR"], "give either --crawl, or recordings"),
        (["--har", "absent.har"], "does not exist"),
        (["--cdp", "HAR"], "not a CDP recording"),
    ],
)
def test_a_run_takes_a_release_or_recordings(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    words = [word.replace("HAR", str(har)) for word in arguments]
    done = CliRunner().invoke(main, ["replay", "run", *words])
    assert done.exit_code != 0
    assert complaint in done.output


@pytest.mark.lab
def test_a_recordings_page_is_replayed_cold_and_warm(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = str(from_environment().cache_dir)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FIRSTFLIGHT_CACHE_DIR", cache)
    words = ["--har", str(har), "--cache", "cold,warm", "--think", "none,recorded"]
    words += ["--iw", "10", "--seeds", "1", "--profiles", "avgdc-2010-mid", "--responses", "--json"]
    done = CliRunner().invoke(main, ["replay", "run", *words])
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "replays").iterdir()
    rows = {(row["cache"], row["think"]): row for row in pq.read_table(folder / "cells.parquet").to_pylist()}
    assert {name: row["responses"] for name, row in rows.items() if name[1] == "none"} == {
        ("cold", "none"): 4,
        ("warm", "none"): 3,
    }
    for cache_state in ("cold", "warm"):
        none, recorded = rows[cache_state, "none"], rows[cache_state, "recorded"]
        assert recorded["document_ms"] - none["document_ms"] == pytest.approx(100, rel=0.02)
        assert recorded["page_ms"] - none["page_ms"] == pytest.approx(200, rel=0.02)
    assert pq.read_table(folder / "responses.parquet").num_rows == 2 * (4 + 3)
    facts = json.loads((folder / "replay.json").read_text())
    assert "release" not in facts
    assert [one["file"] for one in facts["recordings"]] == ["page.har.gz"]
    assert (facts["recipes"]["objects"], facts["recipes_warm"]["objects"]) == (4, 3)

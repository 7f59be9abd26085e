"""`firstflight import har`, `import cdp` and `import netlog` as an operator runs them."""

import functools
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result

from firstflight.main import main
from recordings.pages.sets import SET, SETS
from releases.catalogue import find_release
from releases.outside.points import load_points
from replay.recipes.page_recipe import read_recipes
from schema.recorded import FILES, NETLOGS, OTHER_YEARS, null_reasons
from schema.tables import Base
from tests.factories.made_up_recording import DOCUMENT, write_har
from tests.recordings.netlog.made_up_log import MadeUpLog

pytestmark = pytest.mark.process

CRAWL = "2026-11.desktop.lab.tcp.recorded"
LOGGED = "2026-09.desktop.lab.tcp.recorded"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def har(tmp_path: Path) -> Path:
    return write_har(tmp_path)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def import_file(kind: str, *arguments: str | Path) -> Result:
    return run("import", kind, "--id", "mine", "--vantage", "lab", "--device", "desktop", *arguments)


import_har = functools.partial(import_file, "har")
import_log = functools.partial(import_file, "netlog")


@pytest.fixture
def netlog(tmp_path: Path) -> Path:
    log = MadeUpLog()
    log.page("http://a.example/")
    log.get("http://cdn.example/1", 300)
    log.get("http://updates.example/", 300, top="null")
    log.page("http://b.example/", top="http://b.example")
    file = tmp_path / "log.json"
    file.write_bytes(log.written())
    return file


def releases(tmp_path: Path) -> Path:
    return tmp_path / "data" / "releases"


def rows(tmp_path: Path, table: str, columns: str, crawl: str = CRAWL) -> list[tuple[Any, ...]]:
    file = find_release(releases(tmp_path), crawl).file(table)
    return duckdb.execute(f"SELECT {columns} FROM read_parquet(?)", [str(file)]).fetchall()


def test_a_har_file_becomes_a_release_that_holds_and_can_be_replayed(har: Path, tmp_path: Path) -> None:
    done = import_har(har)
    assert done.exit_code == 0, done.output
    assert f"imported {CRAWL} version 1: 5 responses of 1 visits" in done.output
    verified = run("verify", "--offline", "release", CRAWL)
    assert verified.exit_code == 0, verified.output


def test_a_release_of_sizes_that_are_known_can_be_replayed(tmp_path: Path) -> None:
    har = tmp_path / "page.har"
    response = {**DOCUMENT["response"], "headersSize": -1, "_transferSize": 20_104}
    response["headers"] = [{"name": "content-length", "value": "20000"}]
    log = {"creator": {"name": "x", "version": "1"}, "entries": [{**DOCUMENT, "response": response}]}
    har.write_text(json.dumps({"log": log}))
    assert import_har(har).exit_code == 0
    (recipe,) = read_recipes(find_release(releases(tmp_path), CRAWL))
    assert [object_.response_bytes for object_ in recipe.objects] == [20_104]


def test_what_a_har_does_not_know_is_null_with_its_reason(har: Path, tmp_path: Path) -> None:
    assert import_har(har).exit_code == 0
    sizes = rows(tmp_path, "response", "host, wire_bytes, wire_bytes_unknown, body_bytes")
    assert sizes == [
        ("a.example", None, "not_recorded", 20_000),  # an HTTP/2 header's text is not its size
        ("a.example", None, "not_recorded", 1_000),
        ("a.example", None, "not_recorded", None),
        ("b.example", 1_200, None, 1_000),
        ("a.example", None, "not_recorded", 1_000),
    ]
    unstated = rows(tmp_path, "visit", "received_bytes, coverage, hsts_upgrades, ended_at, load_us")
    assert unstated == [(None,) * 5]
    recording = find_release(releases(tmp_path), CRAWL).recording or {}
    assert recording["responses_of_unknown_size"] == {"not_recorded": 4}
    assert set(recording["null_columns"]) <= set(null_reasons(FILES))
    assert recording["left_out"] == {"later_page_dropped": 1}


@pytest.mark.parametrize(
    ("kind", "crawl", "reasons"),
    [("har", CRAWL, null_reasons(FILES)), ("netlog", LOGGED, null_reasons(NETLOGS))],
)
def test_columns_that_are_null_throughout_have_a_reason(
    kind: str, crawl: str, reasons: Mapping[str, str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    assert import_file(kind, request.getfixturevalue(kind)).exit_code == 0
    for table in ("crawl", "site", "visit", "connection", *(("response",) if kind == "netlog" else ())):
        file = find_release(releases(tmp_path), crawl).file(table)
        described = duckdb.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(file)])
        comments = {column.name: column.comment or "" for column in Base.metadata.tables[table].columns}
        for name, *_ in described.fetchall():
            if rows(tmp_path, table, f"count({name})", crawl) == [(0,)]:
                assert f"{table}.{name}" in reasons or "null" in comments[name]


def test_connections_are_those_that_the_file_names(har: Path, tmp_path: Path) -> None:
    assert import_har(har).exit_code == 0
    assert rows(tmp_path, "connection", "host, port, protocol, response_count, round_trip_us") == [
        ("a.example", 443, "h2", 4, 20_000),
        ("b.example", 8080, "http/1.1", 1, 20_000),
    ]
    recording = find_release(releases(tmp_path), CRAWL).recording or {}
    assert recording["inferred"]["connections"]["share"] == 0


def test_without_names_connections_are_rebuilt_and_counted_as_inferred(tmp_path: Path) -> None:
    har = tmp_path / "page.har"
    entries = [
        {**DOCUMENT, "connection": "443"},
        {**DOCUMENT, "connection": "443", "timings": {"wait": 9, "receive": 1}},
    ]
    har.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    assert import_har(har).exit_code == 0
    assert rows(tmp_path, "connection", "response_count") == [(2,)]
    recording = find_release(releases(tmp_path), CRAWL).recording or {}
    assert recording["inferred"]["connections"]["requests"]["same_origin"] == 1


def test_the_same_files_again_are_the_same_release(har: Path) -> None:
    assert import_har(har).exit_code == 0
    again = import_har(har)
    assert again.exit_code == 0
    assert "was there already, the same to the byte" in again.output


def test_a_release_has_the_operators_authors_and_keeps_them(
    har: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    citation = tmp_path / "CITATION.cff"
    monkeypatch.setenv("FIRSTFLIGHT_CITATION", str(citation))
    refused = import_har(har)
    assert refused.exit_code == 1
    assert f"{citation} is no CITATION.cff that can be used: No such file or directory" in refused.stderr
    assert not releases(tmp_path).exists()
    citation.write_text(
        "cff-version: 1.2.0\n"
        "message: Cite it.\n"
        "title: Sizes\n"
        "authors:\n"
        "  - {family-names: Lovelace, given-names: Ada}\n"
    )
    assert import_har(har).exit_code == 0
    release = find_release(releases(tmp_path), CRAWL)
    assert [author.inverted for author in release.manifest.authors] == ["Lovelace, Ada"]
    assert "Lovelace" in (release.path / "CITATION.cff").read_text()
    assert run("verify", "--offline", "release", CRAWL).exit_code == 0
    citation.write_text(citation.read_text().replace("Lovelace", "Byron"))
    again = import_har(har)
    assert "was there already, the same to the byte" in again.output
    assert find_release(releases(tmp_path), CRAWL).manifest.authors == release.manifest.authors


def test_each_month_is_a_release(har: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.har"
    entries = [{**DOCUMENT, "startedDateTime": "2026-10-01T12:00:00Z"}]
    other.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    done = import_har(har, other, "--json")
    assert [release["crawl"][:7] for release in json.loads(done.stdout)] == ["2026-10", "2026-11"]


def test_a_bad_file_is_left_out_and_said_and_with_strict_nothing_is_written(
    har: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.har"
    bad.write_text('{"log":')
    strict = import_har(har, bad, "--strict")
    assert strict.exit_code == 1
    assert strict.stderr.splitlines()[-1] == "Error: bad.har is not JSON, at line 1 column 8"
    alone = import_har(bad)
    assert (alone.exit_code, alone.stderr) == (1, strict.stderr)
    assert not releases(tmp_path).exists() or not any(releases(tmp_path).rglob("*"))
    done = import_har(har, bad)
    assert done.exit_code == 0
    assert "left out: bad.har is not JSON, at line 1 column 8" in done.stderr
    assert len(rows(tmp_path, "visit", "id")) == 1


def test_a_file_that_is_given_twice_counts_once(har: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.har.gz"
    copy.write_bytes(har.read_bytes())
    assert import_har(har, har, copy).exit_code == 0
    assert len(rows(tmp_path, "visit", "id")) == 1


def test_odd_entries_are_left_out_and_counted(tmp_path: Path) -> None:
    har = tmp_path / b"caf\xe9.har".decode("utf-8", "surrogateescape")
    odd = [{**DOCUMENT, "response": None}, {**DOCUMENT, "startedDateTime": "0001-01-01T00:00:00Z"}]
    har.write_text(json.dumps({"log": {"entries": [DOCUMENT, *odd]}}))
    done = import_har(har)
    assert done.exit_code == 0, done.output
    assert "left out: 1 date before 1990 or in the future, 1 malformed response" in done.output
    recording = find_release(releases(tmp_path), CRAWL).recording or {}
    assert (recording["requests"], recording["tools"]) == (1, {"unknown": 1})
    assert recording["files"].keys() == {"1: caf\ufffd.har"}
    assert run("verify", "--offline", "release", CRAWL).exit_code == 0


def test_derived_sizes_are_marked_and_have_a_measure_of_their_own(tmp_path: Path) -> None:
    har = tmp_path / "page.har"
    shown = [{"name": "Content-Length", "value": "1000"}]
    response = {"httpVersion": "HTTP/1.1", "headersSize": -1, "bodySize": -1, "headers": shown}
    entries = [
        {**DOCUMENT, "response": {**DOCUMENT["response"], **response}},
        {**DOCUMENT, "response": {**DOCUMENT["response"], **response, "_transferSize": 1_300}},
    ]
    har.write_text(json.dumps({"log": {"creator": {"name": "x", "version": "1"}, "entries": entries}}))
    done = import_har(har)
    assert "2 of 2 responses have a known size on the wire (1 counted, 1 derived)" in done.output
    assert rows(tmp_path, "response", "wire_bytes, size_basis") == [(1_039, "derived"), (1_300, "counted")]
    file = find_release(releases(tmp_path), CRAWL).file("distribution")
    items = duckdb.execute(
        "SELECT measure, size_bytes, count FROM read_parquet(?) WHERE measure IN "
        "('responses', 'responses_derived')",
        [str(file)],
    )
    assert items.fetchall() == [
        ("responses", 1_300, 1),
        ("responses", None, 1),
        ("responses_derived", 1_039, 1),
    ]


def test_another_data_set_never_becomes_a_version_of_this_one(har: Path) -> None:
    assert import_har(har).exit_code == 0
    done = run("import", "har", "--id", "theirs", "--vantage", "lab", "--device", "desktop", har)
    assert done.exit_code == 1
    assert "is a release of the data set mine: give another --vantage or --device" in done.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [("--vantage", "Berlin!"), ("--vantage", ""), ("--month", "2026-13"), ("--device", "fridge")],
)
def test_a_label_that_is_none_is_refused(option: str, value: str, har: Path) -> None:
    done = run("import", "har", "--id", "mine", option, value, har)
    assert done.exit_code == 2
    assert option in done.stderr


def event(name: str, **params: Any) -> dict[str, Any]:
    return {"message": {"method": f"Network.{name}", "params": {"requestId": "1", **params}}}


def log_of(**began: Any) -> list[dict[str, Any]]:
    """Events of one page: a header and body of 1,300 bytes together, of which Content-Length states 1,000."""
    asked = {"url": "https://a.example/", "method": "GET", "headers": {}}
    response = {
        "status": 200,
        "protocol": "h2",
        "mimeType": "text/html",
        "headers": {"content-length": "1000"},
        "connectionId": 7,
    }
    return [
        event("requestWillBeSent", request=asked, timestamp=1.0, type="Document", frameId="f", **began),
        event("responseReceived", response=response, timestamp=1.1, type="Document"),
        event("loadingFinished", encodedDataLength=1_300, timestamp=1.2),
    ]


def test_a_log_of_devtools_events_becomes_a_release(tmp_path: Path) -> None:
    log = tmp_path / "page.json"
    log.write_text(json.dumps(log_of(wallTime=1_780_000_000.0)))
    done = run("import", "cdp", "--id", "logs", "--vantage", "lab", "--device", "desktop", log)
    assert done.exit_code == 0, done.output
    crawl = "2026-05.desktop.lab.tcp.recorded"
    sizes = rows(tmp_path, "response", "wire_bytes, header_bytes, body_bytes, is_complete", crawl)
    assert sizes == [(1_300, 300, 1_000, True)]
    assert run("verify", "--offline", "release", crawl).exit_code == 0


def test_a_log_without_a_date_needs_a_month(tmp_path: Path) -> None:
    log = tmp_path / "page.json"
    log.write_text(json.dumps(log_of()))
    done = run("import", "cdp", "--id", "logs", log)
    assert done.exit_code == 1
    assert "give the month of its recording by --month" in done.stderr
    done = run("import", "cdp", "--id", "logs", "--month", "2018-04", log)
    assert done.exit_code == 0
    assert "2018-04.unknown.unknown" in done.output


def test_newer_points_of_httparchive_are_taken_and_older_ones_stay(tmp_path: Path) -> None:
    report = tmp_path / "bytesTotal.json"
    row = {"client": "desktop", "p10": 1, "p25": 2, "p50": 3, "p75": 4, "p90": 5}
    for date in ("2023_01_01", "2023_02_01"):
        report.write_text(json.dumps([{"date": date, **row}]))
        assert run("import", "httparchive", report).exit_code == 0
    points = [point for point in load_points(tmp_path / "data" / "outside") if point.series == "page-weight"]
    assert (len(points), max(point.date for point in points)) == (459, "2023-02-01")


def test_a_bad_file_of_httparchive_writes_nothing(tmp_path: Path) -> None:
    good, bad = tmp_path / "bytesTotal.json", tmp_path / "bytesJs.json"
    good.write_text(
        json.dumps(
            [{"date": "2023_01_01", "client": "mobile", "p10": 1, "p25": 2, "p50": 3, "p75": 4, "p90": 5}]
        )
    )
    bad.write_text("{")
    done = run("import", "httparchive", good, bad)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "data" / "outside").exists()


def test_each_page_of_a_netlog_is_a_visit_of_a_release_that_holds(netlog: Path, tmp_path: Path) -> None:
    done = import_log(netlog)
    assert done.exit_code == 0, done.output
    assert f"imported {LOGGED} version 1: 3 responses of 2 visits" in done.output
    assert "3 of 3 responses have a known size on the wire (3 counted)" in done.output
    *_, left_out, folder = done.output.splitlines()
    assert left_out == "left out: 1 of browser dropped"
    verified = run("verify", "--offline", "release", LOGGED)
    assert verified.exit_code == 0, verified.output
    release = find_release(releases(tmp_path), LOGGED)
    assert folder == str(release.path)
    assert set((release.recording or {})["null_columns"]) <= set(null_reasons(NETLOGS))
    assert rows(tmp_path, "visit", "host, main_response_id, is_covered", LOGGED) == [
        ("a.example", 1, None),
        ("b.example", 1, None),
    ]


def test_what_is_no_netlog_leaves_nothing_behind(har: Path, netlog: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((har,), "page.har.gz is a HAR: import it by `firstflight import har`"),
        ((netlog, "--pcap", har), "page.har.gz is no capture of packets"),
    ):
        refused = import_log(*arguments)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
        assert f"Error: {message}" in refused.stderr
    assert not releases(tmp_path).exists()


def test_all_recorded_sets_are_imported_beside_an_older_release_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lh-gov-europe-2021-03"
    monkeypatch.setattr("firstflight.commands.importing.pages.SETS", {name: SETS[name]})
    earlier = shutil.copytree(SETS[name], tmp_path / "earlier")
    described = json.loads((earlier / SET).read_text())
    described["crawl"]["method_version"] = "recorded-1"
    (earlier / SET).write_text(json.dumps(described))
    assert run("import", "pages", earlier).exit_code == 0
    for verb in ("imported", "was there already"):
        done = run("import", "pages", "--all")
        assert done.exit_code == 0, done.output
        assert done.output.startswith(verb)
        release = find_release(releases(tmp_path), "2021-03")
        assert release.version == 2
    dictionary = (release.path / "dictionary.json").read_text()
    assert OTHER_YEARS.otherwise["response"]["resource_type"] in dictionary  # said of this year, not of 2025

"""Made-up recordings with the quirks of producers that were met in real ones, each with its right values."""

from pathlib import Path

import pytest

from recordings.exchange import RecordingError
from recordings.reading import CDP, HAR, read_file
from recordings.rows import page_rows

GIVEN = Path(__file__).with_name("given")

C, D, S, N = "counted", "derived", "stated", "not_recorded"
DOCUMENT = (200, 1200, 1000, C)
LOGGED = (200, 1100, 1000, C)

PAGES: dict[str, tuple[int, list[tuple[int, int | None, int | None, str]]]] = {
    # A cache and a service worker are no traffic.
    "01-safari-cache.har": (1, [DOCUMENT]),
    "02-ts0.har": (1, [DOCUMENT]),
    "02b-sw.har": (1, [DOCUMENT]),
    # The main document is the page's, not the first entry.
    "03-ocsp.har": (2, [(200, 858, 472, S), DOCUMENT, (200, 5300, 5000, C)]),
    "03b-favicon-first.har": (2, [(200, 1100, 900, C), DOCUMENT]),
    "03d-connect.har": (1, [DOCUMENT]),
    "20-out-of-order.har": (1, [DOCUMENT, (200, 5300, 5000, S)]),
    "23-some-without-pageref.har": (2, [(200, 600, 500, C), DOCUMENT, (200, 5300, 5000, C)]),
    "42-blank-first-page.har": (1, [DOCUMENT]),
    # A program went to several sites in one tab.
    "01-three-gotos.har": (1, [DOCUMENT, (200, 5200, 5000, C)]),
    # One absurd time of the document costs its times.
    "20-long-timing.har": (1, [DOCUMENT, (200, 5200, 5000, C)]),
    # A known total rules, whatever else is stated.
    "79-ts-less-than-header.har": (1, [DOCUMENT, (200, 600, 0, C)]),
    "82-pw123.har": (1, [(200, 170, 111, C)]),
    "89-revalidated-chc.har": (1, [DOCUMENT, (200, 54, 0, C)]),
    # A size that contradicts another is null; one that nobody counted is derived, and says so.
    "07-h2-body-with-header.har": (1, [(200, None, 2270, N), (200, None, 3717, N)]),
    "84-phantom.har": (1, [(200, 1066, 1000, D), (200, 9826, 9760, D)]),
    "85-broken-image.har": (1, [DOCUMENT, (200, None, None, "contradictory")]),
    "88-mitmproxy-header-repr.har": (1, [(200, 434, 369, D), (200, None, 500, N)]),
    "04-ie11.har": (
        1,
        [DOCUMENT, *[(200, None, None, "contradictory")] * 2, (200, None, None, N)],
    ),
    "10-redirect-with-final-size.har": (2, [(302, None, None, "contradictory"), DOCUMENT]),
    # Of a worker's script the header alone was counted.
    "02-worker.har": (1, [(200, 290, 200, C), (200, 2168, 2071, D)]),
    "k02-worker.json": (1, [(200, 290, 200, C), (200, 2168, 2071, D)]),
    "93-h2-cl-of-redirect.har": (2, [(302, 100, 0, C), (200, 2578, None, C)]),
    # Whatever its container and its name.
    "05-no-creator.har": (1, [DOCUMENT]),
    "22-gzip-named-har.har": (1, [DOCUMENT]),
    "22b-zip.har": (1, [DOCUMENT]),
    "k07-jsonl.json": (1, [LOGGED]),
    "k11-events-key.json": (1, [LOGGED]),
    # A 3xx that the browser shows is a document of its status.
    "80-redirect-no-location.har": (1, [(302, 1200, 1000, C)]),
    "81-300-main.har": (1, [(300, 1200, 1000, C)]),
    # A frame has a document of its own.
    "k04-iframe.json": (1, [(200, 1090, 1000, C), (200, 1090, 1000, C)]),
    # DevTools events: redirects, revalidated responses, a cache, and responses that broke off.
    "k01-redirect.json": (2, [(301, 474, 178, D), LOGGED]),
    "k02-revalidated.json": (1, [LOGGED, (200, 103, 0, C)]),
    "k03-total0.json": (1, [LOGGED]),
    "k04-beacon204-failed.json": (1, [LOGGED, (204, 48, 0, C)]),
    "k05-aborted-partway.json": (1, [LOGGED, (200, 60120, 60000, C)]),
}
"""Number of the main document, and of each response status, wire_bytes, body_bytes,
and size_basis or reason."""

ODD = {
    "24-header-missing.har": "malformed response.headers",
    "25-status-null.har": "malformed response.status",
    "26-float-size.har": "malformed response.content.size",
    "27-null-timings.har": "malformed timings",
    "54-bad-url.har": "malformed request.url",
    "70-no-content.har": "malformed response.content",
    "70-response-null.har": "malformed response",
    "71-long-mime.har": "malformed response.content.mimeType",
}
"""The one entry that is left out beside a sound document, by the reason."""

REFUSED = {
    "92-y0001.har": "date before 1990 or in the future",
    "92-y1970.har": "date before 1990 or in the future",
    "92-y9999.har": "date before 1990 or in the future",
    "k13-trace.json": "is a trace of Chrome, which no command reads",
    "k23-netlog.json": "import it by `firstflight import netlog`",
}


def kind(name: str) -> str:
    return CDP if name.endswith(".json") else HAR


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_its_document_and_the_sizes_that_crossed_the_network(name: str) -> None:
    rows = page_rows(read_file(GIVEN / name, kind(name)).load, 1)
    assert (rows.site["host"], rows.visit["outcome"]) == ("site.example", "ok")
    responses = [
        (row["status"], row["wire_bytes"], row["body_bytes"], row["size_basis"] or row["wire_bytes_unknown"])
        for row in rows.responses
    ]
    assert (rows.visit["main_response_id"], responses) == PAGES[name]


def test_a_frames_document_is_an_iframe() -> None:
    rows = page_rows(read_file(GIVEN / "k04-iframe.json", CDP).load, 1)
    assert [row["resource_type"] for row in rows.responses] == ["document", "iframe"]


def test_later_loads_of_a_tab_are_left_out_and_counted() -> None:
    assert read_file(GIVEN / "01-three-gotos.har", HAR).load.left_out == {"later_load_dropped": 4}


def test_a_document_with_an_absurd_time_is_there_without_times() -> None:
    load = read_file(GIVEN / "20-long-timing.har", HAR).load
    rows = page_rows(load, 1)
    assert (rows.visit["outcome"], rows.visit["status"]) == ("ok", 200)
    assert [row["first_byte_us"] for row in rows.responses] == [None, 221_000]
    assert load.left_out == {"malformed timings": 1}


@pytest.mark.parametrize("name", ["k04-beacon204-failed.json", "k05-aborted-partway.json"])
def test_a_response_that_broke_off_is_not_complete(name: str) -> None:
    rows = page_rows(read_file(GIVEN / name, CDP).load, 1)
    assert [row["is_complete"] for row in rows.responses] == [True, False]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_entry_is_left_out_and_counted_and_refused_if_asked(name: str) -> None:
    load = read_file(GIVEN / name, HAR).load
    assert dict(load.left_out) == {ODD[name]: 1}
    assert [row["wire_bytes"] for row in page_rows(load, 1).responses] == [1200]
    with pytest.raises(RecordingError, match=r"entry \d+"):
        read_file(GIVEN / name, HAR, strict=True)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_page_is_refused_in_a_line(name: str) -> None:
    with pytest.raises(RecordingError) as caught:
        read_file(GIVEN / name, kind(name))
    assert REFUSED[name] in str(caught.value)


def test_every_file_has_its_values() -> None:
    assert {path.name for path in GIVEN.iterdir()} == {*PAGES, *ODD, *REFUSED}

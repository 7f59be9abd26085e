"""Documents and reports are compressed for clients that accept gzip, under entity tags of their own."""

import gzip
from pathlib import Path

from fastapi.testclient import TestClient

from api.app import create_app
from api.documents.shelved import sources
from api.lab.queue import Queue
from benchmarks.pages.loads import MOST_BYTES
from tests.factories.made_up_replay import at_once

GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}
METHODS = "/documents/methods"


def test_every_document_is_light_for_a_browser(client: TestClient) -> None:
    style = int(client.get("/static/style.css").headers["content-length"])
    pages = {name: client.head(f"/documents/{name}".rstrip("/"), headers=GZIP) for name in sources()}
    weights = {name: style + int(page.headers["content-length"]) for name, page in pages.items()}
    assert {name: weight for name, weight in weights.items() if weight > MOST_BYTES} == {}


def test_a_document_is_smaller_for_a_client_that_accepts_gzip_and_the_same_once_decoded(
    client: TestClient,
) -> None:
    plain, compressed = client.get(METHODS, headers=PLAIN), client.get(METHODS, headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"
    assert int(compressed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert compressed.content == plain.content
    assert {answer.headers["vary"] for answer in (plain, compressed)} == {"Accept-Encoding"}


def test_the_bytes_on_the_wire_are_gzip_and_the_same_at_every_start(client: TestClient) -> None:
    with client.stream("GET", METHODS, headers=GZIP) as answer:
        raw = b"".join(answer.iter_raw())
    assert raw == gzip.compress(gzip.decompress(raw), 6, mtime=0)


def test_either_form_is_known_again_by_its_own_tag_alone_also_before_it_was_computed(
    client: TestClient, data_dir: Path
) -> None:
    tags = [client.get(METHODS, headers=coding).headers["etag"] for coding in (PLAIN, GZIP)]
    assert len(set(tags)) == 2
    with TestClient(create_app(data_dir / "releases", data_dir / "reports", lab=Queue(at_once))) as fresh:
        for asked in (fresh, client):
            answers = [
                asked.get(METHODS, headers={**coding, "If-None-Match": tag})
                for coding in (PLAIN, GZIP)
                for tag in tags
            ]
            assert [answer.status_code for answer in answers] == [304, 200, 200, 304]
            assert {answer.headers["vary"] for answer in answers} == {"Accept-Encoding"}


def test_the_page_of_a_report_is_compressed_and_its_published_file_is_not(client: TestClient) -> None:
    page = client.get("/reports/2026/v1/", headers=GZIP)
    assert (page.headers["content-encoding"], page.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "Report of 2026" in page.text
    assert "content-encoding" not in client.get("/reports/2026/v1/", headers=PLAIN).headers
    assert "content-encoding" not in client.get("/reports/2026/v1/files/index.html", headers=GZIP).headers


def test_an_image_that_is_compressed_already_stays_as_it_is(client: TestClient) -> None:
    images = [
        part for part in client.get("/documents/reproduction").text.split('"') if "/documents/images/" in part
    ]
    assert images
    answers = [client.get(image, headers=GZIP) for image in images[:3]]
    assert {(answer.status_code, "content-encoding" in answer.headers) for answer in answers} == {
        (200, answer.headers["content-type"].startswith("image/svg")) for answer in answers
    }


def test_the_explorer_with_its_files_and_the_openapi_document_are_compressed(client: TestClient) -> None:
    for path in ("/explore", "/explore.svg", "/explore.csv", "/openapi.json"):
        plain, compressed = client.get(path, headers=PLAIN), client.get(path, headers=GZIP)
        assert compressed.headers["content-encoding"] == "gzip", path
        assert int(compressed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
        assert compressed.content == plain.content
    assert "content-encoding" not in client.get("/explore.png", headers=GZIP).headers

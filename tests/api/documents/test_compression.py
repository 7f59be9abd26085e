"""Documents are compressed for clients that accept gzip, under entity tags of their own."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from api.documents.shelved import sources

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}
METHODS = "/documents/methods"
MOST_BYTES = 150_000
"""Largest page without data, with its style, as a browser gets it."""


def test_every_document_is_light_for_a_browser(client: TestClient) -> None:
    style = int(client.get("/static/style.css").headers["content-length"])
    pages = {name: client.head(f"/documents/{name}".rstrip("/"), headers=GZIP) for name in sources()}
    weights = {name: style + int(page.headers["content-length"]) for name, page in pages.items()}
    assert {name: weight for name, weight in weights.items() if weight > MOST_BYTES} == {}
    assert int(client.head(METHODS, headers=PLAIN).headers["content-length"]) > MOST_BYTES


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


def test_either_form_is_known_again_by_its_own_tag_alone(client: TestClient) -> None:
    tags = [client.get(METHODS, headers=coding).headers["etag"] for coding in (PLAIN, GZIP)]
    assert len(set(tags)) == 2
    statuses = [
        client.get(METHODS, headers={**coding, "If-None-Match": tag}).status_code
        for coding in (PLAIN, GZIP)
        for tag in tags
    ]
    assert statuses == [304, 200, 200, 304]


def test_an_image_that_is_compressed_already_stays_as_it_is(client: TestClient) -> None:
    images = [
        one for one in client.get("/documents/reproduction").text.split('"') if "/documents/images/" in one
    ]
    assert images
    answers = [client.get(image, headers=GZIP) for image in images[:3]]
    assert {(one.status_code, "content-encoding" in one.headers) for one in answers} == {
        (200, one.headers["content-type"].startswith("image/svg")) for one in answers
    }

"""Documents of docs/ as pages."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from api.documents.rendering import render
from api.documents.shelved import EXAMPLE, sources
from releases.formatting import NARROW
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary
from tests.api.conftest import serving
from tests.api.faults import LEAST_PX
from tests.api.test_v1 import assert_problem

DOCS = Path(__file__).parents[3] / "docs"
LINK = re.compile(r'(?:href|src)="([^"]*)"')
ANCHOR = re.compile(r' id="([^"]*)"')


def html_text(page: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", page))


def html(markdown: str, *, source: str = "methods.md") -> str:
    return str(render(f"# Title\n\n{markdown}", source=source, base="/documents").html)


def test_every_markdown_file_of_the_docs_is_a_page_and_every_link_leads_somewhere(client: TestClient) -> None:
    written = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert set(sources().values()) == written
    pages = {
        f"/documents/{name}".rstrip("/"): client.get(f"/documents/{name}".rstrip("/")) for name in sources()
    }
    assert {path: page.status_code for path, page in pages.items() if page.status_code != 200} == {}
    anchors = {path: set(ANCHOR.findall(page.text)) for path, page in pages.items()}
    links = {(path, link) for path, page in pages.items() for link in LINK.findall(page.text)}
    for path, link in links:
        parts = urlsplit(link)
        if parts.scheme in ("https", "http", "mailto"):
            continue
        target = parts.path or path
        if target not in anchors:
            answer = client.get(target)
            assert answer.status_code == 200, f"{link} on {path}"
            anchors[target] = set(ANCHOR.findall(answer.text))
        assert not parts.fragment or parts.fragment in anchors[target], f"{link} on {path}"


def test_documents_are_named_by_their_titles_and_not_by_their_files(client: TestClient) -> None:
    texts = {
        name: re.findall(r"<a[^>]*href=[^>]*>([^<]*)</a>", client.get(f"/documents/{name}".rstrip("/")).text)
        for name in sources()
    }
    assert [text for found in texts.values() for text in found if text.endswith((".md", "/"))] == []
    assert {"Guide for researchers", "Recipes", "Methods", "Decisions"} <= set(texts[""])


def test_a_served_document_and_what_is_found_in_it_have_the_address_of_the_service(data_dir: Path) -> None:
    base = "https://sizes.test"
    with serving(data_dir / "releases", base_url=base, trusted_hosts=["testserver"]) as client:
        pages = {name: client.get(f"/documents/{name}".rstrip("/")).text for name in sources()}
        found = client.get("/search?q=curl+first-flight").text
    assert [name for name, page in pages.items() if EXAMPLE in page] == []
    assert EXAMPLE not in found
    assert f"curl -s '{base}/v1/" in html_text(pages["recipes"])
    assert f"{base}/" in found


def test_the_address_of_a_service_is_text_in_a_document(data_dir: Path) -> None:
    with serving(data_dir / "releases", listens_at="http://a.test/<b>&") as client:
        assert "http://a.test/&lt;b&gt;&amp;/v1" in client.get("/documents/guide").text


def test_every_page_leads_to_the_documents(client: TestClient) -> None:
    for path in ("/", "/docs", "/problems", "/documents/methods"):
        found = LINK.findall(client.get(path).text)
        assert {"/documents", "/documents/methods", "/documents/glossary", "/documents/dictionary"} <= set(
            found
        )


def test_a_document_has_its_title_a_list_of_its_sections_and_anchors(client: TestClient) -> None:
    page = client.get("/documents/methods").text
    assert "<title>Methods \u2013 firstflight</title>" in page
    assert page.count("<h1>") == 1
    assert '<li><a href="#sizes">Sizes</a></li>' in page
    assert '<h2 id="sizes">Sizes</h2>' in page


def test_a_link_between_documents_leads_to_the_page_and_one_to_code_is_plain_words() -> None:
    found = html("[terms](glossary.md#flight), [the code](../schema/tables.py), [outside](https://a.test/x)")
    assert '<a href="/documents/glossary#flight">terms</a>' in found
    assert "<a>the code</a>" in found
    assert '<a href="https://a.test/x">outside</a>' in found


def test_html_in_a_document_is_text_and_a_comment_is_left_out() -> None:
    found = html("<script>alert(1)</script>\n\nwords <b onclick=x>bold</b>\n\n<!-- begin -->\n")
    assert "<script" not in found
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in found
    assert "&lt;b onclick=x&gt;bold&lt;/b&gt;" in found
    assert "begin" not in found


def test_a_cell_names_its_column_and_has_no_style_of_its_own() -> None:
    found = html("| case | share of *all* |\n|---|--:|\n| a | 1 % |\n").replace(NARROW, " ")
    assert '<td data-label="case">a</td>' in found
    assert '<td class="n" data-label="share of all">1 %</td>' in found
    assert "style=" not in found


def test_a_column_without_a_name_has_no_heading() -> None:
    found = html("|  | share |\n|---|---|\n| a | 1 % |\n")
    assert "<tr>\n<td></td>\n<th>share</th>\n</tr>" in found


def test_numbers_of_a_document_are_as_on_every_page_and_code_is_as_written() -> None:
    found = html("-3 of 1,430 bytes, `1,430`, 14600 bytes, 95 % ([v1,2](https://a.test/1,000))")
    assert (
        f"<p>\u22123 of 1{NARROW}430 bytes, <code>1,430</code>, 14{NARROW}600 bytes, 95{NARROW}% (" in found
    )
    assert 'href="https://a.test/1,000">v1,2</a>' in found


def test_a_drawing_scrolls_and_a_picture_does_not() -> None:
    found = html("![a](images/population-mlab-2025-10.svg) ![b](images/guide-months.webp)")
    assert re.findall(r'<span class="wide drawing" [^>]*><img[^>]*mlab-2025-10.svg"[^>]*></span> <img', found)


def test_no_drawing_of_the_docs_has_letters_that_are_too_small() -> None:
    drawings = list((DOCS / "images").glob("*.svg"))
    sizes = {
        path.name: [float(match) for match in re.findall(r'font-size="([\d.]+)px"', path.read_text())]
        for path in drawings
    }
    assert len(sizes) >= 10
    assert all(sizes.values())
    assert {name: min(found) for name, found in sizes.items() if min(found) < LEAST_PX} == {}


def test_a_link_that_would_run_a_script_is_no_link() -> None:
    assert 'href="javascript' not in html("[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1))")


def test_an_image_of_a_document_is_served_as_what_it_is(client: TestClient) -> None:
    name = "population-mlab-2025-10.svg"
    picture = client.get(f"/documents/images/{name}")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.content == (DOCS / "images" / name).read_bytes()
    assert f'<img src="/documents/images/{name}"' in client.get("/documents/populations").text


def test_a_table_of_a_document_is_served_as_csv(client: TestClient) -> None:
    table = client.get("/documents/reproduction/checks.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.content == (DOCS / "reproduction/checks.csv").read_bytes()
    assert '<a href="/documents/reproduction/checks.csv"' in client.get("/documents/reproduction").text


@pytest.mark.parametrize("path", ["nothing", "README", "methods.md", "edition-2026", "../README"])
def test_what_is_no_document_is_a_problem(client: TestClient, path: str) -> None:
    assert_problem(client.get(f"/documents/{path}".replace("..", "%2e%2e")), "not-found", 404)


@pytest.mark.parametrize("name", ["nothing.svg", "%2e%2e", "..%2fmethods.md"])
def test_what_is_no_image_is_a_problem(client: TestClient, name: str) -> None:
    assert client.get(f"/documents/images/{name}").status_code == 404


def test_the_dictionary_defines_every_measure_and_column_with_an_anchor(client: TestClient) -> None:
    page = client.get("/documents/dictionary").text
    columns = {
        f"{name}.{column['name']}" for name, table in dictionary().items() for column in table["columns"]
    }
    assert columns | {f"measure-{measure}" for measure in MEASURES} <= set(ANCHOR.findall(page))


def test_a_person_who_asks_for_a_missing_document_gets_a_page_that_leads_to_the_list(
    client: TestClient,
) -> None:
    answer = client.get("/documents/nothing", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<a href="/documents">/documents</a> lists what there is' in answer.text

"""The documentation of the API: every endpoint with a call and the answer that the service gives to it."""

import html
import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.reference.examples import SUFFIXES, code, shortened
from schema.crawls import CrawlName
from tests.api.conftest import write_release

SECTION = re.compile(r"<section id=.*?</section>", re.DOTALL)


def sections(client: TestClient) -> dict[str, str]:
    page = client.get("/docs")
    assert page.status_code == 200
    found = SECTION.findall(page.text)
    return {html.unescape(re.findall(r"<code>GET (.*?)</code>", one)[0]): one for one in found}


def test_every_endpoint_is_documented_with_its_parameters(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    found = sections(client)
    assert found.keys() == paths.keys()
    for path, operations in paths.items():
        for parameter in operations["get"].get("parameters", []):
            name = parameter["name"]
            is_filter = "COLUMN_at_least" in found[path] and any(
                name == other["name"].removesuffix(end)
                for other in operations["get"]["parameters"]
                for end in SUFFIXES
            )
            is_listed = f"<code>{name}</code>" in found[path] or is_filter or name.endswith(SUFFIXES)
            assert is_listed or not parameter.get("required"), f"{name} of {path}"
        assert "<dd></dd>" not in found[path], f"{path} has a parameter without a description"


def test_the_answer_of_an_example_is_what_the_service_answers_to_it(client: TestClient) -> None:
    asked = set()
    for path, section in sections(client).items():
        for address, said in re.findall(
            r'<p>Example: <a href="([^"]*)">.*?<pre>(.*?)</pre>', section, re.DOTALL
        ):
            answer = client.get(html.unescape(address))
            assert answer.status_code == 200
            if answer.headers["content-type"].startswith("application/json"):
                assert json.loads(html.unescape(said)) == shortened(answer.json())
            asked.add(path)
    assert {"/v1/crawls", "/v1/releases", "/v1/distributions", "/v1/reports", "/v1/series"} <= asked


def test_an_answer_leads_to_calls_by_parameters_that_they_have(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    called = {operations["get"]["operationId"]: path for path, operations in paths.items()}
    shown = sections(client)
    for path, operations in paths.items():
        for link in operations["get"]["responses"]["200"].get("links", {}).values():
            target = called[link["operationId"]]
            known = {one["name"] for one in paths[target]["get"]["parameters"]}
            assert link["parameters"].keys() <= known, f"{path} to {target}"
            (number,) = re.findall(r'<section id="(\w+)"', shown[target])
            assert f'<a href="#{number}"><code>{html.escape(target)}</code></a>' in shown[path]


def test_calls_are_shown_in_four_languages_below_the_public_address(data_dir: Path) -> None:
    app = create_app(data_dir / "releases", data_dir / "reports", base_url="https://sizes.test")
    with TestClient(app, base_url="https://sizes.test") as client:
        section = html.unescape(sections(client)["/v1/crawls"])
    assert "curl -s 'https://sizes.test/v1/crawls'" in section
    for language, lines in code("https://sizes.test/v1/crawls"):
        assert f"<h3>{language}</h3>" in section
        assert lines in section


def test_an_empty_library_documents_the_api_without_calls_that_would_fail(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path / "none", tmp_path / "nor-here")) as client:
        found = sections(client)
    assert "Example:" in found["/v1/crawls"]
    assert "Example:" not in found["/v1/distributions"]


def test_the_name_of_a_hostile_release_is_text_in_an_answer(tmp_path: Path) -> None:
    write_release(tmp_path, CrawlName(month="2026-11", vantage="<script>alert(1)<", kind="web"), version=1)
    with TestClient(create_app(tmp_path, tmp_path / "reports")) as client:
        assert "<script>" not in client.get("/docs").text


def test_the_page_is_small_although_rows_have_hundreds_of_filters(client: TestClient) -> None:
    assert len(client.get("/docs").content) < 150_000


@pytest.mark.parametrize("text", ["/v1/a?b='; rm -rf /'", "$(id)", "`id`"])
def test_a_call_by_curl_is_one_word_of_the_shell(text: str) -> None:
    (_, call), *_ = code(text)
    assert re.fullmatch(r"curl -s '(?:[^']|'\\'')*'", call)

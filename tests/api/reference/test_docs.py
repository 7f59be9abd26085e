"""The reference of the API: Swagger UI from the service itself, over examples that it can answer."""

import http
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from benchmarks.pages.browser import launch_browser
from schema.crawls import CrawlName
from tests.api.conftest import write_release
from tests.firstflight.commands.served import served


def test_every_call_has_a_described_example_that_is_answered_as_documented(service: TestClient) -> None:
    for path, operations in service.get("/openapi.json").json()["paths"].items():
        operation = operations["get"]
        inside: dict[str, str] = {}
        query: dict[str, str] = {}
        for parameter in operation["parameters"]:
            assert parameter.get("description") or parameter["name"] == "name", (
                f"{parameter['name']} of {path}"
            )
            if "example" in parameter:
                (inside if parameter["in"] == "path" else query)[parameter["name"]] = parameter["example"]
            elif parameter.get("required"):
                (inside if parameter["in"] == "path" else query)[parameter["name"]] = parameter["schema"][
                    "enum"
                ][0]
        address = path.format(**{name: quote(str(value)) for name, value in inside.items()})
        answer = service.get(address, params=query)
        assert answer.status_code < 400, f"{answer.url}: {answer.text}"
        documented = operation["responses"][str(answer.status_code)].get("content", {})
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        assert media_type in documented if answer.content else not documented, address


def test_an_empty_library_has_a_reference_without_examples_of_releases(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path / "none", tmp_path / "nor-here")) as client:
        assert client.get("/docs").status_code == 200
        (crawl,) = [
            parameter
            for parameter in client.get("/openapi.json").json()["paths"]["/v1/distributions"]["get"][
                "parameters"
            ]
            if parameter["name"] == "crawl"
        ]
        assert "example" not in crawl


def test_a_file_that_swagger_ui_does_not_have_is_not_found(client: TestClient) -> None:
    assert client.get("/docs/swagger-ui.css").headers["content-type"].startswith("text/css")
    assert client.get("/docs/__init__.py").status_code == http.HTTPStatus.NOT_FOUND


@pytest.mark.browser
def test_a_reader_tries_a_call_and_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    write_release(tmp_path / "releases", CrawlName(month="2026-11"), version=1)
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    with served(environment) as address, launch_browser() as browser:
        page = browser.new_page()
        asked: list[str] = []
        failed: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
        page.goto(f"{address}docs")
        page.locator("#operations-v1-crawls_v1_crawls_get").get_by_role("button").first.click()
        page.get_by_role("button", name="Execute").click()
        shown = page.locator(".live-responses-table .response-col_description pre").first.inner_text()
        assert json.loads(shown)["crawls"][0]["crawl"] == "2026-11.desktop.local.tcp.web"
        assert all(url.startswith((address, "data:")) for url in asked)
        assert failed == []

"""The documentation of the API: every endpoint with a call and the answer that the service gives to it."""

import html
import http.server
import re
import subprocess
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.reference.asking import Asked
from api.reference.examples import LONGEST_LINE, MOST_LINES, SUFFIXES, code, shown
from releases.formatting import NARROW
from schema.crawls import CrawlName
from tests.api.conftest import write_release

SECTION = re.compile(r"<section id=.*?</section>", re.DOTALL)
EXAMPLE = re.compile(r'<p>Example: <a href="(?P<address>[^"]*)">.*?<pre>(?P<answer>.*?)</pre>', re.DOTALL)


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


def test_every_endpoint_has_an_example_with_an_answer_and_code(service: TestClient) -> None:
    found = sections(service)
    assert {path for path, section in found.items() if EXAMPLE.search(section)} == found.keys()
    for path, section in found.items():
        for language in ("curl", "Python", "R", "JavaScript"):
            assert f"<h3>{language}</h3>" in section, path


def test_the_answer_of_an_example_is_what_the_service_answers_to_it(service: TestClient) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    for path, section in sections(service).items():
        example = EXAMPLE.search(section)
        assert example is not None, path
        answer = service.get(html.unescape(example["address"]))
        documented = paths[path]["get"]["responses"][str(answer.status_code)].get("content", {})
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        assert media_type in documented if answer.content else not documented, path
        headers = {name.lower(): value for name, value in answer.headers.items()}
        assert html.unescape(example["answer"]) == shown(
            Asked(status=answer.status_code, headers=headers, body=answer.content)
        )


def answered(media_type: str, body: bytes, status: int = 200) -> Asked:
    return Asked(status=status, headers={"content-type": media_type, "content-length": "9"}, body=body)


def test_of_json_the_first_items_are_shown_of_text_the_first_lines_and_of_other_files_the_header() -> None:
    assert shown(answered("application/json", b'{"a": [1, 2, 3]}')).split() == [
        *('{', '"a":', '[', '1,', '2,', '"…', 'and', '1', 'more"', ']', '}'),
    ]  # fmt: skip
    assert shown(answered("text/csv", b"a\n" * 100)).splitlines() == [*(["a"] * MOST_LINES), "…"]
    assert shown(answered("text/plain", b"a" * 1000)) == "a" * LONGEST_LINE + "…"
    assert shown(answered("image/png", b"\x89PNG")) == "200 OK\ncontent-type: image/png\ncontent-length: 9"
    assert shown(answered("", b"", 307)).startswith("307 Temporary Redirect\n")


PIECES = {
    "application/json": b'{"a": 1}',
    "text/csv": b"a,b\n1,2\n",
    "application/vnd.apache.parquet": b"PAR1\xff",
}


class Pieces(http.server.BaseHTTPRequestHandler):
    """Answers any path with the piece of its media type."""

    def do_GET(self) -> None:
        media_type = self.path.removeprefix("/").partition("?")[0]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PIECES[media_type])

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.mark.process
@pytest.mark.parametrize("media_type", PIECES)
def test_the_code_of_an_example_runs(
    media_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = PIECES[media_type]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pieces) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/{media_type}?a=1&b='2'"
        calls = dict(code(url, answered(media_type, body)))
        printed = subprocess.run(["bash", "-c", calls["curl"]], check=True, capture_output=True).stdout
        file = tmp_path / media_type.partition("/")[2]
        assert (printed or file.read_bytes()) == body
        file.unlink(missing_ok=True)
        there: dict[str, object] = {}
        exec(calls["Python"], there)
        server.shutdown()
    found = there["answer"] if "answer" in there else file.read_bytes()
    assert found in ({"a": 1}, body, body.decode(errors="replace"))


def test_an_answer_leads_to_calls_by_parameters_that_they_have(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    called = {operations["get"]["operationId"]: path for path, operations in paths.items()}
    shown = sections(client)
    for path, operations in paths.items():
        for link in operations["get"]["responses"].get("200", {}).get("links", {}).values():
            target = called[link["operationId"]]
            known = {parameter["name"] for parameter in paths[target]["get"]["parameters"]}
            assert link["parameters"].keys() <= known, f"{path} to {target}"
            (anchor,) = re.findall(r'<section id="([^"]+)"', shown[target])
            assert f'<a href="#{anchor}"><code>{html.escape(target)}</code></a>' in shown[path]


def test_calls_are_shown_in_four_languages_below_the_public_address(data_dir: Path) -> None:
    app = create_app(data_dir / "releases", data_dir / "reports", base_url="https://sizes.test")
    with TestClient(app, base_url="https://sizes.test") as client:
        section = html.unescape(sections(client)["/v1/crawls"])
    assert "curl -s 'https://sizes.test/v1/crawls'" in section
    for language, lines in code("https://sizes.test/v1/crawls", answered("application/json", b"{}")):
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


def test_the_page_is_small_although_rows_have_hundreds_of_filters(service: TestClient) -> None:
    assert len(service.get("/docs").content) < 150_000


@pytest.mark.parametrize("text", ["/v1/a?b='; rm -rf /'", "$(id)", "`id`"])
def test_a_call_by_curl_is_one_word_of_the_shell(text: str) -> None:
    (_, call), *_ = code(text, answered("application/json", b"{}"))
    assert re.fullmatch(r"curl -s '(?:[^']|'\\'')*'", call)


def test_a_parameter_has_its_values_its_default_and_its_largest_value(client: TestClient) -> None:
    found = {path: re.sub("<[^>]*>", "", html.unescape(one)) for path, one in sections(client).items()}
    of_series = found["/v1/series"]
    assert "protocol of the response or connection: http/1.1, h2, h3\n" in of_series
    assert "of others (third): first, third\n" in of_series
    assert f"payload of a full segment, in bytes (default: 1430; at most 65{NARROW}495)\n" in of_series
    assert f"releases of a page (default: 100; at most 1{NARROW}000)\n" in found["/v1/releases"]
    assert f"the ranks from 1{NARROW}001 to 10{NARROW}000: 1000, 10000," in of_series
    assert "(required)" in found["/v1/pages/{visit}"]

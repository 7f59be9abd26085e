"""DuckDB-WASM and hyparquet read a release straight from a page of another origin, and ask no other host.

DuckDB-WASM is 1.28.0, the last release that has Parquet built in: later ones load it from their makers' host.
"""

import contextlib
import functools
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.pages.browser import launch_browser
from firstflight.settings import from_environment
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.firstflight.commands.served import served

PAGE = Path(__file__).parent / "readers" / "page.html"


def readers() -> Path:
    """The folder of npm's packages, as scripts/setup --tests installs them."""
    lock = hashlib.sha256(PAGE.with_name("package-lock.json").read_bytes()).hexdigest()
    folder = from_environment().cache_dir / f"readers-{lock[:12]}"
    if not (folder / "installed").exists():
        pytest.fail("the readers of Parquet are missing: run scripts/setup --tests")
    return folder / "node_modules"


MEDIA_TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
    ".html": "text/html",
}


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the page and the readers, on an origin of its own."""

    def translate_path(self, path: str) -> str:
        return str(PAGE) if path == "/" else super().translate_path(path)

    def guess_type(self, path: object) -> str:
        return MEDIA_TYPES.get(Path(str(path)).suffix, "application/octet-stream")

    def log_message(self, *_: object) -> None: ...


@contextlib.contextmanager
def another_origin() -> Iterator[str]:
    handler = functools.partial(Pages, directory=str(readers()))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.browser
def test_a_page_of_another_origin_reads_a_releases_parquet(tmp_path: Path) -> None:
    write_crawl(tmp_path / "releases", NAME, made_up())
    sizes = [row["wire_bytes"] for row in made_up().rows()["response"]]
    expected = [len(sizes), sum(filter(None, sizes))]
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    asked: list[tuple[str, str, str | None]] = []
    with another_origin() as origin, served(environment) as service, launch_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.on("request", lambda row: asked.append((row.url, row.method, row.headers.get("range"))))
        page.goto(origin)
        page.wait_for_function("window.ready")
        url = f"{service}releases/{CRAWL}/v1/response.parquet"
        # A browser that may not show an answer to the page refuses it here.
        # A reader that stands still is given up.
        assert page.evaluate("url => within('byHyparquet', url)", url) == expected
        assert page.evaluate("url => within('byDuckDB', url)", url) == expected
        suffix = "fetch(url, {headers: {Range: 'bytes=-4', 'If-None-Match': '\"x\"'}})"
        read = (
            "async answer => [answer.status, await answer.text(), "
            "answer.headers.get('Content-Range') !== null]"
        )
        assert page.evaluate(f"url => {suffix}.then({read})", url) == [206, "PAR1", True]
        assert page.evaluate("url => fetch(url).then(answer => answer.headers.get('ETag').length)", url) == 66
    hosts = {urlsplit(row).netloc for row, *_ in asked if not row.startswith(("data:", "blob:"))}
    assert hosts == {urlsplit(origin).netloc, urlsplit(service).netloc}
    assert any(range_ for row, _, range_ in asked if row.endswith("response.parquet"))

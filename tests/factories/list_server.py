"""A stand-in for the servers of public lists, for FIRSTFLIGHT_LIST_MIRROR: every list has the same sites.

python tests/factories/list_server.py PORT SITES.txt        in a process of its own, on every address
"""

import contextlib
import gzip
import http.server
import io
import re
import sys
import threading
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path


class ListServer(http.server.ThreadingHTTPServer):
    """Serves lists of `sites`; `answers` replaces what it says by path."""

    daemon_threads = True

    def __init__(self, sites: Sequence[str], address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, Lists)
        self.sites = sites
        self.tranco_id = "K2LPW"
        self.answers: dict[str, bytes | None] = {}
        """Bodies in place of its own, by path; None for what does not exist."""
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def body(self, path: str) -> bytes | None:
        if path in self.answers:
            return self.answers[path]
        ranked = "".join(f"{rank},{site}\r\n" for rank, site in enumerate(self.sites, 1))
        if path == "/tranco/top-1m-id":
            return f"{self.tranco_id}\n".encode()
        if slice_ := re.fullmatch(rf"/tranco/download/{self.tranco_id}/([0-9]+)", path):
            return "".join(ranked.splitlines(keepends=True)[: int(slice_[1])]).encode()
        if re.fullmatch(r"/crux/[0-9]{6}\.csv\.gz", path):
            rows = "".join(f"https://{site},1000\n" for site in self.sites)
            return gzip.compress(f"origin,rank\n{rows}".encode(), mtime=0)
        if path == "/umbrella/top-1m.csv.zip":
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("top-1m.csv", ranked)
            return packed.getvalue()
        if path == "/majestic/majestic_million.csv":
            rows = "".join(f"{rank},{rank},{site}\n" for rank, site in enumerate(self.sites, 1))
            return f"GlobalRank,TldRank,Domain\n{rows}".encode()
        if path == "/radar/ranking_top_1000000":
            return "".join(f"{site}\n" for site in ("domain", *self.sites)).encode()
        return None


class Lists(http.server.BaseHTTPRequestHandler):
    server: ListServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.body(self.path)
        if self.path.startswith("/radar/") and self.headers["Authorization"] != "Bearer a-token":
            self.send_error(403)
            return
        self.send_response(200 if body is not None else 404)
        # `SHORT` announces more than is sent.
        self.send_header("Content-Length", str(len(body or b"") + 100 * ("SHORT" in self.path)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def list_server(sites: Sequence[str]) -> Iterator[ListServer]:
    with ListServer(sites) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


if __name__ == "__main__":
    ListServer(Path(sys.argv[2]).read_text().split(), ("0.0.0.0", int(sys.argv[1]))).serve_forever()

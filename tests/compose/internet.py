"""Stands in for the Internet while the stack is tested: serves public lists of the bundled web's sites, and
keeps the alerts that it is sent.

python3 -m tests.compose.internet PORT SITES.txt    the file is read at each question; /alerts has the alerts
"""

import json
import sys
from pathlib import Path

from tests.factories.list_server import Lists, ListServer

ALERTS: list[str] = []


class Internet(Lists):
    """Answers about lists and alerts."""

    def do_GET(self) -> None:  # noqa: N802  # http.server's name
        if self.path == "/alerts":
            self.server.answers[self.path] = json.dumps(ALERTS).encode()
        else:
            self.server.sites = Path(sys.argv[2]).read_text().split()
        super().do_GET()

    def do_POST(self) -> None:  # noqa: N802  # http.server's name
        ALERTS.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    with ListServer([], ("0.0.0.0", int(sys.argv[1]))) as server:
        server.RequestHandlerClass = Internet
        server.serve_forever()

"""The server's count, held against what another client says it received."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.zoo.serving.examples import HOST
from tests.zoo.serving.process import serve_hosts
from tests.zoo.serving.server import Spoken

PATHS = ["/plain", "/redirect", "/in-pieces", "/no-content", "/ended-apart", "/large"]


def curl(endpoint: tuple[str, int], url: str, *options: str) -> list[dict[str, Any]]:
    program = shutil.which("curl") or pytest.fail("curl is missing: apt-get install curl")
    address, port = endpoint
    command = [program, "--silent", "--insecure", "--max-time", "10", *options]
    command += ["--connect-to", f"::{address}:{port}", "--write-out", "%{json}\\n", "--output-dir", "/dev"]
    command += [word for path in PATHS for word in ("--output", "null", f"{url}{path}")]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120).stdout
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.parametrize(
    ("protocol", "scheme", "version"),
    [("h1", "http", "1.1"), ("h1tls", "https", "1.1"), ("h2", "https", "2")],
)
def test_the_server_counts_what_curl_received(
    protocol: Spoken, scheme: str, version: str, tmp_path: Path
) -> None:
    with serve_hosts("tests.zoo.serving.examples:HOSTS", protocol=protocol, folder=tmp_path) as web:
        origin = f"{scheme}://{HOST}"
        received = curl(web.endpoints[origin], origin, "--http2" if protocol == "h2" else "--http1.1")

    assert [transfer["http_version"] for transfer in received] == [version] * len(PATHS)
    bodies = [(transfer["http_code"], transfer["size_download"]) for transfer in received]
    assert [(response.status, response.body_bytes) for response in web.truth.responses] == bodies
    assert all(response.is_complete for response in web.truth.responses)
    (connection,) = web.truth.connections
    assert (
        connection.plaintext_bytes
        == sum(response.wire_bytes for response in web.truth.responses) + connection.frame_bytes
    )
    if protocol != "h2":  # curl counts an H2 header as if it were HTTP/1.1's, and framing and trailers never
        headers = [transfer["size_header"] for transfer in received]
        framing = len(b"3\r\n\r\n4330\r\n\r\n11170\r\n\r\n0\r\nx-checksum: 1\r\n\r\n")
        headers[PATHS.index("/in-pieces")] += framing
        assert [response.header_bytes for response in web.truth.responses] == headers

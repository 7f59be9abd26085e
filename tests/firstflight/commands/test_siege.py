"""Attacks on the service over real sockets: clients with partial,
missing or oversized requests are dropped, and others are answered."""

import contextlib
import functools
import http.client
import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from api.computing import LIMIT_S
from firstflight.listening import STALLED_MS
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.circles import thorough
from tests.factories.made_up_release import make_release
from tests.firstflight.commands.served import served

pytestmark = pytest.mark.process


HALF_SENT = 1500
DESCRIPTORS = 1024
FILE_BYTES = 8_000_000
TIMEOUT_S = 1.0
"""Header time limit of the service under test, in seconds; the default is longer."""

WITHIN_S = 120
"""Time limit for things that must end, in seconds; a machine may be busy."""

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("siege")
    environment = {"FIRSTFLIGHT_DATA_DIR": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")}
    with served(environment, "--header-timeout", str(TIMEOUT_S)) as address:
        yield int(address.rstrip("/").rpartition(":")[2])


def ask(port: int, raw: bytes, *, source: str = "127.0.0.1") -> bytes:
    """All that comes back until the service closes the connection."""
    with socket.create_connection(("127.0.0.1", port), WITHIN_S, (source, 0)) as connection:
        connection.sendall(raw)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                received += part
        return received


ANOTHER = "127.0.0.2"
"""Another address than that of the attackers."""


def answer(
    port: int, path: str = "/v1/crawls", *, source: str = ANOTHER, headers: Mapping[str, str] | None = None
) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_S, source_address=(source, 0))
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        response.read()
        return response.status


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_what_is_half_sent_is_let_go_of(port: int, sent: bytes) -> None:
    assert b"200" not in ask(port, sent)


def test_a_header_that_trickles_in_gets_no_longer(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() - began < WITHIN_S:
                connection.sendall(b"X: y\r\n")
                time.sleep(TIMEOUT_S / 10)
            pytest.fail("it was kept")


def test_a_connection_without_a_further_request_is_closed(port: int) -> None:
    answer = ask(port, b"GET /v1/crawls HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")


FIELDS = b"\r\n".join(b"X-%d: a" % number for number in range(500))


@pytest.mark.parametrize(
    ("address", "header", "status"),
    [(b"/", FIELDS, 431), (b"/" + b"a" * 70_000, b"X: a", 414), (b"/" + b"a" * 300_000, b"X: a", 431)],
    ids=["fields", "address", "all"],
)
def test_what_the_web_server_itself_refuses_has_no_body(
    port: int, address: bytes, header: bytes, status: int
) -> None:
    answer = ask(port, b"GET " + address + b" HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(("query", "header"), [(60_000, 1), (0, 17_000), (8_400, 8_400)])
def test_an_address_or_a_header_that_is_too_long_is_a_problem_that_says_so(
    port: int, query: int, header: int
) -> None:
    ends = b"Host: localhost\r\nConnection: close\r\nX: " + b"a" * header + b"\r\n\r\n"
    answer = ask(port, b"GET /v1/crawls?x=" + b"a" * query + b" HTTP/1.1\r\n" + ends)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431")
    assert b"content-type: application/problem+json" in head.lower()
    assert (json.loads(body)["status"], "16,384 bytes" in json.loads(body)["detail"]) == (431, True)


def test_an_address_of_nearly_the_limit_is_read(port: int) -> None:
    ends = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = ask(port, b"GET /v1/crawls?x=" + b"a" * 16_000 + ends)
    assert answer.startswith(b"HTTP/1.1 400")  # no such parameter


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_a_request_whose_end_is_doubtful_is_refused_and_the_connection_closed(
    port: int, method: bytes, framing: bytes
) -> None:
    answer = ask(port, method + b" /v1/crawls HTTP/1.1\r\nHost: localhost\r\n" + framing + SMUGGLED)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"smuggled" not in answer


def test_a_head_has_the_headers_of_a_get_and_no_body(port: int) -> None:
    request = b" /v1/crawls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    (got, body), (head, nothing) = (
        ask(port, method + request).split(b"\r\n\r\n", 1) for method in (b"GET", b"HEAD")
    )

    def without_date(headers: bytes) -> set[bytes]:
        return {line for line in headers.split(b"\r\n") if not line.startswith(b"date:")}

    assert without_date(head) == without_date(got)
    assert (json.loads(body)["crawls"], nothing) == ([], b"")


def test_clients_are_answered_while_more_requests_are_half_sent_than_there_are_descriptors(
    tmp_path: Path,
) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > 2 * HALF_SENT, "raise the limit of descriptors: ulimit -n"
    log = tmp_path / "log"
    call = [sys.executable, "-m", "tests.firstflight.commands.besiege", str(HALF_SENT)]
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    with (
        served(
            environment,
            "--header-timeout",
            str(TIMEOUT_S),
            log=log,
            preexec_fn=functools.partial(
                resource.setrlimit, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)
            ),
        ) as address,
        subprocess.Popen([*call, address], stdout=subprocess.PIPE, text=True) as besieger,
    ):
        assert besieger.stdout is not None
        try:
            assert besieger.stdout.readline() == f"{HALF_SENT} half-sent\n"
            port = int(address.rstrip("/").rpartition(":")[2])
            assert [answer(port) for _ in range(5)] == [200] * 5
            # All of them are closed by the service, though none says another word.
            assert besieger.communicate(timeout=2 * WITHIN_S)[0] == f"{HALF_SENT} closed\n"
            assert besieger.returncode == 0
        finally:
            besieger.kill()
    assert log.stat().st_size < 10_000


def slow_reader(
    port: int, path: str, *, source: str = "127.0.0.1", headers: Mapping[str, str] | None = None
) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_S)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sock.settimeout(WITHIN_S)
    connection.sock.bind((source, 0))
    connection.sock.connect(("127.0.0.1", port))
    connection.request("GET", path, headers=headers or {})
    return connection


@pytest.fixture
def published(tmp_path: Path) -> str:
    """The address of a file of a release that fills every buffer on the way."""
    folder = NAME.path(tmp_path / "releases", version=1)
    folder.mkdir(parents=True)
    (folder / "visit.parquet").write_bytes(bytes(FILE_BYTES))
    make_release(folder, NAME, rows={"visit": 0})
    return f"/releases/{NAME}/v1/visit.parquet"


@pytest.mark.parametrize("is_behind_a_proxy", [True, *thorough(False)])
def test_a_client_that_reads_nothing_takes_its_share_of_connections_alone(
    tmp_path: Path, published: str, *, is_behind_a_proxy: bool
) -> None:
    """One client takes more connections than there are; behind a proxy others have the proxy's address
    too."""
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    if is_behind_a_proxy:
        environment["FIRSTFLIGHT_TRUSTED_PROXIES"] = "127.0.0.1"
    source, named, own = (
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.7, 203.0.113.7"}, {"X-Forwarded-For": "192.0.2.7"})
        if is_behind_a_proxy
        else (ANOTHER, {}, {})
    )
    log = tmp_path / "log"
    limited = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    with served(environment, log=log, preexec_fn=limited) as address, contextlib.ExitStack() as stack:
        port = int(address.rstrip("/").rpartition(":")[2])
        # The oldest connection of all.
        another = stack.enter_context(
            contextlib.closing(slow_reader(port, published, source=source, headers=own))
        )
        for _ in range(600):
            stack.enter_context(contextlib.closing(slow_reader(port, published, headers=named)))
        began = time.monotonic()
        statuses = [answer(port, path, source=source, headers=own) for path in (published, "/v1/crawls") * 3]
        assert statuses == [200] * 6
        assert time.monotonic() - began < STALLED_MS / 1000  # before the kernel ends the slow ones
        assert len(another.getresponse().read()) == FILE_BYTES
    assert log.stat().st_size < 10_000, log.read_text()


ABANDONED = 250
"""Questions of a client that takes no answer; no client may have as many places."""


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a service with a release, where questions for the path `/endless` take hours."""
    folder = tmp_path_factory.mktemp("endless")
    write_crawl(folder / "releases", NAME, made_up())
    environment = {"FIRSTFLIGHT_DATA_DIR": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")}
    with served(environment, program="tests.firstflight.commands.endless") as address:
        yield int(address.rstrip("/").rpartition(":")[2])


def question(number: int) -> bytes:
    """A question that takes hours, and that nobody asked before."""
    query = f"crawl={NAME}&path=/endless&wire_bytes_at_least={number}&limit=10"
    return f"GET /v1/responses?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("behind", "hangs_up"),
    [(b"", True), (b"GET /half", True), (b"", False)],
    ids=["abandoned", "abandoned, which the server cannot see", "waiting"],
)
def test_others_are_answered_while_a_client_asks_what_takes_hours(
    endless: int, behind: bytes, *, hangs_up: bool
) -> None:
    """By a query of the release, which is in no memory."""
    with contextlib.ExitStack() as stack:
        for number in range(ABANDONED):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", endless)))
            connection.sendall(question(number) + behind)
            if hangs_up:
                connection.close()
        for rank in range(1, 6):
            assert answer(endless, f"/v1/visits?crawl={NAME}&rank={rank}&limit={1 + len(behind)}") == 200


def test_an_answer_that_takes_too_long_is_a_problem_that_says_what_to_do(endless: int) -> None:
    closing = question(ABANDONED).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    head, body = ask(endless, closing, source=ANOTHER).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    problem = json.loads(body)
    assert problem["type"] == "/problems#too-costly"
    assert "download the files of the release" in problem["detail"]
    assert str(LIMIT_S).removesuffix(".0") in problem["detail"]

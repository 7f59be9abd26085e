"""Streams of rows end with their client, and say so when they are cut."""

import asyncio
import contextlib
import functools
import json
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.app import create_app
from api.kept_answers import GONE
from api.routes import rows
from api.rows import query
from api.rows.query import STREAMS, STREAMS_EACH
from storage.sums import MANIFEST, SUMS
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.api.test_damaged import withdraw
from tests.factories.made_up_release import make_release
from tests.firstflight.commands.served import served

Message = dict[str, Any]
WITHIN_S = 120

ROWS = 30_000
"""Rows of several batches."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many") / "releases"
    folder = write_crawl(root, NAME, made_up())
    few = pq.read_table(folder / "response.parquet")
    many = pa.concat_tables([few] * (ROWS // len(few))).combine_chunks()
    numbers = pa.array(range(1, ROWS + 1), pa.int32())
    many = many.set_column(1, "visit_id", pa.array([1] * ROWS)).set_column(2, "id", numbers)
    pq.write_table(many, folder / "response.parquet", row_group_size=10_000)
    for name in (MANIFEST, SUMS):
        (folder / name).unlink()
    make_release(folder, NAME, rows={"response": ROWS})
    return root


@pytest.fixture
def releases(written: Path, tmp_path: Path) -> Path:
    """A copy of a release with several batches of responses, which a test may damage."""
    return shutil.copytree(written, tmp_path / "releases")


class Client:
    """A client of an ASGI application that takes a message at a time, and can hang up."""

    def __init__(
        self,
        app: Any,
        suffix: str,
        on_body: Callable[[int], Awaitable[None]],
        *,
        address: str = "192.0.2.1",
        asked: str = "fields=id,path",
    ) -> None:
        self.app = app
        self.address = address
        self.asked = asked
        self.messages: list[Message] = []
        self.hung_up = asyncio.Event()
        self._on_body = on_body
        self._suffix = suffix

    async def ask(self) -> None:
        scope = {
            "type": "http", "method": "GET", "path": f"/v1/responses.{self._suffix}", "raw_path": b"", "root_path": "",  # noqa: E501
            "query_string": f"crawl={CRAWL}&{self.asked}".encode(), "headers": [], "scheme": "http", "http_version": "1.1",  # noqa: E501
            "client": (self.address, "1"),
        }  # fmt: skip
        await self.app(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.messages.append(message)
        if message["type"] == "http.response.body":
            await self._on_body(sum(message["type"] == "http.response.body" for message in self.messages))

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages[1:])

    @property
    def is_whole(self) -> bool:
        return not self.messages[-1].get("more_body", False) and len(self.messages) > 1


def ask(releases: Path, suffix: str, on_body: Callable[[Client, int], Awaitable[None]]) -> Client:
    """What a client got, of which `on_body` is called with the number of pieces so far;
    nothing is left open."""

    async def run() -> Client:
        app = create_app(releases, releases.parent / "reports", looked_at_every_s=0)
        client = Client(app, suffix, lambda number: on_body(client, number))
        await asyncio.wait_for(client.ask(), WITHIN_S)
        assert not [path for path in opened() if "response.parquet" in path]
        with contextlib.ExitStack() as places:
            for number in range(STREAMS):  # every place is free again
                places.enter_context(app.state.service.rows.streams.take(str(number)))
        return client

    return asyncio.run(run())


def opened() -> Iterator[str]:
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            yield str(link.readlink())


async def nothing(_client: Client, _number: int) -> None: ...


def test_a_stream_has_every_row_and_its_end(releases: Path) -> None:
    client = ask(releases, "ndjson", nothing)
    assert client.status == 200
    assert client.is_whole
    assert len(client.body.splitlines()) == ROWS


def test_who_hangs_up_ends_the_stream_and_leaves_nothing_open(releases: Path) -> None:
    async def hang_up(client: Client, number: int) -> None:
        if number == 2:
            client.hung_up.set()
            await asyncio.Event().wait()  # the next piece is never taken

    client = ask(releases, "csv", hang_up)
    assert not client.is_whole
    assert len(client.messages) == 3


def test_who_takes_nothing_is_cut_off(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TAKEN_WITHIN_S", 0.2)

    async def stand_still(_client: Client, number: int) -> None:
        if number == 2:
            await asyncio.Event().wait()

    client = ask(releases, "parquet", stand_still)
    assert not client.is_whole


CUTS: dict[str, Callable[[Path], Any]] = {
    "withdrawn": withdraw,
    "damaged-release": lambda folder: (folder / "manifest.json").write_text("{}"),
}


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("withdrawn", "ndjson"), ("damaged-release", "csv"), ("withdrawn", "arrow"), ("withdrawn", "parquet")],
)
def test_a_release_that_is_withdrawn_or_damaged_while_it_is_read_is_not_read_on(
    releases: Path, kind: str, suffix: str
) -> None:
    async def strike(_client: Client, number: int) -> None:
        if number == 1:
            CUTS[kind](NAME.path(releases, version=1))

    client = ask(releases, suffix, strike)
    assert client.status == 200
    assert not client.is_whole
    lines = client.body.splitlines()
    if suffix == "ndjson":
        assert json.loads(lines[-1])["stream_cut"]["type"] == f"/problems#{kind}"
        assert len(lines) < ROWS
    if suffix == "csv":
        assert lines[-1].startswith(b'"stream_cut: version 1 of ')
        assert len(lines) < ROWS


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_a_damaged_file_is_a_problem_before_anything_is_sent(releases: Path, suffix: str) -> None:
    path = NAME.path(releases, version=1) / "response.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    client = ask(releases, suffix, nothing)
    assert client.status == 503
    assert json.loads(client.body)["type"] == "/problems#damaged-release"


def test_a_file_that_ends_early_cuts_the_stream_with_its_reason(releases: Path) -> None:
    """The sums have been compared before, and the disk fails afterwards."""

    async def shorten(_client: Client, number: int) -> None:
        if number == 1:
            path = NAME.path(releases, version=1) / "response.parquet"
            os.truncate(path, 1000)

    client = ask(releases, "ndjson", shorten)
    assert not client.is_whole
    assert json.loads(client.body.splitlines()[-1])["stream_cut"]["type"] == "/problems#damaged-release"


def test_more_streams_than_there_are_places_for_are_told_to_come_again(releases: Path) -> None:
    async def run() -> list[Client]:
        app = create_app(releases, releases.parent / "reports", looked_at_every_s=0)
        begun, go_on = asyncio.Semaphore(0), asyncio.Event()

        async def take(_number: int) -> None: ...

        async def hold(number: int) -> None:
            if number == 1:
                begun.release()
                await go_on.wait()

        addresses = [f"192.0.2.{number // STREAMS_EACH}" for number in range(STREAMS)]
        held = [Client(app, "csv", hold, address=address) for address in addresses]
        tasks = [asyncio.create_task(client.ask()) for client in held]
        for _ in held:
            await asyncio.wait_for(begun.acquire(), WITHIN_S)
        refused = Client(app, "csv", take, address="192.0.2.77")
        await asyncio.wait_for(refused.ask(), WITHIN_S)
        go_on.set()
        await asyncio.wait_for(asyncio.gather(*tasks), WITHIN_S)
        return [*held, refused]

    *held, refused = asyncio.run(run())
    assert [(client.status, client.is_whole) for client in held] == [(200, True)] * STREAMS
    assert refused.status == 503
    assert (b"retry-after", b"10") in refused.messages[0]["headers"]


def test_one_client_has_half_of_the_streams(releases: Path) -> None:
    async def run() -> list[Client]:
        app = create_app(releases, releases.parent / "reports", looked_at_every_s=0)

        async def take(_number: int) -> None: ...

        with contextlib.ExitStack() as places:
            for _ in range(STREAMS_EACH):
                places.enter_context(app.state.service.rows.streams.take("192.0.2.1"))
            clients = [Client(app, "csv", take, address=f"192.0.2.{number}") for number in (1, 2)]
            for client in clients:
                await asyncio.wait_for(client.ask(), WITHIN_S)
        return clients

    refused, other = asyncio.run(run())
    assert (refused.status, other.status) == (503, 200)
    assert json.loads(refused.body)["type"] == "/problems#busy"


@pytest.mark.parametrize("found", [0, 3 * rows.PIECE_BYTES])
def test_a_stream_that_finds_nothing_more_in_time_ends_with_its_reason(
    releases: Path, monkeypatch: pytest.MonkeyPatch, found: int
) -> None:
    async def hurry(_client: Client, _number: int) -> None:
        monkeypatch.setattr(rows, "MADE_WITHIN_S", 0.5)

    if not found:
        monkeypatch.setattr(rows, "MADE_WITHIN_S", 0.5)
    monkeypatch.setattr(query, "statement", functools.partial(endless, found=found))
    client = ask(releases, "ndjson", hurry)
    if found:
        assert not client.is_whole
        problem = json.loads(client.body.splitlines()[-1])["stream_cut"]
    else:
        assert client.status == 503
        problem = json.loads(client.body)
    assert problem["type"] == "/problems#too-costly"


def test_who_hangs_up_ends_the_query_that_has_found_nothing_yet(
    releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "statement", endless)

    async def run() -> Client:
        app = create_app(releases, releases.parent / "reports", looked_at_every_s=0)
        client = Client(app, "ndjson", lambda number: nothing(client, number))
        asyncio.get_running_loop().call_later(1, client.hung_up.set)
        await asyncio.wait_for(client.ask(), WITHIN_S)
        return client

    assert asyncio.run(run()).status == GONE


def endless(
    question: query.Question, _rendering: query.Rendering, *, found: int = 0
) -> tuple[str, list[Any]]:
    """A query that finds some rows of JSON, and then searches for hours."""
    keys = ", ".join(f"0 AS key_{place}" for place in range(len(question.table.key)))
    tables = "(SELECT 1 FROM read_parquet(?) LIMIT 1), range(1000000000000) AS numbers(number)"
    return f"SELECT '{{}}' AS line, {keys} FROM {tables} WHERE number < {found}", []


@pytest.mark.process
def test_the_server_reads_no_further_than_its_client_and_ends_with_it(releases: Path) -> None:
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(releases.parent),
        "FIRSTFLIGHT_CACHE_DIR": str(releases.parent / "cache"),
    }
    with served(environment) as address:
        place = (str(urlsplit(address).hostname), urlsplit(address).port or 0)
        question = (
            f"GET /v1/responses.csv?crawl={CRAWL}&fields=id,path HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        )
        # More than there are places for: each is free again when its client has gone.
        for _ in range(2 * STREAMS):
            with socket.create_connection(place, WITHIN_S) as connection:
                connection.sendall(question)
                while True:
                    begun = connection.recv(65_536)
                    if not begun.startswith(b"HTTP/1.1 503"):
                        break
                    connection.sendall(question)
                assert begun.startswith(b"HTTP/1.1 200")

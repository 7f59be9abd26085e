"""What the service keeps of the clients that proxies name."""

import asyncio
import tracemalloc
from collections.abc import Sequence

import pytest
from starlette.types import Receive, Scope, Send

from firstflight import clients
from firstflight.clients import ClientBound

CONNECTIONS = 2_000
MOST_KEPT_BYTES = 200_000


def named(host: str, forwarded: str, *, proxies: Sequence[str], connections: int = 1) -> tuple[str, int]:
    """The client that the application sees in the last of many connections from a host with the header,
    and the bytes that are kept of all."""
    seen = ""

    async def note_client(scope: Scope, _receive: Receive, _send: Send) -> None:
        nonlocal seen
        seen = scope["client"][0]

    async def nothing() -> None:
        raise AssertionError

    async def connect() -> int:
        bound = ClientBound(note_client, port=1, most=512, proxies=proxies)
        tracemalloc.start()
        try:
            for number in range(connections):
                headers = [(b"x-forwarded-for", forwarded.format(number).encode())]
                scope = {"type": "http", "client": (host, str(number)), "headers": headers}
                await bound(scope, nothing, nothing)  # type: ignore[arg-type]
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    kept = asyncio.run(connect())
    return seen, kept


@pytest.mark.parametrize(
    ("host", "forwarded", "client"),
    [
        ("172.18.0.1", "203.0.113.7", "172.18.0.1"),
        ("127.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "192.0.2.1, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "203.0.113.7, 10.1.2.3", "203.0.113.7"),
        ("10.0.0.9", "2001:db8::7", "2001:db8::7"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("203.0.113.9", "127.0.0.1", "203.0.113.9"),
    ],
)
def test_a_client_is_whom_a_trusted_proxy_names(host: str, forwarded: str, client: str) -> None:
    assert named(host, forwarded, proxies=["127.0.0.1", "10.0.0.0/8"])[0] == client


@pytest.mark.parametrize(
    ("proxies", "forwarded"),
    [
        ([], "{}" + "a" * 14_000),
        (["172.18.0.1"], "{}" + "a" * 14_000),
        (["172.18.0.1"], "2001:db8:{:x}::1"),
    ],
    ids=["from a stranger", "of a stranger's", "from a proxy"],
)
def test_what_is_kept_of_forwarded_clients_is_bounded(
    proxies: Sequence[str], forwarded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MOST_FORWARDED", 100)
    _, kept = named("172.18.0.1", forwarded, proxies=proxies, connections=CONNECTIONS)
    assert kept < MOST_KEPT_BYTES


def test_a_proxy_that_is_not_named_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    named("172.18.0.1", "203.0.113.7", proxies=[], connections=3)
    (said,) = caplog.messages
    assert "172.18.0.1" in said
    assert "FIRSTFLIGHT_TRUSTED_PROXIES" in said


def test_a_stranger_s_header_is_no_reason_to_trust_it(caplog: pytest.LogCaptureFixture) -> None:
    named("93.184.215.14", "192.0.2.1", proxies=[])
    assert caplog.messages == []

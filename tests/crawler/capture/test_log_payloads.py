"""Events that only count bytes get the captured bytes, or are counted as missing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture import log_payloads as module
from crawler.capture.keylog import MASTER_SECRET, SERVER_TRAFFIC_SECRET, KeyLog
from crawler.capture.log_payloads import LogPayloads
from crawler.capture.segments import flow
from crawler.capture.tcp_reassembly import TcpStream
from crawler.netlog.event import Event
from tests.crawler.capture.talking import BODY, talked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawler.capture.talking import Talk

SOCKET = 7
LOCAL, REMOTE = "192.0.2.1:50000", "[2001:db8::1]:443"
LOCAL_6 = "[2001:db8::2]:50000"
FLOW = flow(("2001:db8::2", 50000), ("2001:db8::1", 443))
GCM = 0xC02B


class Wire:
    """Stands for a capture of one connection, without the last `missing` bytes."""

    def __init__(self, received: bytes, *, missing: int = 0) -> None:
        self.stream = TcpStream(0, 0)
        self.stream.add(0, received[: len(received) - missing])
        self.is_trusted = True
        self.released: list[bytes] = []
        self.misses: list[bytes] = []

    def claim(self, key: bytes) -> TcpStream | None:
        return self.stream if key == FLOW else None

    def take(self, stream: TcpStream, size: int) -> bytes | None:
        return stream.take(size)

    def release(self, key: bytes) -> None:
        self.released.append(key)

    def missed(self, key: bytes) -> None:
        self.misses.append(key)


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[KeyLog]:
    log = KeyLog(tmp_path / "keys")
    yield log
    log.close()


def logged(keys: KeyLog, talk: Talk, *, client_random: str = "") -> None:
    label = SERVER_TRAFFIC_SECRET if talk.version == "TLS 1.3" else MASTER_SECRET
    with keys.path.open("w") as fifo:
        fifo.write(f"{label} {client_random or talk.client_random} {talk.secret}\n")


def event(name: str, phase: str = "NONE", data: str | bytes = "", **params: Any) -> Event[Any]:
    return Event(name, phase, SOCKET, 0, params, data)


def connected(local: str = LOCAL_6) -> Event[Any]:
    return event("TCP_CONNECT", "END", local_address=local, remote_address=REMOTE)


def received(size: int) -> Event[Any]:
    return event("SOCKET_BYTES_RECEIVED", byte_count=size)


def opened(size: int) -> Event[Any]:
    return event("SSL_SOCKET_BYTES_RECEIVED", byte_count=size)


def handshake(talk: Talk) -> list[Event[Any]]:
    """Events of a handshake: the hellos with their bytes, and the version and suite."""
    hellos = [talk.sent[5:], talk.received[5 : 5 + 4 + int.from_bytes(talk.received[6:9], "big")]]
    return [
        connected(),
        event("SSL_CONNECT", "BEGIN"),
        event("SSL_HANDSHAKE_MESSAGE_SENT", data=hellos[0], type=1),
        event("SSL_HANDSHAKE_MESSAGE_RECEIVED", data=hellos[1], type=2),
        event("SSL_CONNECT", "END", version=talk.version, cipher_suite=talk.suite),
    ]


def filled(keys: KeyLog, wire: Wire, events: list[Event[Any]]) -> tuple[LogPayloads, list[str | bytes]]:
    payloads = LogPayloads(wire, keys)  # type: ignore[arg-type]  # it has all methods that are called
    return payloads, [payloads.fill(one).data for one in events]


def test_a_clear_connection_has_the_bytes_that_were_read_in_their_order(keys: KeyLog) -> None:
    wire = Wire(b"HTTP/1.1 204 No Content\r\n\r\n")
    payloads, data = filled(keys, wire, [connected(), received(4), received(0), received(23)])
    assert data == ["", b"HTTP", "", b"/1.1 204 No Content\r\n\r\n"]
    assert (payloads.missed, wire.misses) == (0, [])


@pytest.mark.parametrize("suite", [None, GCM], ids=["TLS 1.3", "TLS 1.2"])
def test_a_tls_connection_has_its_records_and_their_plaintext(keys: KeyLog, suite: int | None) -> None:
    talk = talked(suite)
    logged(keys, talk)
    half = len(talk.received) // 2
    wire = Wire(talk.received)
    events = [
        *handshake(talk),
        received(half),
        opened(100),
        received(len(talk.received) - half),
        opened(len(BODY) - 100),
    ]
    payloads, data = filled(keys, wire, events)
    assert data[5:] == [talk.received[:half], BODY[:100], talk.received[half:], BODY[100:]]
    assert payloads.missed == 0


def test_a_key_may_be_logged_by_the_random_of_the_encrypted_hello(keys: KeyLog) -> None:
    talk = talked(None)
    inner = bytes(range(32))
    logged(keys, talk, client_random=inner.hex())
    hello = event("SSL_ENCRYPTED_CLIENT_HELLO", data=b"\x01\0\0\x22\x03\x03" + inner)
    first, *rest = handshake(talk)
    events = [first, hello, *rest, received(len(talk.received)), opened(10)]
    assert filled(keys, Wire(talk.received), events)[1][-1] == BODY[:10]


def test_missing_bytes_count_once_for_the_capture_and_each_time_for_the_log(keys: KeyLog) -> None:
    wire = Wire(b"123456", missing=1)
    payloads, data = filled(keys, wire, [connected(), received(3), received(3), received(3)])
    assert data == ["", b"123", "", ""]
    assert (payloads.missed, wire.misses) == (2, [FLOW])


def test_a_connection_that_was_not_captured_is_missed(keys: KeyLog) -> None:
    wire = Wire(b"")
    payloads, _ = filled(keys, wire, [connected(LOCAL), received(3)])
    assert (payloads.missed, len(wire.misses)) == (1, 1)


def test_an_unknown_connection_is_missed(keys: KeyLog) -> None:
    assert filled(keys, Wire(b""), [received(3)])[0].missed == 1
    assert filled(keys, Wire(b""), [opened(3)])[0].missed == 1


def test_a_connection_with_an_invalid_address_is_missed(keys: KeyLog) -> None:
    assert filled(keys, Wire(b"abc"), [connected("nowhere:1"), received(3)])[0].missed == 1


def test_plaintext_without_a_key_is_missed_and_the_records_are_not(
    keys: KeyLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEY_WITHIN_S", 0.01)
    talk = talked(None)  # whose key is not logged
    size = len(talk.received)
    payloads, data = filled(keys, Wire(talk.received), [*handshake(talk), received(size), opened(5)])
    assert data[-2:] == [talk.received, ""]
    assert payloads.missed == 1


def test_plaintext_of_an_unknown_suite_is_missed(keys: KeyLog) -> None:
    talk = talked(None)
    logged(keys, talk)
    events = [*handshake(talk), event("SSL_CONNECT", "END", version="TLS 1.3", cipher_suite=0x1399)]
    payloads, _ = filled(keys, Wire(talk.received), [*events, received(len(talk.received)), opened(5)])
    assert payloads.missed == 1


def test_a_handshake_without_end_fills_no_memory(keys: KeyLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEALED_LIMIT", 1000)
    wire = Wire(bytes(2000))
    payloads, data = filled(
        keys, wire, [connected(), event("SSL_CONNECT", "BEGIN"), received(900), received(101), received(1)]
    )
    assert data[2:] == [bytes(900), "", ""]
    assert (payloads.missed, wire.misses) == (2, [FLOW])


def test_a_closed_socket_releases_its_connection(keys: KeyLog) -> None:
    wire = Wire(b"123")
    filled(keys, wire, [connected(), event("SOCKET_ALIVE", "BEGIN"), received(1)])
    assert wire.released == []
    filled(keys, wire, [connected(), received(1), event("SOCKET_ALIVE", "END")])
    assert wire.released == [FLOW]


def test_open_connections_are_released_at_the_browsers_end(keys: KeyLog) -> None:
    wire = Wire(b"123")
    payloads, _ = filled(keys, wire, [connected(), received(1)])
    payloads.close()
    assert wire.released == [FLOW]


def test_other_events_pass_unchanged(keys: KeyLog) -> None:
    one = event("REQUEST_ALIVE", "BEGIN", data="aGk=")
    assert LogPayloads(Wire(b""), keys).fill(one) is one  # type: ignore[arg-type]

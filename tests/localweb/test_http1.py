from __future__ import annotations

import pytest

from localweb import faults
from localweb.faults import Fault
from localweb.http1 import Http1Session
from localweb.log import SentResponse
from localweb.modes import Origin
from localweb.outgoing import Outgoing, ProtocolViolation


class Asked:
    """Answers every request with 100 kB, or as a fault has it, and keeps the log's entries."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.entries: list[SentResponse] = []
        self.fault = fault
        self.session = Http1Session(self)

    def __call__(
        self, method: str, authority: str, path: str, protocol: str, stream_id: int | None
    ) -> Outgoing:
        entry = SentResponse(
            connection_id=1,
            position=len(self.entries) + 1,
            stream_id=stream_id,
            protocol=protocol,
            method=method,
            scheme="http",
            host=authority,
            path=path,
        )
        self.entries.append(entry)
        answer = faults.document(Origin("http", "a.test"), path, 200, bytes(100_000))
        return Outgoing(answer, entry, fault=self.fault)

    def written(self, *, now: int = 0) -> bytes:
        pieces = []
        while piece := self.session.next_write(now):
            pieces.append(piece)
        return b"".join(pieces)


def request(path: str = "/", *, method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: a.test\r\n{more}\r\n".encode()


def test_a_request_may_come_byte_by_byte() -> None:
    asked = Asked()
    for octet in request("/x"):
        asked.session.receive(bytes([octet]))

    written = asked.written()
    head, _, body = written.partition(b"\r\n\r\n")
    (entry,) = asked.entries
    assert entry.path == "/x"
    assert (entry.header_bytes, entry.body_bytes) == (len(head) + 4, len(body)) == (len(head) + 4, 100_000)
    assert entry.wire_bytes == len(written)
    assert entry.is_complete


def test_pipelined_requests_are_answered_in_their_order() -> None:
    asked = Asked()
    asked.session.receive(request("/1") + request("/2", method="HEAD") + request("/3"))
    written = asked.written()

    assert [entry.path for entry in asked.entries] == ["/1", "/2", "/3"]
    assert [entry.body_bytes for entry in asked.entries] == [100_000, 0, 100_000]
    assert sum(entry.wire_bytes for entry in asked.entries) == len(written)


def test_a_request_body_is_passed_over() -> None:
    asked = Asked()
    asked.session.receive(
        request(method="POST", more="Content-Length: 30\r\n") + request("/not/a/request")[:20]
    )
    asked.session.receive(b"0123456789" + request("/next"))

    assert [entry.path for entry in asked.entries] == ["/", "/next"]


@pytest.mark.parametrize(
    "octets",
    [
        b"\x16\x03\x01\x00\xa5\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nno field\r\n\r\n",
        request(more="Content-Length: -5\r\n"),
        request(more="Transfer-Encoding: chunked\r\n"),
        b"a" * 70_000,
    ],
)
def test_what_is_not_http_is_refused(octets: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        Asked().session.receive(octets)


def test_a_drip_comes_as_its_rate_allows() -> None:
    asked = Asked(Fault.DRIP)
    asked.session.receive(request())

    asked.written(now=1_000_000)
    (entry,) = asked.entries
    assert entry.body_bytes == 1
    asked.written(now=3_000_000)
    assert entry.body_bytes == 1 + 2 * faults.DRIP_BYTES_PER_SECOND
    assert not entry.is_complete


def test_a_document_without_end_states_no_length() -> None:
    asked = Asked(Fault.NEVER_ENDING)
    asked.session.receive(request())

    assert b"content-length" not in asked.written(now=0)
    asked.written(now=60_000_000)
    (entry,) = asked.entries
    assert entry.body_bytes > 5_000_000
    assert not entry.is_complete
    assert asked.session.is_waiting

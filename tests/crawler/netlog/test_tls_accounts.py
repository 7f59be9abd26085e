"""Any server's records, in any reads, are accounted for to the byte; handshake and tickets are right,
or unknown."""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crawler.netlog.tls import RecordReader

FINISHED, TICKET = 20, 4
SERVER_HELLO = bytes([22, 3, 3, 0, 122]) + bytes(122)


@dataclasses.dataclass(frozen=True)
class Sent:
    """One encrypted record, and the sizes of the messages that end in it."""

    size: int
    is_message: bool = False
    ends: tuple[tuple[int, int], ...] = ()
    padding: int = 0
    is_alert: bool = False

    @property
    def wire(self) -> bytes:
        length = self.size + self.padding + 17
        return bytes([23, 3, 3]) + length.to_bytes(2, "big") + bytes(length)


def in_records(messages: Sequence[tuple[int, int]], fragment: int, *, together: bool) -> Iterator[Sent]:
    """Put messages into records of `fragment` bytes at most, each in records of its own unless `together`."""
    for group in [list(messages)] if together else [[message] for message in messages]:
        ends = list(itertools.accumulate(size for _, size in group))
        for at in range(0, ends[-1], fragment):
            until = min(at + fragment, ends[-1])
            done = tuple(message for message, end in zip(group, ends, strict=True) if at < end <= until)
            yield Sent(until - at, is_message=True, ends=done)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Sent], list[Sent]]:
    """Records of the handshake, and those after it: padded to one multiple, or not at all."""
    fragment = draw(st.sampled_from([512, 1400, 16_384]))
    sizes = [draw(st.integers(20, 3000)) for _ in range(draw(st.integers(1, 4)))]
    flight = [(8, size) for size in sizes] + [(FINISHED, 52)]
    # A server that puts messages together and pads them cannot be told from one
    # that sends data with its flight.
    block = draw(st.sampled_from([0, 0, 0, 256, 512]))
    handshake = list(in_records(flight, fragment, together=not block and draw(st.booleans())))
    after: list[Sent] = []
    for kind in draw(st.lists(st.sampled_from(["data", "ticket", "tickets", "empty"]), max_size=12)):
        if kind == "data":
            after.append(Sent(draw(st.integers(1, 16_000))))
        elif kind == "empty":
            after.append(Sent(0))
        else:
            many = [(TICKET, draw(st.integers(200, 900))) for _ in range(1 + (kind == "tickets"))]
            after += in_records(many, fragment, together=not block and draw(st.booleans()))
    if draw(st.booleans()):
        after.append(Sent(2, is_alert=True))
    handshake = [pad(message, block, fragment) for message in handshake]
    # Padding that makes other records hold the flight to the byte is no padding to
    # anybody who cannot decrypt it.
    filled = itertools.accumulate(message.size + message.padding for message in handshake)
    assume(not block or sum(size for _, size in flight) not in filled)
    return handshake, [pad(message, block, fragment) for message in after]


def pad(message: Sent, block: int, fragment: int) -> Sent:
    """Pad as OpenSSL does, which makes no record longer than the longest fragment."""
    padding = min(-(message.size + 1) % block, max(0, fragment - message.size)) if block else 0
    return dataclasses.replace(message, padding=padding)


def read_all(records: Sequence[Sent], cuts: Sequence[int]) -> RecordReader:
    """Read as Chromium does: all whole records are opened before the next read,
    and plaintext is told after them."""
    reader = RecordReader()
    wire = SERVER_HELLO + b"".join(record.wire for record in records)
    ends = list(itertools.accumulate((len(record.wire) for record in records), initial=len(SERVER_HELLO)))[1:]
    pending = list(zip(ends, records, strict=True))
    edges = sorted({cut % len(wire) for cut in cuts} | {0, len(wire)})
    is_greeted = False
    for start, end in itertools.pairwise(edges):
        reader.feed(wire[start:end])
        if not is_greeted and end >= len(SERVER_HELLO):
            is_greeted = True
            reader.handshake_message(2, 122)
        plain = 0
        while pending and pending[0][0] <= end:
            message = pending.pop(0)[1]
            for kind, size in message.ends:
                reader.handshake_message(kind, size)
            if message.is_alert:
                reader.alert()
            elif not message.is_message:
                plain += message.size
        if plain:
            reader.plaintext(plain)
    reader.finish()
    return reader


@settings(max_examples=300, deadline=None)
@given(conversations(), st.lists(st.integers(0, 10**6), max_size=20))
def test_every_byte_has_its_place(sent: tuple[list[Sent], list[Sent]], cuts: list[int]) -> None:
    handshake, after = sent
    reader = read_all([*handshake, *after], cuts)
    flight = len(SERVER_HELLO) + sum(len(message.wire) for message in handshake)
    tickets = sum(len(message.wire) for message in after if message.is_message)
    plain = sum(message.size for message in after if not message.is_message and not message.is_alert)
    total = flight + sum(len(message.wire) for message in after)
    accounted = reader.handshake_bytes + reader.ticket_bytes + reader.record_bytes
    assert (accounted + plain, reader.unread_bytes) == (total, 0)
    assert not reader.is_handshake_known or reader.handshake_bytes == flight
    assert not reader.are_tickets_known or reader.ticket_bytes == tickets

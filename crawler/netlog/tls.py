"""Accounts for the TCP payload of a TLS connection: handshake,
tickets and records (RFC 8446 §5, RFC 5246 §6.2).

The headers of records are in the clear. Their content follows from the handshake messages and the plaintext
that the browser logs, by two rules: it reads from the socket only when it has opened all whole records that
it has, and it logs a message as soon as it has opened the record in which the message ends.
"""

import itertools
import math

from crawler.netlog.event import Encoded
from crawler.netlog.hello import TAG_BYTES, TLS13_EXPANSION, ContentType, HandshakeType

RECORD_HEADER_BYTES = 5
ALERT_BYTES = 2

RECORDS_KEPT = 10
RUN_RECORDS = 32
"""Most records of one message after the handshake; a longer one is not recognised."""

LEAST_FRAGMENT = 512
"""Least size of a full record, in bytes (RFC 6066 §4)."""

LEAST_BLOCK = 32
"""Smallest common multiple of all record lengths that shows padding where the messages could also fill the
records."""

EFFORT_LIMIT = 50_000
"""Records times messages compared on a connection, so that no server keeps the crawler busy."""


class RecordReader:
    """Accounts for the TCP payload of one TLS connection."""

    def __init__(self) -> None:
        self.handshake_bytes = 0
        self.ticket_bytes = 0
        """Records with messages after the handshake: tickets and key updates."""
        self.are_tickets_known = True
        """False if other records may as well have carried these messages."""
        self.record_bytes = 0
        """Headers, tags, padding and alerts of other records, and what TLS 1.2 renegotiates; set by `finish`.
        """
        self.unread_bytes = 0
        """What the browser never read, the last record perhaps cut off."""
        self.is_handshake_known = True
        """False if padded records may as well have carried the server's first data."""
        self.fresh_from = 0
        self.first_record_bytes: list[int] = []
        """First opened records with application data, set by `finish`; none if unknown."""
        self.expansion: int | None = TLS13_EXPANSION
        self._fed = 0
        self._header = b""
        self._left = 0
        self._kind = 0
        self._length = 0
        self._own = 0
        self._own_alerts = 0
        self._is_secured = False
        self._block = 0
        """Multiple to which the handshake's records are padded; 0 for none, 1 if unknown."""
        self._messages: list[int] = []
        self._sealed: list[int] = []
        self._fresh = 0
        """Those that came with the last read; all others are opened."""
        self._opened = 0
        self._opened_bytes = 0
        self._first: list[int] = []
        self._apart: list[int] = []
        """Encrypted messages and alerts since the last read."""
        self._are_first_known = True
        self._ticket_records = 0
        self._effort = 0
        self._plain = 0
        self._others = 0
        """Encrypted alerts, and messages whose records are unknown."""

    def feed(self, data: bytes | Encoded) -> None:
        self._find_messages()
        self._find_first(None)
        self._fresh = 0
        self.fresh_from = self._fed - self._begun
        self._fed += len(data)
        if self._is_secured and (old := self._sealed[:-RUN_RECORDS]):
            self._opened += len(old)
            self._opened_bytes += sum(old)
            del self._sealed[:-RUN_RECORDS]
        at = 0
        while at < len(data):
            if self._left:
                taken = min(self._left, len(data) - at)
                self._left -= taken
                at += taken
            else:
                taken = min(RECORD_HEADER_BYTES - len(self._header), len(data) - at)
                self._header += data[at : at + taken]
                at += taken
                if len(self._header) < RECORD_HEADER_BYTES:
                    return
                self._kind = self._header[0]
                self._length = self._left = int.from_bytes(self._header[3:], "big")
                self._header = b""
            if not self._left:
                self._record()

    @property
    def _begun(self) -> int:
        return RECORD_HEADER_BYTES + self._length - self._left if self._left else len(self._header)

    def _record(self) -> None:
        whole = RECORD_HEADER_BYTES + self._length
        if self._kind in (ContentType.HANDSHAKE, ContentType.CHANGE_CIPHER_SPEC):
            if self._is_secured:  # HelloRequest, say (RFC 5246 §7.4.1.1)
                self.record_bytes += whole
            else:
                self.handshake_bytes += whole
            self._own += self._length if self._kind == ContentType.HANDSHAKE else 0
        elif self._kind == ContentType.APPLICATION_DATA:
            self._sealed.append(self._length)
            self._fresh += 1
        else:
            self.record_bytes += whole
            self._own_alerts += 1

    def handshake_message(self, kind: int, size: int) -> None:
        # All handshake messages of TLS 1.2 are in handshake records; of TLS 1.3,
        # only those that are not encrypted.
        if size <= self._own or kind == HandshakeType.SERVER_HELLO or not self._sealed:
            self._own = max(0, self._own - size)
        else:
            self._messages.append(size)
            self._apart += [size] if self._is_secured else []
        if kind == HandshakeType.FINISHED:
            self._end_handshake()

    def _end_handshake(self) -> None:
        if self._is_secured:
            return
        self._is_secured = True
        filled, alone = self._count_filled(), self._count_one_by_one()
        is_alone = alone == len(self._sealed)  # else some records may carry the server's first data
        block = math.gcd(*(length - TAG_BYTES for length in self._sealed))
        if filled is not None and (filled == alone or not is_alone or block < LEAST_BLOCK):
            self._take(filled)
            return
        self.is_handshake_known = is_alone and filled is None
        self._block = block if self.is_handshake_known else 1
        self._take(alone if self.is_handshake_known else 0)

    def _count_filled(self) -> int | None:
        """Return the records that the handshake fills to the byte; None if it ends elsewhere."""
        due = sum(self._messages)
        for count, length in enumerate(self._sealed):
            if due <= 0:
                return count if due == 0 else None
            due -= length - TLS13_EXPANSION
        return len(self._sealed) if due == 0 else None

    def _count_one_by_one(self) -> int:
        """Return the records of a handshake whose messages each begin one; none if that is more than came."""
        count = 0
        for size in self._messages:
            due = size
            while due > 0 and count < len(self._sealed):
                due -= self._sealed[count] - TLS13_EXPANSION
                count += 1
            if due > 0:
                return 0
        return count

    def _take(self, count: int) -> None:
        self.handshake_bytes += sum(self._sealed[:count]) + RECORD_HEADER_BYTES * count
        del self._sealed[:count]
        self._fresh = min(self._fresh, len(self._sealed))
        self._messages = []

    def _find_messages(self) -> None:
        if not self._is_secured or not self._messages:
            return
        messages, self._messages = [self._pad(size) for size in self._messages], []
        self._effort += self._fresh * len(messages)
        counts: set[int] = set()
        if self.are_tickets_known and self._block != 1 and self._effort <= EFFORT_LIMIT:
            contents = [length - TLS13_EXPANSION for length in self._sealed]
            counts = count_records(contents, len(contents) - self._fresh, messages)
        if self._block:  # a server that pads sends each message in a record of its own
            counts &= {len(messages)}
        if len(counts) == 1:
            count = counts.pop()
            self._ticket_records += count
            self.ticket_bytes += sum(messages) + count * (RECORD_HEADER_BYTES + TLS13_EXPANSION)
        else:
            self.are_tickets_known = False
            self._others += sum(messages)

    def _find_first(self, due: int | None) -> None:
        apart, self._apart = self._apart, []
        if len(self._first) == RECORDS_KEPT or not self._is_secured:
            return
        fresh, carried = self._sealed[len(self._sealed) - self._fresh :], 0
        # A record may carry several messages; of records of one length, it does not matter which one did.
        for size in apart:
            carried += size
            if (length := self._pad(carried) + TLS13_EXPANSION) in fresh:
                fresh.remove(length)
                carried = 0
        self._are_first_known &= not carried
        for length in fresh[: RECORDS_KEPT - len(self._first)]:
            if due is None or due > 0:
                self._first.append(length)
                due = None if due is None else due - (length - (self.expansion or 0))

    def _pad(self, size: int) -> int:
        return -(-(size + 1) // self._block) * self._block - 1 if self._block else size

    def plaintext(self, size: int) -> None:
        self._end_handshake()
        self._plain += size

    def alert(self) -> None:
        # All alerts of TLS 1.2 are in alert records; of TLS 1.3, only those that are not encrypted.
        if self._own_alerts:
            self._own_alerts -= 1
        else:
            self._others += ALERT_BYTES
            self._apart.append(ALERT_BYTES)

    def finish(self) -> None:
        """Settle the count: what follows the known content was never opened."""
        if not self._is_secured:  # what came is of the server's flight, whose end is missing
            self._take(len(self._sealed))
        self._find_messages()
        self.unread_bytes = self._begun
        last = self._sealed[len(self._sealed) - self._fresh :]
        opened = self._opened + len(self._sealed) - len(last)
        opened_bytes = self._opened_bytes + sum(self._sealed) - sum(last)
        around = RECORD_HEADER_BYTES + (self.expansion or 0)
        due = self._plain + self._others + self.ticket_bytes - self._ticket_records * around
        due -= opened_bytes - opened * (self.expansion or 0)
        padding_varies = self.expansion is None or self._block > 0 or due < 0
        self._find_first(None if padding_varies else due - sum(self._apart))
        if self.is_handshake_known and self._are_first_known:
            self.first_record_bytes = [RECORD_HEADER_BYTES + length for length in self._first]
        if self.expansion is None or padding_varies:  # only the sum is known
            whole = opened_bytes + sum(last) + RECORD_HEADER_BYTES * (opened + len(last))
            self.record_bytes += max(0, whole - self._plain - self.ticket_bytes)
            return
        self.record_bytes += self._others + (opened - self._ticket_records) * around
        self._finish_last(last, due, self.expansion)

    def _finish_last(self, last: list[int], due: int, expansion: int) -> None:
        """Settle the last read, of whose content `due` bytes are known."""
        for length in last:
            content = length - expansion
            if due > 0:
                self.record_bytes += RECORD_HEADER_BYTES + expansion
                self.unread_bytes += max(0, content - due)
                due -= content
            elif content in (0, ALERT_BYTES):
                self.record_bytes += RECORD_HEADER_BYTES + length
            else:
                self.unread_bytes += RECORD_HEADER_BYTES + length


def count_records(contents: list[int], fresh: int, messages: list[int]) -> set[int]:
    """Return the numbers of records that may have carried the messages, in order.

    A record holds whole messages, or a run of full records and a last one does. Of `contents`, in bytes,
    those before the index `fresh` can only begin a run.

    >>> count_records([265, 265, 51], 0, [265, 265]), count_records([530, 51], 0, [265, 265])
    ({2}, {1})
    >>> count_records([1024, 512, 512], 0, [1024])
    {1, 2}
    """
    totals = list(itertools.accumulate(messages, initial=0))
    numbers = {total: number for number, total in enumerate(totals)}
    ways: list[dict[int, set[int]]] = [{0: {0}}] * (fresh + 1)
    for at in range(fresh, len(contents)):
        reached_by = {number: set(counts) for number, counts in ways[at].items()}
        size = 0
        for first in range(at, max(-1, at - RUN_RECORDS), -1):
            if first < at and not contents[first] == contents[at - 1] >= max(contents[at], LEAST_FRAGMENT):
                break
            size += contents[first]
            for number, counts in ways[first].items():
                reached = numbers.get(totals[number] + size, 0)
                if reached > number:
                    reached_by.setdefault(reached, set()).update(count + at + 1 - first for count in counts)
        ways.append(reached_by)
    return ways[-1].get(len(messages), set())

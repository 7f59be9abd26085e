"""Compares a visit to a page of the zoo with the log of the server and with a packet capture."""

import collections
import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import Any

from crawler.netlog.open_requests import QUIET_MS
from crawler.netlog.tls import RECORDS_KEPT
from tests.zoo.case import PAGE, Case, Page
from tests.zoo.serving.server import MOVING

TRUNCATED_US = 2000
"""Rounding of times in microseconds: the browser's log and the start of a visit have whole milliseconds, so
each may be off by one, and an effect may seem to precede its cause by this much."""

PRIORITY = ("urgency", "is_incremental", "h2_weight", "h2_parent_stream_id", "h2_is_exclusive")

FRAMES_WITHOUT_REQUEST = 1000
"""More bytes of frames than a connection takes on which nothing is asked:
there is a WebTransport session on it."""

Ends = tuple[str, int, int]
"""Server address and port, client port: ports alone repeat across the addresses of loopback."""

Where = tuple[Ends | None, int | None, int | None]
"""Connection, position on it, stream."""


@dataclasses.dataclass(frozen=True)
class Visited:
    """Visit to one page in one protocol.

    Methods that yield report differences, a sentence each, with their case.
    """

    page: Page
    protocol: str
    seen: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.protocol} {self.page.host}"

    @functools.cached_property
    def cases(self) -> dict[str, Case]:
        return {case.id: case for case in self.page.played(self.protocol)}

    def case_of(self, row: dict[str, Any]) -> str:
        first = row["path"].split("/")[1]
        return first if first in self.cases else PAGE

    def is_bounded(self, row: dict[str, Any]) -> bool:
        case = self.cases.get(self.case_of(row))
        return case is not None and bool(case.bounded)

    @functools.cached_property
    def ends(self) -> dict[int, Ends]:
        return {
            row["id"]: (row["remote_address"], row["port"], row["local_port"])
            for row in self.seen["connections"]
        }

    @functools.cached_property
    def sent_connections(self) -> dict[Ends, dict[str, Any]]:
        """The server's connections that were opened during this visit."""
        began, ended = self.seen["began_us"], self.seen["ended_us"]
        return {
            (connection["server_address"], connection["server_port"], connection["client_port"]): connection
            for connection in self.seen["truth"]["connections"]
            if began <= connection["opened_us"] <= ended
        }

    @functools.cached_property
    def sent(self) -> dict[Where, dict[str, Any]]:
        """The server's responses that began."""
        ends = {connection["id"]: end for end, connection in self.sent_connections.items()}
        return {
            (ends[response["connection_id"]], response["position"], response["stream_id"]): response
            | {"path": response["path"].partition("?")[0]}
            for response in self.seen["truth"]["responses"]
            if response["wire_bytes"] and response["connection_id"] in ends
        }

    @functools.cached_property
    def received(self) -> dict[Where, dict[str, Any]]:
        """The crawler's responses that crossed the network."""
        collected = {}
        for row in self.seen["responses"]:
            if row["wire_bytes"] is not None:
                where = (self.ends.get(row["connection_id"]), row["position"], row["stream_id"])
                assert where not in collected, f"{self}: two responses in one place: {row}"
                collected[where] = row
        return collected

    def unknown(self, case_id: str) -> dict[str, int]:
        reasons = (
            row["wire_bytes_unknown"]
            for row in self.seen["responses"]
            if row["wire_bytes"] is None and self.case_of(row) == case_id
        )
        return dict(collections.Counter(reasons))

    def equal(self, case_id: str) -> tuple[int, int]:
        wheres = [where for where, row in self.sent.items() if self.case_of(row) == case_id]
        alike = [_sizes(self.received.get(where)) == _sizes(self.sent[where]) for where in wheres]
        return sum(alike), len(alike)

    def wrong_responses(self) -> Iterator[str]:
        """Responses that differ from the server's, that it did not send, or that were lost."""
        for where in self.received.keys() | self.sent.keys():
            row, sent = self.received.get(where), self.sent.get(where)
            either = row or sent
            assert either is not None
            at_most = self.is_bounded(either)
            if at_most and (row is None or (sent is not None and _is_part(row, sent))):
                continue
            if _sizes(row) != _sizes(sent):
                yield f"{self} {self.case_of(either)}: {where} got {_sizes(row)}, sent {_sizes(sent)}"

    def wrong_completeness(self) -> Iterator[str]:
        """Responses that are complete and not said to be, or the reverse."""
        for where, row in self.received.items():
            sent = self.sent.get(where)
            if sent is not None:
                complete = sent["is_complete"] and row["wire_bytes"] == sent["wire_bytes"]
                if row["is_complete"] is not complete:
                    yield (
                        f"{self} {self.case_of(row)}: {row['path']} is complete: {complete}, "
                        f"got {row['is_complete']}"
                    )

    def wrong_decoding(self) -> Iterator[str]:
        """Responses that came whole and without a coding, of which a decoded size other than the body's is
        stored; with a 304 the page gets the body that the cache has."""
        for row in self.received.values():
            is_plain = row["is_complete"] and row["content_encoding"] is None and row["status"] != 304
            if is_plain and row["decoded_bytes"] != row["body_bytes"]:
                yield f"{self} {self.case_of(row)}: {row['path']} has {row['decoded_bytes']} decoded bytes"

    def wrong_connections(self) -> Iterator[str]:
        """Connections that differ from the server's or the capture's."""
        bounded = {where[0] for where, row in self.sent.items() if self.is_bounded(row)}
        for ends in self.sent_connections.keys() - set(self.ends.values()):
            if unheard := self.sent_connections[ends]["plaintext_bytes"]:
                yield (
                    f"{self} connection {ends}: the crawler has not heard of it, "
                    f"which carried {unheard} bytes"
                )
        for row in self.seen["connections"]:
            ends = self.ends[row["id"]]
            sent = self.sent_connections.get(ends)
            cases = sorted({self.case_of(row) for where, row in self.received.items() if where[0] == ends})
            who = f"{self} connection {ends} of {cases}"
            if sent is None:
                yield f"{who}: the server has not heard of it"
                continue
            carried = self._carried(ends, sent)
            if row["received_bytes"] > carried:
                yield f"{who}: received {row['received_bytes']}, the wire carried {carried}"
            # What nobody asked anything of, nobody reads to the end.
            if ends in bounded or not (row["response_count"] or sent["frame_bytes"] > FRAMES_WITHOUT_REQUEST):
                continue
            got, wanted = _connection(row), _sent_connection(sent, carried)
            if any(self.cases[case].unread_end for case in cases if case != PAGE):
                got, wanted = got[:4] + got[7:9], wanted[:4] + wanted[7:9]
            unread = carried - row["received_bytes"]
            if unread in self._late(ends, sent):
                wanted = (*wanted[:4], *(size - unread for size in wanted[4:6]), *wanted[6:])
            if got != wanted:
                yield f"{who}: got {got}, sent {wanted}"

    def wrong_packets(self) -> Iterator[str]:
        """Connections whose captured packets carried other than tcpdump's,
        or than the browser read where it reads all."""
        bounded = {where[0] for where, row in self.sent.items() if self.is_bounded(row)}
        for row in self.seen["connections"]:
            ends, packets, read = self.ends[row["id"]], row["packet_bytes"], row["received_bytes"]
            sent = self.sent_connections.get(ends)
            cases = {self.case_of(row) for where, row in self.received.items() if where[0] == ends} - {PAGE}
            reads_all = row["response_count"] and ends not in bounded
            if packets is None or sent is None:
                continue
            carried = self._carried(ends, sent)
            most = read if reads_all and not any(self.cases[case].unread_end for case in cases) else carried
            if not read <= packets <= min(most, carried):
                yield f"{self} connection {ends}: {packets} in packets, {carried} in the file, {read} read"

    def wrong_requests(self) -> Iterator[str]:
        """Requests whose header or priority differs from what the server read."""
        for where in self.received.keys() & self.sent.keys():
            row, sent = self.received[where], self.sent[where]
            asked = row["request_header_bytes"], *(row[name] for name in PRIORITY)
            wanted = sent["request_header_bytes"], *_signal(sent), *(sent["h2_priority"] or [None] * 3)
            if asked != wanted:
                yield (
                    f"{self} {self.case_of(row)}: {row['path']} asked with {asked}, the server read {wanted}"
                )

    def wrong_records(self) -> Iterator[str]:
        """Connections whose first TLS records differ from the server's;
        the browser may not have read them all."""
        for row in self.seen["connections"]:
            records, sent = row["first_record_bytes"] or [], self.sent_connections[self.ends[row["id"]]]
            is_read = row["decrypted_bytes"] == sent["plaintext_bytes"] and not self.page.security.odd
            if records != sent["record_bytes"][: RECORDS_KEPT if is_read else len(records)]:
                yield f"{self} connection {row['id']}: records {records}, sent {sent['record_bytes']}"

    def _carried(self, ends: Ends, sent: dict[str, Any]) -> int:
        if sent["protocol"] == "h3":
            return sum(size for _, size in self._datagrams(ends, sent))
        wanted = [ends[0], ends[1], sent["client_address"], sent["client_port"]]
        return sum(size for *ends, size in self.seen["truth"]["tcp"] if ends == wanted)

    def _datagrams(self, ends: Ends, sent: dict[str, Any]) -> list[tuple[int, int]]:
        wanted = [ends[0], ends[1], sent["client_address"], sent["client_port"]]
        return [
            datagram
            for *ends, datagrams in self.seen["truth"]["udp"]
            # This host has one connection, which migrates to other ports.
            if ends == wanted or (sent["host"] == MOVING and ends[0] == wanted[0])
            for datagram in datagrams
        ]

    def _late(self, ends: Ends, sent: dict[str, Any]) -> set[int]:
        """Return the bytes that the recording may lack at its end:
        QUIC still acknowledges and probes after all data came."""
        since_us = self.seen["recorded_us"] - QUIET_MS * 1000
        late = (size for at_us, size in reversed(self._datagrams(ends, sent)) if at_us >= since_us)
        return set(itertools.accumulate(late))

    def wrong_initiators(self) -> Iterator[str]:
        """Responses whose initiator is wrong."""
        rows = {row["id"]: row for row in self.seen["responses"]}
        wanted = self.page.initiators(self.protocol) | {(self.page.host, "/"): None}
        for row in rows.values():
            place = row["host"], row["path"]
            by = rows.get(row["initiator_id"])
            initiator = None if by is None else (by["host"], by["path"])
            if row["from_cache"]:  # which of those that asked for it came first is the network's answer
                continue
            if place not in wanted:
                yield f"{self} {self.case_of(row)}: nobody should have asked for {place}"
            elif initiator != wanted[place]:
                yield f"{self} {self.case_of(row)}: {place} was asked for by {wanted[place]}, not {initiator}"

    def wrong_order(self) -> Iterator[str]:
        """Responses whose times are out of order, among the crawler's times or against the server's."""
        connections = {row["id"]: row for row in self.seen["connections"]}
        rows = {row["id"]: row for row in self.seen["responses"]}
        for where, row in self.received.items():
            on = connections[row["connection_id"]]
            asked = [on["secured_us"] or on["connected_us"], row["request_sent_us"]]
            takes_early = on["protocol"] == "h3" or self.page.security.early_data
            if takes_early and on["tls_resumed"]:  # 0-RTT asks before the handshake ends
                asked.sort()
            times = [on["opened_us"], on["connected_us"], *asked]
            times += [row["first_byte_us"], row["last_byte_us"], on["last_byte_us"]]
            if times != sorted(times):
                yield f"{self} {self.case_of(row)}: {row['path']} has times {times}"
            for cause in (row["initiator_id"], row["redirected_from_id"]):
                came_us = 0 if cause is None else rows[cause]["first_byte_us"] or 0
                if came_us > row["request_sent_us"]:
                    yield f"{self} {self.case_of(row)}: {row['path']} was asked for before its cause came"
            sent = self.sent.get(where)
            if sent is not None and not self.is_bounded(row) and min(self.delays(row, sent)) < -TRUNCATED_US:
                yield (
                    f"{self} {self.case_of(row)}: {row['path']} came before it was "
                    f"sent: {self.delays(row, sent)}"
                )

    def delays(self, row: dict[str, Any], sent: dict[str, Any]) -> tuple[int, int, int]:
        """Return the delays in microseconds of the request, the first byte and the last byte."""
        start = self.seen["started_us"]
        return (
            sent["request_received_us"] - (start + row["request_sent_us"]),
            start + row["first_byte_us"] - sent["first_byte_us"],
            start + row["last_byte_us"] - sent["last_byte_us"],
        )


def _sizes(row: dict[str, Any] | None) -> tuple[Any, ...] | None:
    what = ("protocol", "method", "scheme", "host", "path", "status")
    sizes = ("wire_bytes", "header_bytes", "body_bytes")
    return None if row is None else tuple(row[name] for name in what + sizes)


def _signal(sent: dict[str, Any]) -> tuple[int | None, bool | None]:
    """Return urgency and incremental as the server read them (RFC 9218 §4)."""
    stated = sent["priority"]
    if stated is None and sent["protocol"] == "http/1.1":
        return None, None
    members = [member.strip() for member in (stated or "").split(",")]
    urgency = next((int(member[2:]) for member in members if member.startswith("u=")), 3)
    return urgency, "i" in members


def _is_part(collected: dict[str, Any], sent: dict[str, Any]) -> bool:
    """Return whether the browser read at most what was sent."""
    same = all(collected[name] == sent[name] for name in ("protocol", "method", "host", "path", "status"))
    sizes = ("wire_bytes", "header_bytes", "body_bytes")
    return same and all(collected[name] is None or collected[name] <= sent[name] for name in sizes)


def _connection(row: dict[str, Any]) -> tuple[Any, ...]:
    tickets = row["tls_ticket_bytes"]
    return (
        *(row[name] for name in ("host", "protocol", "tls_version", "tls_resumed")),
        *(row[name] for name in ("received_bytes", "received_bytes", "decrypted_bytes")),
        row["tls_handshake_bytes"],
        # Over TLS null is "not known", as where records of one read may be tickets or none;
        # it must not hide one.
        0 if tickets is None and row["tls_version"] else tickets,
        row["frame_bytes"],
    )


def _sent_connection(sent: dict[str, Any], carried: int) -> tuple[Any, ...]:
    return (
        *(sent[name] for name in ("host", "protocol", "tls_version", "tls_resumed", "sent_bytes")),
        carried,
        sent["plaintext_bytes"],
        *(
            sent[name] if sent["tls_version"] else None
            for name in ("tls_handshake_bytes", "tls_ticket_bytes")
        ),
        sent["frame_bytes"],
    )

"""Server delays: time from request to first byte less the round trip, as far as it is known."""

import bisect
import collections
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"

FLIGHT_BYTES = 14_000
"""Largest request body that is sent in one flight with its header: about ten segments."""

HTTP1, H2 = "http/1.1", "h2"
TCP = (HTTP1, H2)
"""Protocols over TCP, whose handshake measures the round trip; QUIC's includes cryptography."""


def tcp_round_trips(connections: Sequence[Row]) -> dict[int, int]:
    """Return the round trip in µs by connection id: the visit's fastest TCP handshake with the address."""
    measured = {
        connection["id"]: connection["connected_us"] - connection["opened_us"]
        for connection in connections
        if connection["protocol"] in TCP
        and connection["opened_us"] is not None
        and connection["connected_us"] is not None
    }
    return fastest(connections, measured)


def fastest(connections: Sequence[Row], measured: Mapping[int, int | None]) -> dict[int, int]:
    """Return the shortest round trip to each address, over TCP and QUIC apart, by connection id."""
    trips: dict[tuple[str, bool], int] = {}
    for connection in connections:
        trip = measured.get(connection["id"])
        if trip is not None:
            trips[_path(connection)] = min(trip, trips.get(_path(connection), trip))
    return {
        connection["id"]: trips[_path(connection)] for connection in connections if _path(connection) in trips
    }


def _path(connection: Row) -> tuple[str, bool]:
    return connection["remote_address"], connection["protocol"] in TCP


def server_delays(
    connections: Sequence[Row], responses: Sequence[Row], trips: Mapping[int, int]
) -> dict[int, int | None]:
    """Return the server delay in µs by response id: request to first byte, less the round trip in `trips`, at
    least 0.

    None without a connection, a round trip or both times; for requests of more than one flight; and while
    another response was arriving on an H2 or H3 connection, since it may have been ready and waiting. Waiting
    in the network or for the crawler's CPU counts as server delay.
    """
    multiplexed = {connection["id"]: connection["protocol"] != HTTP1 for connection in connections}
    by_connection: dict[int, list[Row]] = collections.defaultdict(list)
    for row in responses:
        if multiplexed.get(row["connection_id"]):
            by_connection[row["connection_id"]].append(row)
    arrivals = {connection: Arrivals(rows) for connection, rows in by_connection.items()}

    def delay_of(row: Row) -> int | None:
        first_us = row["first_byte_us"]
        if (
            row["connection_id"] not in trips
            or row["request_sent_us"] is None
            or first_us is None
            or (row.get("request_body_bytes") or 0) > FLIGHT_BYTES
            or (row["connection_id"] in arrivals and arrivals[row["connection_id"]].any_at(first_us))
        ):
            return None
        waited: int = first_us - row["request_sent_us"]
        return max(0, waited - trips[row["connection_id"]])

    return {row["id"]: delay_of(row) for row in responses}


class Arrivals:
    """Times at which the responses on one connection were arriving, in n log n for n responses."""

    def __init__(self, responses: Sequence[Row]) -> None:
        """Take responses with `first_byte_us` and `last_byte_us`; one without a known end goes on
        arriving."""
        begun = sorted(
            (
                response["first_byte_us"],
                math.inf if response["last_byte_us"] is None else response["last_byte_us"],
            )
            for response in responses
            if response["first_byte_us"] is not None
        )
        self._firsts = [first for first, _ in begun]
        self._latest_ends = list(itertools.accumulate((last for _, last in begun), max))

    def any_at(self, at_us: int) -> bool:
        begun = bisect.bisect_left(self._firsts, at_us)
        return begun > 0 and self._latest_ends[begun - 1] >= at_us

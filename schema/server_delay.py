"""Server delays: time from request to first byte less the round trip, as far as it is known."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"

FLIGHT_BYTES = 14_000
"""Largest request body that is sent in one flight with its header: about ten segments."""

HTTP1, H2 = "http/1.1", "h2"
TCP = (HTTP1, H2)
"""Protocols over TCP, whose handshake measures the round trip; QUIC's includes cryptography."""


def tcp_round_trips(connections: Sequence[Row]) -> dict[int, int]:
    """Round trip in microseconds by connection id: the fastest TCP handshake of the visit with the address."""
    measured = {
        one["id"]: one["connected_us"] - one["opened_us"]
        for one in connections
        if one["protocol"] in TCP and one["opened_us"] is not None and one["connected_us"] is not None
    }
    return fastest(connections, measured)


def fastest(connections: Sequence[Row], measured: Mapping[int, int | None]) -> dict[int, int]:
    """The shortest of the measured round trips to each address, over TCP and over QUIC apart, by connection id."""
    trips: dict[tuple[str, bool], int] = {}
    for one in connections:
        trip = measured.get(one["id"])
        if trip is not None:
            trips[_path(one)] = min(trip, trips.get(_path(one), trip))
    return {one["id"]: trips[_path(one)] for one in connections if _path(one) in trips}


def _path(connection: Row) -> tuple[str, bool]:
    return connection["remote_address"], connection["protocol"] in TCP


def server_delays(
    connections: Sequence[Row], responses: Sequence[Row], trips: Mapping[int, int]
) -> dict[int, int | None]:
    """Server delay in microseconds by response id: request to first byte, less the round trip in `trips`, at least 0.

    The delay is unknown (None) without a connection, a round trip or both times; for requests of more than one flight;
    and on an H2 or H3 connection on which another response was arriving, since the response may have been ready and
    waiting. Waiting in the network or for the crawler's CPU cannot be told apart and counts as server delay.
    """
    multiplexed = {one["id"]: one["protocol"] != HTTP1 for one in connections}
    neighbours: dict[int, list[Row]] = collections.defaultdict(list)
    for row in responses:
        if multiplexed.get(row["connection_id"]):
            neighbours[row["connection_id"]].append(row)

    def delay_of(row: Row) -> int | None:
        first_us = row["first_byte_us"]
        if (
            row["connection_id"] not in trips
            or row["request_sent_us"] is None
            or first_us is None
            or (row.get("request_body_bytes") or 0) > FLIGHT_BYTES
            or any(arriving(other, at_us=first_us) for other in neighbours[row["connection_id"]])
        ):
            return None
        waited: int = first_us - row["request_sent_us"]
        return max(0, waited - trips[row["connection_id"]])

    return {row["id"]: delay_of(row) for row in responses}


def arriving(response: Row, *, at_us: int) -> bool:
    """Return whether the response began before `at_us` and had not ended; without a known end it counts as arriving."""
    first, last = response["first_byte_us"], response["last_byte_us"]
    return first is not None and first < at_us and (last is None or last >= at_us)

"""Server delays: time from request to first byte less the round trip, as far as it is known."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row: TypeAlias = "Mapping[str, Any]"

FLIGHT_BYTES = 14_000
"""Largest request body that is sent in one flight with its header: about ten segments."""

TCP = ("http/1.1", "h2")
"""Protocols over TCP, whose handshake measures the round trip; QUIC's includes cryptography."""


def server_delays(connections: Sequence[Row], responses: Sequence[Row]) -> dict[int, int | None]:
    """Server delay in microseconds by response id: request to first byte, less one round trip, at least 0.

    The round trip is the fastest TCP handshake of the visit with the address. The delay is unknown (None) without a
    connection, a handshake or both times; over QUIC; for requests of more than one flight; and on an H2 connection on
    which another response was arriving, since the response may have been ready and waiting. Waiting in the network or
    for the crawler's CPU cannot be told apart and counts as server delay.
    """
    trips: dict[str, int] = {}
    for one in connections:
        if one["protocol"] in TCP and one["opened_us"] is not None and one["connected_us"] is not None:
            trip = one["connected_us"] - one["opened_us"]
            trips[one["remote_address"]] = min(trip, trips.get(one["remote_address"], trip))
    by_id = {one["id"]: one for one in connections}
    neighbours: dict[int, list[Row]] = collections.defaultdict(list)
    for row in responses:
        if row["connection_id"] in by_id:
            neighbours[row["connection_id"]].append(row)

    def delay_of(row: Row) -> int | None:
        connection = by_id.get(row["connection_id"])
        if (
            connection is None
            or connection["protocol"] not in TCP
            or connection["remote_address"] not in trips
            or row["request_sent_us"] is None
            or row["first_byte_us"] is None
            or (row.get("request_body_bytes") or 0) > FLIGHT_BYTES
        ):
            return None
        if connection["protocol"] == "h2" and any(
            arriving(other, at_us=row["first_byte_us"]) for other in neighbours[row["connection_id"]]
        ):
            return None
        waited: int = row["first_byte_us"] - row["request_sent_us"]
        return max(0, waited - trips[connection["remote_address"]])

    return {row["id"]: delay_of(row) for row in responses}


def arriving(response: Row, *, at_us: int) -> bool:
    """Return whether the response began before `at_us` and had not ended; without a known end it counts as arriving."""
    first, last = response["first_byte_us"], response["last_byte_us"]
    return first is not None and first < at_us and (last is None or last >= at_us)

"""Think times: how long a server took to begin its answer beyond the round trip, as far as a crawl recorded it."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row: TypeAlias = "Mapping[str, Any]"

FLIGHT_BYTES = 14_000
"""Of a request's body, what leaves in one flight with its header: ten segments."""

TCP = ("http/1.1", "h2")
"""Protocols whose connections tell a round trip: QUIC's handshake is its cryptography's too."""


def server_delays(connections: Sequence[Row], responses: Sequence[Row]) -> dict[int, int | None]:
    """Microseconds by response: from the request's sending to the first byte, less one round trip, at least 0.

    The round trip is the quickest TCP handshake of the visit with that address. Unknown (None) is what has no
    connection or lacks a time, its own or a handshake's, what came over QUIC, and what began on an H2 connection
    while another response was arriving there: it may have been ready and awaited its turn. Neither is it known where
    the request took more than a flight. What waited behind others in the network or for the crawler's processor counts as
    thinking: nobody can tell.
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

    def thinking(row: Row) -> int | None:
        connection = by_id.get(row["connection_id"])
        if (
            connection is None
            or connection["protocol"] not in TCP
            or connection["remote_address"] not in trips
        ):
            return None
        if row["request_sent_us"] is None or row["first_byte_us"] is None:
            return None
        if (row.get("request_body_bytes") or 0) > FLIGHT_BYTES:
            return None
        if connection["protocol"] == "h2" and any(
            arriving(other, at_us=row["first_byte_us"]) for other in neighbours[row["connection_id"]]
        ):
            return None
        waited: int = row["first_byte_us"] - row["request_sent_us"]
        return max(0, waited - trips[connection["remote_address"]])

    return {row["id"]: thinking(row) for row in responses}


def arriving(response: Row, *, at_us: int) -> bool:
    """Whether it had begun before and had not ended before; without an end it may have been at any time since."""
    first, last = response["first_byte_us"], response["last_byte_us"]
    return first is not None and first < at_us and (last is None or last >= at_us)

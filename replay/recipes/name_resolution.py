"""Name resolution: how long the resolver of a crawl or a recording needed for the hosts of a page, beyond the round trip to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"


def resolver_delays(connections: Sequence[Row], responses: Sequence[Row]) -> dict[str, int | None]:
    """The resolver's own time in µs for each host of a visit that tells it; None for a host whose address was known.

    The browser asked for a host's address between beginning the first request to it and opening the first connection
    (`resolution_us`). The shortest such time of the visit above 0 is taken for the round trip to the crawl's resolver: a replay has
    another path. So the rest is what the resolver needed, at least.
    """
    times = resolution_us(connections, responses)
    trip = min((time for time in times.values() if time > 0), default=0)
    return {host: time - trip if time > 0 else None for host, time in times.items()}


def resolution_us(connections: Sequence[Row], responses: Sequence[Row]) -> dict[str, int]:
    """Time in µs from the beginning of the first request to a host until the first packet to it, by host.

    Hosts are left out whose first connection opened unseen, or whose first request began at an unknown time: the main document's,
    and those of responses of unknown origin. In crawls the time also contains whatever else held the connection back.
    """
    rows = {row["id"]: row for row in responses}
    openers: dict[int, Row] = {}
    for number in sorted(rows):
        openers.setdefault(rows[number]["connection_id"], rows[number])
    opened = sorted(
        (row for row in connections if row["opened_us"] is not None),
        key=lambda row: (row["opened_us"], row["id"]),
    )
    found: dict[str, int] = {}
    seen: set[str] = set()
    for row in opened:
        host = row["host"]
        if host is None or host in seen:
            continue
        seen.add(host)
        opener = openers.get(row["id"])
        began = None if opener is None else began_us(opener, rows)
        if began is not None:
            found[host] = max(0, row["opened_us"] - began)
    return found


def began_us(response: Row, rows: Mapping[int, Row]) -> int | None:
    """Time in µs at which the browser began a request, by its delay after the response that led to it; None if unknown."""
    leading = rows.get(response["redirected_from_id"] or response["initiator_id"] or 0)
    delay = response.get("browser_delay_first_byte_us")
    if leading is None or delay is None or leading["first_byte_us"] is None:
        return None
    return int(leading["first_byte_us"] + delay)

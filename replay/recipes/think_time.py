"""Think time: how long servers take to begin an answer, as recorded,
and by type of resource where it is not known."""

import collections
import statistics
from collections.abc import Iterable, Mapping, Sequence

from releases.slow_start import linux_flights
from replay.recipes.discovery import is_html
from replay.recipes.release_rows import Row
from replay.recipes.tls_records import RECORD_BYTES, RECORD_OVERHEAD_BYTES, record_runs
from schema.server_delay import server_delays, tcp_round_trips

USUAL_WINDOW = 10
"""Initial window, where a recorded server's is not known (RFC 6928)."""

PAGE, CALL, FILE = "page", "call", "file"
"""Kinds of answers by a server's work: HTML, calls of scripts, and what is likely to lie ready."""

CALLS = frozenset({"fetch", "xhr", "other", "worker"})


def kind_of(row: Row) -> str:
    if is_html(row):
        return PAGE
    return CALL if row.get("resource_type") in CALLS else FILE


def think_times(connections: Sequence[Row], responses: Sequence[Row]) -> dict[int, int | None]:
    """Return a visit's think times in µs by response id.

    It is the crawl's server delay, else computed from its times, less the round trips that the first TLS
    record of a connection needed beyond the first: the browser sees a first byte only then, and a replay of
    records takes them again.
    """
    by_id = {row["id"]: row for row in connections}
    trips: Mapping[int, int]
    if any(row.get("round_trip_us") is not None for row in connections):
        trips = {
            row["id"]: row["round_trip_us"] or 0 for row in responses if row["round_trip_us"] is not None
        }
        delays = {row["id"]: row["server_delay_us"] for row in responses}
    else:
        by_connection = tcp_round_trips(connections)
        trips = {row["id"]: by_connection.get(row["connection_id"], 0) for row in responses}
        delays = server_delays(connections, responses, by_connection)
    first: dict[int | None, int] = {}
    for row in sorted(responses, key=lambda row: int(row["id"])):
        first.setdefault(row["connection_id"], row["id"])
    openers = set(first.values())

    def think(row: Row) -> int | None:
        delay = delays[row["id"]]
        if delay is None:
            return None
        if row["id"] not in openers:
            return int(delay)
        return max(0, int(delay) - record_trips(by_id[row["connection_id"]], row) * trips.get(row["id"], 0))

    return {row["id"]: think(row) for row in responses}


def record_trips(connection: Row, response: Row) -> int:
    """Return the round trips beyond the first in which the first TLS record arrives.

    >>> tls = {"tls_version": "TLS 1.3"}
    >>> record_trips(tls, {"wire_bytes": 9_000}), record_trips(tls, {"wire_bytes": 90_000})
    (0, 1)
    """
    if connection["tls_version"] is None or not response["wire_bytes"]:
        return 0
    runs = record_runs(connection.get("first_record_bytes"))
    record = min(runs[0][1] if runs else RECORD_BYTES, response["wire_bytes"]) + RECORD_OVERHEAD_BYTES
    before = (connection.get("tls_ticket_bytes") or 0) + (connection.get("frame_bytes") or 0)
    return linux_flights(record + before, iw=window_of(connection)) - 1


def window_of(connection: Row) -> int:
    """Return a server's initial window in segments: the crawl's, else the usual one or a larger lower bound.

    >>> exact = {"initial_window_segments": 4, "initial_window_unknown": None}
    >>> window_of(exact), window_of(exact | {"initial_window_unknown": "small_response"}), window_of({})
    (4, 10, 10)
    """
    segments = connection.get("initial_window_segments") or 0
    is_exact = segments and connection.get("initial_window_unknown") is None
    return int(segments) if is_exact else max(USUAL_WINDOW, int(segments))


def usual_think_times(delays: Iterable[tuple[str, int | None]]) -> dict[str, int]:
    """Return the median think time of each kind in µs; a kind without any has that of all.

    >>> usual_think_times([("page", 90_000), ("file", 2_000), ("file", None), ("file", 4_000)])
    {'page': 90000, 'call': 4000, 'file': 3000}
    """
    times: dict[str, list[int]] = collections.defaultdict(list)
    for kind, think_us in delays:
        if think_us is not None:
            times[kind].append(think_us)
    every = [time for kind_times in times.values() for time in kind_times]
    if not every:
        return dict.fromkeys((PAGE, CALL, FILE), 0)
    return {kind: round(statistics.median(times[kind] or every)) for kind in (PAGE, CALL, FILE)}

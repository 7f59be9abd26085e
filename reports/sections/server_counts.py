"""The report's section on what servers do: their initial windows and first flights,
as captured packets show them."""

from typing import Any

import duckdb

from releases.catalogue import Release
from releases.measures import open_tables
from schema.vocabulary import INITIAL_WINDOW_UNKNOWN

# Connections of which packets could tell something: with a response, and captured.
SEEN = """
CREATE TEMP TABLE seen AS
SELECT coalesce(host, remote_address) AS host, protocol = 'h3' AS is_quic, first_flight_bytes, first_flight_packets,
       initial_window_segments AS segments, initial_window_unknown AS unknown
FROM connection SEMI JOIN studied USING (visit_id)
WHERE response_count > 0 AND (initial_window_segments IS NOT NULL OR initial_window_unknown IS NOT NULL)
"""  # noqa: E501

WINDOWS = """
SELECT segments, count(*) FILTER (unknown IS NULL) AS exact,
       count(DISTINCT host) FILTER (unknown IS NULL) AS hosts, count(*) FILTER (unknown IS NOT NULL) AS at_least
FROM seen WHERE segments IS NOT NULL GROUP BY segments ORDER BY segments
"""  # noqa: E501

REASONS = """
SELECT unknown, count(*) AS connections FROM seen WHERE unknown IS NOT NULL GROUP BY unknown ORDER BY connections DESC, unknown
"""  # noqa: E501

FLIGHTS = """
SELECT is_quic, count(*) AS connections, quantile_disc(first_flight_bytes, [0.1, 0.5, 0.9]) AS size,
       quantile_disc(first_flight_packets, [0.1, 0.5, 0.9]) AS packets
FROM seen WHERE first_flight_bytes IS NOT NULL GROUP BY is_quic ORDER BY is_quic
"""


def servers_section(release: Release) -> dict[str, Any] | None:
    """Connections by initial window, by the reason why it is unknown, and by the size of the first flight.

    A host counts once for each exact window that it was seen with. None if no packets were captured.
    """
    with open_tables(release.path) as database:
        database.execute(SEEN)
        windows = _rows(database, WINDOWS)
        reasons = _rows(database, REASONS)
        flights = _rows(database, FLIGHTS)
    if not windows:
        return None
    exact = sum(one["exact"] for one in windows)
    return {
        "exact": exact,
        "bounded": sum(one["at_least"] for one in windows),
        "windows": [
            {**one, "exact_percent": 100 * one["exact"] / exact if exact else None} for one in windows
        ],
        "unknown": [{**one, "definition": INITIAL_WINDOW_UNKNOWN.get(one["unknown"], "")} for one in reasons],
        "first_flights": [
            {
                "transport": "QUIC" if one["is_quic"] else "TCP",
                "connections": one["connections"],
                **{
                    f"{name}_p{percent}": value
                    for name in ("size", "packets")
                    for percent, value in zip((10, 50, 90), one[name], strict=True)
                },
            }
            for one in flights
        ],
    }


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = database.execute(query)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

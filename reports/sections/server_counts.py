"""The report's section on what servers do: their initial windows and first flights,
as captured packets show them."""

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

from releases.catalogue import Release
from releases.initial_windows import Kind, WindowDistribution, window_distributions
from releases.measures import open_tables
from schema.vocabulary import INITIAL_WINDOW_UNKNOWN

# Connections of which packets could tell something: with a response, in a release of a crawl with a capture.
SEEN = """
CREATE TEMP TABLE seen AS
SELECT coalesce(host, remote_address) AS host, protocol = 'h3' AS is_quic, first_flight_bytes, first_flight_packets,
       initial_window_segments AS segments, initial_window_unknown AS unknown
FROM connection SEMI JOIN studied USING (visit_id)
WHERE response_count > 0 AND (initial_window_segments IS NOT NULL OR initial_window_unknown IS NOT NULL)
"""  # noqa: E501

EXACT = """
SELECT segments, count(*) AS connections, count(DISTINCT host) AS hosts
FROM seen WHERE unknown IS NULL GROUP BY segments ORDER BY segments
"""

REASONS = """
SELECT unknown, count(*) AS connections FROM seen WHERE unknown IS NOT NULL GROUP BY unknown ORDER BY connections DESC, unknown
"""  # noqa: E501

FLIGHTS = """
SELECT is_quic, count(*) AS connections, quantile_disc(first_flight_bytes, [0.1, 0.5, 0.9]) AS size,
       quantile_disc(first_flight_packets, [0.1, 0.5, 0.9]) AS packets
FROM seen WHERE first_flight_bytes IS NOT NULL GROUP BY is_quic ORDER BY is_quic
"""


def servers_section(release: Release) -> dict[str, Any] | None:
    """The distribution of initial windows, connections by the reason why a window is not exact,
    and the first flight's sizes.

    A host counts once for each exact window that it was seen with. None if no packets were captured.
    """
    with open_tables(release.path) as database:
        distributions = window_distributions(database)
        database.execute(SEEN)
        exact = {row["segments"]: row for row in _rows(database, EXACT)}
        reasons = _rows(database, REASONS)
        flights = _rows(database, FLIGHTS)
    if not distributions or not distributions["all"].known:
        return None
    together = distributions["all"]
    return {
        "exact": together.exact,
        "bounded": together.bounded,
        "at_least": together.at_least,
        "windows": list(_windows(distributions, exact)),
        "at_most": [
            {
                "segments": segments,
                **{
                    name: dict(
                        zip(("lower", "upper"), (100 * end for end in one.at_most(segments)), strict=True)
                    )
                    for name, one in distributions.items()
                },
            }
            for segments in sorted({share.most for share in together.shares if share.most is not None})
        ],
        "unknown": [
            {**reason, "definition": INITIAL_WINDOW_UNKNOWN.get(reason["unknown"], "")} for reason in reasons
        ],
        "first_flights": [
            {
                "transport": "QUIC" if flight["is_quic"] else "TCP",
                "connections": flight["connections"],
                **{
                    f"{name}_p{percent}": value
                    for name in ("size", "packets")
                    for percent, value in zip((10, 50, 90), flight[name], strict=True)
                },
            }
            for flight in flights
        ],
    }


def _windows(
    distributions: Mapping[Kind, WindowDistribution], exact: Mapping[int, Mapping[str, int]]
) -> Iterator[dict[str, Any]]:
    """The intervals that hold a share of all connections, with those of TLS and of clear text,
    and the exact ones of the window."""
    apart = {
        name: {(share.least, share.most): share.share for share in one.shares}
        for name, one in distributions.items()
    }
    for share in distributions["all"].shares:
        seen = exact.get(share.least, {}) if share.least == share.most else {}
        yield {
            "window": share.label,
            "least": share.least,
            "most": share.most,
            "percent": 100 * share.share,
            **{
                f"{name}_percent": 100 * apart[name].get((share.least, share.most), 0.0)
                if name in apart
                else None
                for name in ("tls", "clear")
            },
            "exact": seen.get("connections", 0),
            "hosts": seen.get("hosts", 0),
        }


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = database.execute(query)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

"""What servers do: their initial windows and first flights, as captured packets show them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import duckdb
from typing_extensions import TypedDict

from releases.catalogue import Release
from releases.formatting import grouped, quantity, stated
from releases.initial_windows import Kind, WindowDistribution, window_distributions
from releases.measures import open_tables
from reports.sections.shape import Column, Figure, Table
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


class WindowFacts(TypedDict):
    """An interval of windows with its share of all connections, of those after TLS and in clear text."""

    window: str
    least: int
    most: int | None
    percent: float
    tls_percent: float | None
    clear_percent: float | None
    exact: int
    hosts: int


class BoundsFacts(TypedDict):
    """The least and the most that a share can be, in per cent."""

    lower: float
    upper: float


class UnknownFacts(TypedDict):
    """The connections whose window is not exact for a reason."""

    unknown: str
    connections: int
    definition: str


class Quantiles(TypedDict):
    """Quantiles of first flights, in bytes and packets."""

    size_p10: int
    size_p50: int
    size_p90: int
    packets_p10: int
    packets_p50: int
    packets_p90: int


class FirstFlightFacts(Quantiles):
    """First flights over a transport."""

    transport: str
    connections: int


class ServersFacts(TypedDict):
    """The part `servers` of report.json."""

    exact: int
    bounded: int
    at_least: int
    windows: list[WindowFacts]
    at_most: list[dict[str, int | BoundsFacts]]
    unknown: list[UnknownFacts]
    first_flights: list[FirstFlightFacts]


def servers_section(release: Release) -> ServersFacts | None:
    """Count initial windows, reasons why one is not exact, and first flights.

    A host counts once for each exact window seen. None without packets.
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
                    name: BoundsFacts(lower=100 * lower, upper=100 * upper)
                    for name, distribution in distributions.items()
                    for lower, upper in [distribution.at_most(segments)]
                },
            }
            for segments in sorted({share.most for share in together.shares if share.most is not None})
        ],
        "unknown": [
            {
                "unknown": reason["unknown"],
                "connections": reason["connections"],
                "definition": INITIAL_WINDOW_UNKNOWN.get(reason["unknown"], ""),
            }
            for reason in reasons
        ],
        "first_flights": [
            {
                "transport": "QUIC" if flight["is_quic"] else "TCP",
                "connections": flight["connections"],
                **cast(
                    "Quantiles",
                    {
                        f"{name}_p{percent}": value
                        for name in ("size", "packets")
                        for percent, value in zip((10, 50, 90), flight[name], strict=True)
                    },
                ),
            }
            for flight in flights
        ],
    }


def _windows(
    distributions: Mapping[Kind, WindowDistribution], exact: Mapping[int, Mapping[str, int]]
) -> Iterator[WindowFacts]:
    """Yield the intervals that hold a share of all, of TLS, of clear text, and of exact windows."""
    shares = {
        name: {(share.least, share.most): share.share for share in distribution.shares}
        for name, distribution in distributions.items()
    }

    def percent(name: Kind, window: tuple[int, int | None]) -> float | None:
        return 100 * shares[name].get(window, 0.0) if name in shares else None

    for share in distributions["all"].shares:
        seen = exact.get(share.least, {}) if share.least == share.most else {}
        yield {
            "window": share.label,
            "least": share.least,
            "most": share.most,
            "percent": 100 * share.share,
            "tls_percent": percent("tls", (share.least, share.most)),
            "clear_percent": percent("clear", (share.least, share.most)),
            "exact": seen.get("connections", 0),
            "hosts": seen.get("hosts", 0),
        }


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    result = database.execute(query)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


QUERY = (
    "SELECT tls_version IS NOT NULL, initial_window_segments, initial_window_most_segments, count(*) FROM "
    "'connection.parquet' WHERE initial_window_segments IS NOT NULL GROUP BY ALL"
)
"""The bounds of which releases/initial_windows.py makes the distribution."""


LEAST_PERCENT = 1.0

COLUMNS = (
    Column(id="window", title="segments", kind="text"),
    Column(id="percent", title="share of connections", unit="%"),
    Column(id="tls_percent", title="after TLS", unit="%"),
    Column(id="clear_percent", title="in clear text", unit="%"),
    Column(id="exact", title="connections, exact", kind="count"),
    Column(id="hosts", title="hosts, exact", kind="count"),
)


def servers_parts(servers: ServersFacts | None) -> Iterator[tuple[Figure, Table, Table]]:
    if servers is None:
        return
    rows = tuple(
        {name: value for name, value in window.items() if name not in ("least", "most")}
        for window in servers["windows"]
    )
    known = servers["exact"] + servers["bounded"] + servers["at_least"]
    first = max(servers["windows"], key=lambda window: window["percent"])
    yield (
        Figure(
            id="initial_windows",
            title=f"{quantity(first['percent'], '%', 2)} of connections to servers begin with "
            f"{first['window']} segments",
            caption="Share of TCP connections by the window that captured packets show; windows of less than "
            f"{stated(LEAST_PERCENT, '%')} are in the table.",
            drawing="dots",
            x="percent",
            y="window",
            columns=COLUMNS,
            rows=tuple(
                row
                for row, window in zip(rows, servers["windows"], strict=True)
                if window["percent"] >= LEAST_PERCENT
            ),
            query=QUERY,
        ),
        Table(
            id="windows",
            is_folded=True,
            title="Initial windows of servers",
            columns=COLUMNS,
            rows=rows,
            query=QUERY,
            notes=(
                f"Of {grouped(known)} connections the window is exact on {grouped(servers['exact'])}, "
                f"between two bounds on {grouped(servers['bounded'])}, and at least what was seen on "
                f"{grouped(servers['at_least'])}; the shares are the likeliest for all together "
                "(Turnbull).",
            ),
        ),
        flights_table(servers),
    )


def flights_table(servers: ServersFacts) -> Table:
    return Table(
        id="first-flights",
        is_folded=True,
        title="First flight of the first response on a connection",
        columns=(
            Column(id="transport", title="transport", kind="text"),
            Column(id="connections", title="connections", kind="count"),
            *(
                Column(id=f"{name}_p{percent}", title=f"{title}, p{percent}", kind="count")
                for name, title in (("size", "bytes"), ("packets", "packets"))
                for percent in (10, 50, 90)
            ),
        ),
        rows=tuple(map(dict, servers["first_flights"])),
        query="SELECT protocol = 'h3', quantile_disc(first_flight_bytes, [0.1, 0.5, 0.9]) FROM "
        "'connection.parquet' GROUP BY 1",
    )

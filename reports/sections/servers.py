"""What servers do: their initial windows and first flights, as captured packets show them."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.formatting import grouped, quantity, stated
from reports.sections.shape import Column, Figure, Table

QUERY = (
    "SELECT tls_version IS NOT NULL, initial_window_segments, initial_window_most_segments, count(*) FROM "
    "'connection.parquet' WHERE initial_window_segments IS NOT NULL GROUP BY ALL"
)
"""The bounds that releases/initial_windows.py makes the distribution of."""


LEAST_PERCENT = 1.0
"""Least share of the connections that a window in the figure has."""

COLUMNS = (
    Column(id="window", title="segments", kind="text"),
    Column(id="percent", title="share of connections", unit="%"),
    Column(id="tls_percent", title="after TLS", unit="%"),
    Column(id="clear_percent", title="in clear text", unit="%"),
    Column(id="exact", title="connections, exact", kind="count"),
    Column(id="hosts", title="hosts, exact", kind="count"),
)


def servers_parts(servers: Mapping[str, Any] | None, *, source: str) -> Iterator[tuple[Figure, Table, Table]]:
    """Yield the figure and the tables from the content's servers; nothing if no packets were captured."""
    if servers is None:
        return
    rows = tuple({column.id: window[column.id] for column in COLUMNS} for window in servers["windows"])
    known = servers["exact"] + servers["bounded"] + servers["at_least"]
    first = max(rows, key=lambda row: float(row["percent"]))
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
            rows=tuple(row for row in rows if row["percent"] >= LEAST_PERCENT),
            source=source,
            query=QUERY,
        ),
        Table(
            id="windows",
            is_folded=True,
            title="Initial windows of servers",
            columns=COLUMNS,
            rows=rows,
            source=source,
            query=QUERY,
            notes=(
                f"Of {grouped(known)} connections the window is exact on {grouped(servers['exact'])}, "
                f"between two bounds on {grouped(servers['bounded'])}, and at least what was seen on "
                f"{grouped(servers['at_least'])}; the shares are the likeliest for all together "
                "(Turnbull).",
            ),
        ),
        flights_table(servers, source),
    )


def flights_table(servers: Mapping[str, Any], source: str) -> Table:
    """First flights by transport."""
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
        rows=tuple(servers["first_flights"]),
        source=source,
        query="SELECT protocol = 'h3', quantile_disc(first_flight_bytes, [0.1, 0.5, 0.9]) FROM "
        "'connection.parquet' GROUP BY 1",
    )

"""What servers do: their initial windows and first flights, as captured packets show them."""

from collections.abc import Mapping
from typing import Any

from releases.formatting import grouped
from reports.sections.shape import Column, Figure, Section, Table, not_measured

TITLE = "What servers do"


def servers_table_section(servers: Mapping[str, Any] | None, *, source: str) -> Section:
    """The section from the content's servers, or that no packets were captured."""
    lead = (
        "How many segments a server sends before the first acknowledgment comes back, "
        "read from captured packets."
    )
    if servers is None:
        return not_measured(
            "servers",
            TITLE,
            lead,
            "its packets were not captured. Those of a crawl by firstflight are, and fill this section.",
        )
    columns = (
        Column(id="segments", title="segments", kind="count"),
        Column(id="exact", title="connections, exact", kind="count"),
        Column(id="exact_percent", title="share", unit="%"),
        Column(id="hosts", title="hosts, exact", kind="count"),
        Column(id="at_least", title="connections, at least this", kind="count"),
    )
    rows = tuple({one.id: window[one.id] for one in columns} for window in servers["windows"])
    query = (
        "SELECT initial_window_segments, count(*) FROM 'connection.parquet' WHERE initial_window_unknown IS "
        "NULL GROUP BY 1 ORDER BY 1"
    )
    return Section(
        id="servers",
        title=TITLE,
        lead=f"{lead} The window is exact on {grouped(servers['exact'])} connections: there the server "
        "stopped, though it had more to send, until an acknowledgment reached it. On "
        f"{grouped(servers['bounded'])} more it is at least as large as what was seen.",
        figures=(
            Figure(
                id="initial_windows",
                title="Initial windows that servers use.",
                caption="Share of the connections whose window is exact, by TCP segments.",
                drawing="bars",
                x="segments",
                y="exact_percent",
                columns=columns,
                rows=tuple(row for row in rows if row["exact"]),
                source=source,
                query=query,
            ),
        ),
        tables=(
            Table(
                id="windows",
                title="Initial windows of servers",
                columns=columns,
                rows=rows,
                source=source,
                query=query,
            ),
            flights_table(servers, source),
            unknown_table(servers, source),
        ),
    )


def unknown_table(servers: Mapping[str, Any], source: str) -> Table:
    """Connections whose window is not exact, by the reason."""
    return Table(
        id="windows-unknown",
        title="Why a window is not exact",
        columns=(
            Column(id="reason", title="reason", kind="text"),
            Column(id="connections", title="connections", kind="count"),
        ),
        rows=tuple(
            {"reason": one["definition"] or one["unknown"], "connections": one["connections"]}
            for one in servers["unknown"]
        ),
        source=source,
        query="SELECT initial_window_unknown, count(*) FROM 'connection.parquet' GROUP BY 1 ORDER BY 2 DESC",
    )


def flights_table(servers: Mapping[str, Any], source: str) -> Table:
    """First flights by transport."""
    return Table(
        id="first-flights",
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

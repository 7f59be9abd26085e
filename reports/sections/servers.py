"""What servers do: their initial windows and first flights, as captured packets show them."""

from collections.abc import Mapping
from typing import Any

from releases.formatting import grouped
from reports.sections.shape import Column, Figure, Section, Table, not_measured

TITLE = "What servers do"
QUERY = (
    "SELECT tls_version IS NOT NULL, initial_window_segments, initial_window_most_segments, count(*) FROM "
    "'connection.parquet' WHERE initial_window_segments IS NOT NULL GROUP BY ALL"
)
"""The bounds that releases/initial_windows.py makes the distribution of."""


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
        Column(id="window", title="segments", kind="text"),
        Column(id="percent", title="share of connections", unit="%"),
        Column(id="tls_percent", title="after TLS", unit="%"),
        Column(id="clear_percent", title="in clear text", unit="%"),
        Column(id="exact", title="connections, exact", kind="count"),
        Column(id="hosts", title="hosts, exact", kind="count"),
    )
    rows = tuple({one.id: window[one.id] for one in columns} for window in servers["windows"])
    known = servers["exact"] + servers["bounded"] + servers["at_least"]
    return Section(
        id="servers",
        title=TITLE,
        lead=f"{lead} Of {grouped(known)} connections the window is exact on {grouped(servers['exact'])}: "
        "there the server stopped, though it had more to send, until an acknowledgment reached it. On "
        f"{grouped(servers['bounded'])} it lies between two bounds, and on {grouped(servers['at_least'])} "
        "it is at least as large as what was seen. The shares are the likeliest for all of these together "
        "(Turnbull's estimate, apart for TLS and clear text), "
        "since small windows after TLS are never exact.",
        figures=(
            Figure(
                id="initial_windows",
                title="Initial windows that servers use.",
                caption="Share of the connections by TCP segments, as their bounds make it likeliest.",
                drawing="bars",
                x="window",
                y="percent",
                columns=columns,
                rows=rows,
                source=source,
                query=QUERY,
            ),
        ),
        tables=(
            Table(
                id="windows",
                title="Initial windows of servers",
                columns=columns,
                rows=rows,
                source=source,
                query=QUERY,
            ),
            Table(
                id="windows-at-most",
                title="Share of connections whose window has at most so many segments",
                columns=(
                    Column(id="segments", title="segments", kind="count"),
                    *(
                        Column(id=f"{name}_{end}", title=f"{title}, {word}", unit="%")
                        for name, title in (("all", "all"), ("tls", "after TLS"), ("clear", "in clear text"))
                        for end, word in (("lower", "at least"), ("upper", "at most"))
                    ),
                ),
                rows=tuple(
                    {
                        "segments": one["segments"],
                        **{
                            f"{name}_{end}": one.get(name, {}).get(end)
                            for name in ("all", "tls", "clear")
                            for end in ("lower", "upper")
                        },
                    }
                    for one in servers["at_most"]
                ),
                source=source,
                query=QUERY,
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

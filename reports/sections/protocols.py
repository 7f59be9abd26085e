"""HTTP/2 and HTTP/3 against HTTP/1.1: how a page spreads over connections,
and what each connection carries."""

from typing import Any

from releases.catalogue import Release
from releases.measures import open_tables
from reports.sections.shape import Column, Section, Table, not_measured

QUERY = """
SELECT coalesce(c.protocol, 'unknown') AS protocol, count(*) AS connections,
       count(*) / count(DISTINCT (c.visit_id, coalesce(c.host, c.remote_address))) AS connections_a_host,
       avg(c.response_count) AS responses_a_connection,
       count(DISTINCT c.visit_id) AS pages
FROM connection AS c SEMI JOIN studied USING (visit_id) WHERE c.response_count > 0 GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: E501

NAMES = {"h2": "HTTP/2", "h3": "HTTP/3", "http/1.1": "HTTP/1.1"}


def protocols_section(release: Release, *, source: str) -> Section:
    """Connections by protocol."""
    title = "HTTP/2 against six connections"
    lead = (
        "Over HTTP/1.1 a browser opens up to six connections to a host, and each begins with a window of its "
        "own. HTTP/2 and HTTP/3 share one: the same window then carries a smaller part of a page."
    )
    rows = protocol_rows(release)
    if not rows:
        return not_measured("protocols", title, lead, "it has no connection with a response.")
    return Section(
        id="protocols",
        title=title,
        lead=lead,
        tables=(
            Table(
                id="by-protocol",
                title="Connections by protocol",
                columns=(
                    Column(id="protocol", title="protocol", kind="text"),
                    Column(id="connections", title="connections", kind="count"),
                    Column(id="connections_a_host", title="connections to a host of a page"),
                    Column(id="responses_a_connection", title="responses on a connection"),
                    Column(id="pages", title="pages", kind="count"),
                ),
                rows=tuple(rows),
                source=source,
                query=QUERY.strip(),
            ),
        ),
    )


def protocol_rows(release: Release) -> list[dict[str, Any]]:
    """Connections with a response, by protocol."""
    with open_tables(release.path) as database:
        found = database.execute(QUERY)
        names = [column[0] for column in found.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [{**row, "protocol": NAMES.get(row["protocol"], row["protocol"])} for row in rows]

"""How few hosts make the tail: those that send most of the responses that ten segments do not hold."""

from __future__ import annotations

from typing import Any

from releases.catalogue import Release
from releases.measures import open_tables
from reports.sections.shape import Column, Section, Table, not_measured
from schema.recorded import is_recorded

TITLE = "Which hosts make the tail"

GROUPS = (1, 10, 100, 1000)
"""Numbers of hosts, the largest first, whose share the table has."""

QUERY = """
SELECT c.host, count(*) AS responses FROM response AS r JOIN connection AS c ON c.visit_id = r.visit_id AND c.id = r.connection_id
SEMI JOIN studied ON studied.visit_id = r.visit_id
WHERE r.wire_bytes > ? AND coalesce(r.is_complete, true) AND c.host IS NOT NULL GROUP BY c.host ORDER BY responses DESC, c.host
"""


def tail_section(release: Release, *, window_bytes: int, source: str) -> Section:
    """Share of the responses that are larger than a window, by number of hosts.

    Hosts have no names here, so that a report need not change when a site is erased; the query gives them.
    """
    lead = f"A few hosts can send most of the responses that are larger than the first flight, here {window_bytes:,} bytes."
    if is_recorded(release.manifest.crawl.kind):
        return not_measured("tail", TITLE, lead, "the recording has no names of hosts.")
    rows = tail_rows(release, window_bytes)
    if not rows:
        return not_measured("tail", TITLE, lead, "no response of a named host is larger.")
    return Section(
        id="tail",
        title=TITLE,
        lead=lead,
        tables=(
            Table(
                id="tail-hosts",
                title="Responses beyond the first flight by the hosts that send most of them",
                columns=(
                    Column(id="hosts", title="largest hosts", kind="count"),
                    Column(id="responses", title="their responses beyond it", kind="count"),
                    Column(id="share", title="share of all such responses", unit="%"),
                ),
                rows=tuple(rows),
                source=source,
                query=QUERY.strip(),
            ),
        ),
        notes=("Hosts are not assigned to content networks in this release, and a report names none.",),
    )


def tail_rows(release: Release, window_bytes: int) -> list[dict[str, Any]]:
    """Responses beyond a window of the largest hosts, and of all."""
    with open_tables(release.path) as database:
        counts = [count for _, count in database.execute(QUERY, [window_bytes]).fetchall()]
    groups = sorted({*(group for group in GROUPS if group < len(counts)), len(counts)}) if counts else []
    return [
        {"hosts": group, "responses": sum(counts[:group]), "share": 100 * sum(counts[:group]) / sum(counts)}
        for group in groups
    ]

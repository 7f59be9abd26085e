"""How few hosts, and blocks of addresses, make the tail:
those that send most of the responses that ten segments do not hold."""

import collections
import contextlib
import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any

from releases.catalogue import Release
from releases.formatting import grouped
from releases.measures import open_tables
from reports.sections.shape import Column, Figure, Section, Table, not_measured
from schema.recorded import is_recorded

TITLE = "Which hosts make the tail"

GROUPS = (1, 10, 100, 1000)
"""Numbers of hosts or blocks, the largest first, whose share a table has."""

QUERY = """
SELECT c.{by}, count(*) AS responses FROM response AS r JOIN connection AS c ON c.visit_id = r.visit_id AND c.id = r.connection_id
SEMI JOIN studied ON studied.visit_id = r.visit_id
WHERE r.wire_bytes > ? AND coalesce(r.is_complete, true) AND c.{by} IS NOT NULL GROUP BY c.{by} ORDER BY responses DESC, c.{by}
"""  # noqa: E501

BLOCK_BITS = {4: 24, 6: 48}
"""Leading bits of an address that its block has in common, by IP version:
the least that is routed on the Internet."""

NETWORKS_NOTE = (
    "Whose content network sends a response is not known: a crawl records neither the names that a host's "
    "name leads to (CNAME), nor the header Server, nor who holds an address. Blocks of addresses are the "
    "nearest: a network has many, so that as a rule even fewer networks than blocks send the same share. A "
    "report names no host and no block."
)


def tail_section(release: Release, *, window_bytes: int, source: str) -> Section:
    """Share of the responses that are larger than a window, by number of hosts and of blocks of addresses.

    Neither have names here, so that a report need not change when a site is erased; the queries give them.
    """
    lead = (
        "A few hosts can send most of the responses that are larger than the first flight, here "
        f"{grouped(window_bytes)} bytes."
    )
    if is_recorded(release.manifest.crawl.kind):
        return not_measured(
            "tail",
            TITLE,
            lead,
            "the recording has no names of hosts. A crawl by firstflight has them, and fills this section.",
        )
    hosts, addresses = (counts_by(release, column, window_bytes) for column in ("host", "remote_address"))
    if not hosts:
        return not_measured("tail", TITLE, lead, "no response of a named host is larger.")
    blocks = counts_of_blocks(addresses)
    tables = [tail_table("hosts", "hosts", [count for _, count in hosts], by="host", source=source)]
    if blocks:
        tables.append(tail_table("blocks", "blocks of addresses", blocks, by="remote_address", source=source))
    return Section(
        id="tail",
        title=TITLE,
        lead=lead,
        figures=tuple(map(tail_figure, tables)),
        tables=tuple(tables),
        notes=(NETWORKS_NOTE,),
    )


def tail_table(name: str, what: str, counts: Sequence[int], *, by: str, source: str) -> Table:
    """Share of the responses beyond the first flight by number of senders."""
    return Table(
        id=f"tail-{name}",
        title=f"Responses beyond the first flight by the {what} that send most of them",
        columns=(
            Column(id=name, title=f"largest {what}", kind="count"),
            Column(id="responses", title="their responses beyond it", kind="count"),
            Column(id="share", title="share of all such responses", unit="%"),
        ),
        rows=tuple(tail_rows(name, counts)),
        source=source,
        query=QUERY.format(by=by).strip(),
    )


def tail_figure(table: Table) -> Figure:
    """The shares of a table as bars."""
    return Figure(
        id=f"fig-{table.id}",
        title=f"What the {table.columns[0].title} send beyond the first flight.",
        caption="Share of all such responses that so many of the largest send.",
        drawing="bars",
        x=table.columns[0].id,
        y="share",
        columns=table.columns,
        rows=table.rows,
        source=table.source,
        query=table.query,
    )


def counts_by(release: Release, column: str, window_bytes: int) -> list[tuple[str, int]]:
    """Responses beyond a window by a column of their connection, the most first."""
    with open_tables(release.path) as database:
        found: list[tuple[str, int]] = database.execute(QUERY.format(by=column), [window_bytes]).fetchall()
    return found


def counts_of_blocks(addresses: Iterable[tuple[str, int]]) -> list[int]:
    """Responses by block of addresses, the most first; what is no address is left out.

    >>> counts_of_blocks([("192.0.2.1", 2), ("192.0.2.9", 3), ("2001:db8::1", 4), ("2001:db8:0:1::1", 4), ("", 1)])
    [8, 5]
    """  # noqa: E501
    found: collections.Counter[str] = collections.Counter()
    for address, count in addresses:
        with contextlib.suppress(ValueError):
            version = ipaddress.ip_address(address).version
            found[str(ipaddress.ip_network((address, BLOCK_BITS[version]), strict=False))] += count
    return sorted(found.values(), reverse=True)


def tail_rows(name: str, counts: Sequence[int]) -> list[dict[str, Any]]:
    """Responses beyond a window of the largest senders, and of all; `counts` has the largest first."""
    groups = sorted({*(group for group in GROUPS if group < len(counts)), len(counts)}) if counts else []
    return [
        {name: group, "responses": sum(counts[:group]), "share": 100 * sum(counts[:group]) / sum(counts)}
        for group in groups
    ]

"""HTTP/2 and HTTP/3 against HTTP/1.1: how a page spreads over connections,
and what each connection carries."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.catalogue import Release
from releases.measures import open_tables
from reports.sections.evidence import Evidence, on_pages, saved_percent
from reports.sections.http_arms import http_arms
from reports.sections.shape import Column, Section, Table, interval, not_measured

QUERY = """
SELECT coalesce(c.protocol, 'unknown') AS protocol, count(*) AS connections,
       count(*) / count(DISTINCT (c.visit_id, coalesce(c.host, c.remote_address))) AS connections_a_host,
       avg(c.response_count) AS responses_a_connection,
       count(DISTINCT c.visit_id) AS pages
FROM connection AS c SEMI JOIN studied USING (visit_id) WHERE c.response_count > 0 GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: E501

NAMES = {"h2": "HTTP/2", "h3": "HTTP/3", "http/1.1": "HTTP/1.1"}


OLD_BYTES = """
SELECT visit_id, coalesce(sum(wire_bytes) FILTER (protocol = 'http/1.1'), 0) / sum(wire_bytes) AS share
FROM response SEMI JOIN studied USING (visit_id) WHERE protocol IS NOT NULL GROUP BY visit_id HAVING sum(wire_bytes) > 0
"""  # noqa: E501

KINDS = ("HTTP/2 or HTTP/3 alone", "some responses over HTTP/1.1")


def protocols_section(
    release: Release, evidence: Evidence | None, arms: Mapping[str, Evidence], *, source: str
) -> Section:
    """Connections by protocol, gains by the pages' protocols, and the same pages over either version of HTTP.

    `evidence` is None without a replay; `arms` is empty where the versions were not replayed.
    """
    title = "HTTP/2 against six connections"
    lead = (
        "Over HTTP/1.1 a browser opens up to six connections to a host, and each begins with a window of its "
        "own. HTTP/2 and HTTP/3 share one: the same "
    )
    lead += "window then carries a smaller part of a page."
    rows = protocol_rows(release)
    if not rows:
        return not_measured("protocols", title, lead, "it has no connection with a response.")
    gains = () if evidence is None else (gains_table(release, evidence),)
    figure, table = http_arms(arms) if arms else (None, None)
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
            *gains,
            *([table] if table else []),
        ),
        figures=(figure,) if figure else (),
        notes=tuple(_notes(release, evidence, has_arms=bool(arms))),
    )


def _notes(release: Release, evidence: Evidence | None, *, has_arms: bool) -> Iterator[str]:
    if evidence is None:
        yield (
            f"What windows save by protocol needs a replay: `firstflight replay run --crawl {release.crawl}`."
        )
    else:
        yield (
            "Each page is replayed over the protocols that it was loaded over, so that the lines of the "
            "second table are different pages."
        )
    if not has_arms:
        yield (
            "The same pages over either version of HTTP were not replayed; "
            f"`firstflight replay run --crawl {release.crawl} --sensitivity` does, on a few pages."
        )


def gains_table(release: Release, evidence: Evidence) -> Table:
    """Page time saved by whether any byte of a page came over HTTP/1.1,
    of the responses whose size is known."""
    kinds = page_kinds(release)
    there = set(evidence.visits)
    return Table(
        id="gains-by-protocol",
        title=f"Page time saved against IW {evidence.incumbent}, by what the page's servers speak",
        columns=(
            Column(id="kind", title="pages", kind="text"),
            Column(id="pages", title="number", kind="count"),
            *(
                Column(id=f"iw{window}", title=f"IW {window}", unit="%", kind="interval")
                for window in evidence.windows
            ),
        ),
        rows=tuple(
            {
                "kind": name,
                "pages": len(visits),
                **{
                    f"iw{window}": interval(saved_percent(some, window, evidence.weights["average"]))
                    for window in evidence.windows
                },
            }
            for name in KINDS
            for visits in ({visit for visit, kind in kinds.items() if kind == name} & there,)
            for some in (on_pages(evidence, visits),)
        ),
        source=evidence.source,
        query=evidence.query,
        notes=("Unknown where a line has too few pages or loads over a network.",),
    )


def page_kinds(release: Release) -> dict[int, str]:
    """What each page's servers speak, one of KINDS by visit."""
    with open_tables(release.path) as database:
        shares = database.execute(OLD_BYTES).fetchall()
    return {visit: KINDS[share > 0] for visit, share in shares}


def protocol_rows(release: Release) -> list[dict[str, Any]]:
    """Connections with a response, by protocol."""
    with open_tables(release.path) as database:
        found = database.execute(QUERY)
        names = [column[0] for column in found.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [{**row, "protocol": NAMES.get(row["protocol"], row["protocol"])} for row in rows]

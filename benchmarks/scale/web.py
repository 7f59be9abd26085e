"""A made-up web: a list of any length, and what a crawler would see on each of its sites.

Pages are the bundled recorded ones, each size multiplied by a random factor, with hosts, addresses and paths
of their own. A site is the same whenever it is asked for.
"""

import dataclasses
import datetime
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from benchmarks.made_up_release import host_of
from crawler.sites.lists import Entry, Sites
from crawler.visit.attempt import WRITER_COLUMNS, Observation
from recordings.pages.sets import AUGUST_2025, SETS, read_set
from schema.tables import Base, Connection, Response, Visit
from storage.bulk_copy import column_names

BEGAN = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)

SPREAD = 0.25
"""Standard deviation of the logarithm of the factor that a recorded size is multiplied by."""

OUTCOMES = (("ok", 0.90), ("dns", 0.96), ("http_error", 0.98), ("connect", 0.99), ("timeout", 1.0))
"""Outcomes of sites, with the share of sites that have it or one before it: about those of public lists."""

OWN_SHARE = 0.3
"""Share of a page's other hosts that lie below the site's own domain."""

THIRD_PARTIES, TAIL = 40, 1.1
"""Scale and exponent of the numbers of third parties: few serve most pages, and new ones never cease
to come."""

OVERHEAD = 1.007
"""TCP payload per byte inside TLS."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One recorded page load, as rows that lack what is made up for each site."""

    visit: Mapping[str, Any]
    connections: list[dict[str, Any]]
    responses: list[dict[str, Any]]
    hosts: list[str]
    """Its hosts; the document's own is the first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Web:
    """Every made-up site."""

    pages: list[Page]

    @classmethod
    def read(cls) -> Self:
        """Read the recorded pages that sites are made of."""
        tables = read_set(SETS[AUGUST_2025]).tables
        rows: dict[int, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
            visit["id"]: ([], []) for visit in tables["visit"]
        }
        for place, (name, model) in enumerate((("connection", Connection), ("response", Response))):
            for row in tables[name]:
                rows[row["visit_id"]][place].append(_complete(model, row))
        return cls([_page(visit, *rows[visit["id"]]) for visit in tables["visit"] if all(rows[visit["id"]])])

    def visit(self, rank: int) -> Observation:
        """Return what a visit to the site of a rank sees."""
        random = np.random.default_rng([2026, rank])
        share = random.random()
        outcome = next(name for name, end in OUTCOMES if share < end)
        began = BEGAN + datetime.timedelta(seconds=rank)
        took = datetime.timedelta(seconds=float(random.gamma(4, 2)))
        made = {"outcome": outcome, "started_at": began, "ended_at": began + took, "received_bytes": 0}
        if outcome in {"dns", "connect"}:
            nothing = dict.fromkeys(name for name in column_names(Visit) if name not in WRITER_COLUMNS)
            failed = {"stop_reason": "failed", "scheme": "http", "hsts_upgrades": 0, "log_lines_lost": 0}
            return Observation(visit=nothing | failed | made, connections=[], responses=[])
        page = self.pages[int(random.integers(len(self.pages)))]
        hosts = dict(zip(page.hosts, _hosts(rank, len(page.hosts), random), strict=True))
        responses = list(_responses(page, rank, hosts, random))
        connections = list(_connections(page, responses, hosts, random))
        made["received_bytes"] = sum(row["received_bytes"] for row in connections)
        made["final_host"] = hosts[page.hosts[0]]
        made["status"] = 404 if outcome == "http_error" else 200
        return Observation(visit={**page.visit, **made}, connections=connections, responses=responses)


def site_list(sites: int) -> Sites:
    entries = tuple(Entry(rank, host_of(rank)) for rank in range(1, sites + 1))
    return Sites(id=f"made-up:{sites}", source="made-up", checksum=f"{sites:064}", entries=entries)


def _complete(model: type[Base], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with every column that a visit gives, null where the recording holds nothing."""
    return {name: row.get(name) for name in column_names(model) if name not in {"crawl_id", "visit_id"}}


def _page(
    visit: Mapping[str, Any], connections: list[dict[str, Any]], responses: list[dict[str, Any]]
) -> Page:
    defaults = {"stop_reason": "quiet", "hsts_upgrades": 0, "coverage": 1.0, "decrypted_coverage": 1.0}
    defaults |= {"log_lines_lost": 0, "unfiltered_egress": False}
    row = {name: visit.get(name) for name in column_names(Visit) if name not in WRITER_COLUMNS}
    own = visit["final_host"]
    others = {host for row in (*connections, *responses) if (host := row["host"]) and host != own}
    for connection in connections:
        opened = connection["opened_us"] or 0
        connected = max(connection["connected_us"] or 0, opened + 20_000)
        secured = max(connection["secured_us"] or 0, connected + 20_000)
        is_clear = connection["tls_version"] is None
        connection |= {
            "port": 80 if is_clear else 443,
            "opened_us": opened,
            "connected_us": connected,
            "secured_us": None if is_clear else secured,
            "last_byte_us": max(connection["last_byte_us"] or 0, secured),
            "tls_resumed": None if is_clear else False,
            "frame_bytes": 60 if connection["protocol"] == "h2" else 0,
        }
    return Page(
        visit={**row, **defaults},
        connections=connections,
        responses=responses,
        hosts=[own, *sorted(others)],
    )


def _hosts(rank: int, count: int, random: np.random.Generator) -> Iterator[str]:
    """Yield hosts of a page: the document's, then some below the site's domain, and third parties'."""
    site = host_of(rank)
    yield f"www.{site}"
    shares, parties = random.random(count), THIRD_PARTIES * (random.pareto(TAIL, count) + 1)
    for number in range(1, count):
        is_own = shares[number] < OWN_SHARE
        yield f"cdn{number}.{site}" if is_own else f"h{number}.party-{int(parties[number])}.example"


def _responses(
    page: Page, rank: int, hosts: Mapping[str, str], random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    factors = random.lognormal(0, SPREAD, len(page.responses)).tolist()
    names = random.integers(0, 1 << 62, len(page.responses)).tolist()
    for row, factor, name in zip(page.responses, factors, names, strict=True):
        made = {
            "host": hosts[row["host"]],
            "path": f"/{row['resource_type']}/{rank:x}/{name:016x}",
            "query_hash": f"{name:016x}" if name & 1 else None,
            "request_header_bytes": 300 + name % 400,
        }
        if row["wire_bytes"] is not None:
            body = row["body_bytes"]
            wire = round(row["wire_bytes"] * factor)
            made["wire_bytes"] = wire
            if body is not None:
                made["body_bytes"] = min(round(body * factor), wire)
                made["header_bytes"] = wire - made["body_bytes"]
        yield {**row, **made}


def _connections(
    page: Page,
    responses: list[dict[str, Any]],
    hosts: Mapping[str, str],
    random: np.random.Generator,
) -> Iterator[dict[str, Any]]:
    inside: dict[int | None, int] = {}
    for response in responses:
        number = response["connection_id"]
        inside[number] = inside.get(number, 0) + (response["wire_bytes"] or 0)
    flights = random.normal(3800, 600, len(page.connections)).clip(200).astype(int).tolist()
    ports = random.integers(32_768, 60_999, len(page.connections)).tolist()
    for row, flight, port in zip(page.connections, flights, ports, strict=True):
        decrypted = inside.get(row["id"], 0) + row["frame_bytes"]
        is_clear = row["tls_version"] is None
        tickets = 0 if is_clear else 2 * 255
        yield {
            **row,
            "host": hosts[row["host"]] if row["host"] else None,
            "remote_address": f"198.18.{port % 250}.{flight % 250}",
            "local_port": port,
            "decrypted_bytes": decrypted,
            "tls_handshake_bytes": None if is_clear else flight,
            "tls_ticket_bytes": None if is_clear else tickets,
            "received_bytes": decrypted if is_clear else flight + tickets + round(decrypted * OVERHEAD),
        }

"""A small made-up crawl as rows, whose sizes are arguments of the functions here."""

import dataclasses
import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from releases.catalogue import Release
from schema import http_caching
from schema.arrow import arrow_schema
from schema.crawls import CrawlName
from schema.tables import RELEASED, Base, Connection, Response, Visit
from storage.bulk_copy import column_names
from tests.factories.made_up_release import make_manifest

Row = dict[str, Any]

NOON = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)
FRESH = dataclasses.asdict(http_caching.read(200, {"cache-control": "max-age=3600", "age": "60"}))
NAME = CrawlName(month="2026-11", vantage="here", kind="localweb")


@dataclasses.dataclass(kw_only=True)
class MadeUp:
    """Rows by table."""

    crawl_id: int = 1
    site: list[Row] = dataclasses.field(default_factory=list)
    visit: list[Row] = dataclasses.field(default_factory=list)
    connection: list[Row] = dataclasses.field(default_factory=list)
    response: list[Row] = dataclasses.field(default_factory=list)

    @property
    def crawl(self) -> Row:
        """The row of the crawl itself, sealed."""
        return {
            "id": self.crawl_id,
            **dataclasses.asdict(NAME),
            "list_id": "made-up:1",
            "top": len(self.site),
            "attempts": 2,
            "budget_s": 30.0,
            "method_version": "1",
            "commit": "0123abc",
            "planned_at": NOON,
            "browser": "Chromium 156",
            "browser_built_on": NOON,
            "browser_flags": None,
            "user_agent": "firstflight",
            "client_hints": None,
            "user_agent_planned": None,
            "contact_url": None,
            "loads": 1,
            "inner_pages": 0,
            "optout_checksum": None,
            "optout_sites": None,
            "sealed_at": NOON,
        }

    @property
    def site_list(self) -> Row:
        return {
            "id": "made-up:1",
            "source": "made up",
            "checksum": "ab" * 32,
            "entries": 10,
            "fetched_at": NOON,
        }

    def add_visit(self, *, outcome: str = "ok", is_final: bool = True, host: str | None = None) -> int:
        """A visit to a site of its own, or a retry where the last visit was not final."""
        visit_id = len(self.visit) + 1
        rank: int
        retry = bool(self.visit) and not self.visit[-1]["is_final"]
        rank = self.visit[-1]["rank"] if retry else len(self.site) + 1
        host = host or f"site{rank}.test"
        if not retry:
            self.site.append(
                {
                    "crawl_id": self.crawl_id,
                    "rank": rank,
                    "host": host,
                    "attempts": 1,
                    "owner": None,
                    "lease_expires_at": None,
                    "final_visit_id": None,
                    "not_before": None,
                    "magnitude": None,
                }
            )
        if is_final:
            self.site[-1]["final_visit_id"] = visit_id
        self.visit.append(
            {
                "crawl_id": self.crawl_id,
                "id": visit_id,
                "rank": rank,
                "host": host,
                "attempt": 2 if retry else 1,
                "is_final": is_final,
                "outcome": outcome,
                "stop_reason": "quiet",
                "error": None,
                "scheme": "https",
                "status": 200,
                "main_response_id": 1,
                "final_scheme": "https",
                "final_host": host,
                "hsts_upgrades": 0,
                "started_at": NOON + datetime.timedelta(seconds=visit_id),
                "ended_at": NOON + datetime.timedelta(seconds=visit_id + 1),
                "load_us": 900_000,
                "received_bytes": 0,
                "coverage": 1.0,
                "decrypted_coverage": 1.0,
                "owner": "crawler-1",
                "page_kind": "home",
                "load": 1,
                "wall": None,
                "consent": None,
                "retry_after_s": None,
                "is_covered": True,
                "log_lines_lost": 0,
                "crawler_host": "here",
                "unfiltered_egress": True,
            }
        )
        return visit_id

    def add_connection(
        self,
        *,
        host: str | None = None,
        tls_handshake_bytes: int | None = None,
        tls_ticket_bytes: int = 0,
        frame_bytes: int = 0,
        record_bytes: int = 0,
        protocol: str | None = None,
        window: int | None = None,
        window_unknown: str | None = None,
        window_most: int | None = None,
    ) -> int:
        """A connection of the last visit, opened at 0, RTT 50 ms; over TLS if it has a TLS flight."""
        visit = self.visit[-1]
        tls = tls_handshake_bytes is not None
        number: int = 1 + sum(row["visit_id"] == visit["id"] for row in self.connection)
        received = frame_bytes + record_bytes + (tls_handshake_bytes or 0) + tls_ticket_bytes
        self.connection.append(
            {
                "crawl_id": self.crawl_id,
                "visit_id": visit["id"],
                "id": number,
                "host": host or visit["host"],
                "port": 443 if tls else 80,
                "remote_address": "127.0.1.1",
                "local_port": 40_000 + number,
                "protocol": protocol or ("h2" if tls else "http/1.1"),
                "tls_version": "TLS 1.3" if tls else None,
                "tls_resumed": False if tls else None,
                "received_bytes": received,
                "decrypted_bytes": frame_bytes,
                "tls_handshake_bytes": tls_handshake_bytes,
                "tls_ticket_bytes": tls_ticket_bytes if tls else None,
                "frame_bytes": frame_bytes,
                "response_count": 0,
                "opened_us": 0,
                "connected_us": 50_000,
                "secured_us": 100_000 if tls else None,
                "last_byte_us": 100_000,
                "packet_bytes": None,
                "first_flight_bytes": None if window is None else 1448 * window,
                "first_flight_packets": window,
                "segment_bytes": None if window is None else 1448,
                "initial_window_segments": window,
                "initial_window_most_segments": window if window_unknown is None else window_most,
                "initial_window_unknown": window_unknown,
                "round_trip_us": 50_000,
                "first_record_bytes": [73, 31, 16_406] if tls else None,
            }
        )
        visit["received_bytes"] += received
        return number

    def add_response(
        self,
        wire_bytes: int | None,
        *,
        sent_ms: float | None = 100,
        first_ms: float | None = 150,
        last_ms: float | None = None,
        unknown: str | None = None,
        is_complete: bool = True,
    ) -> None:
        """A response on the last connection of the last visit; one from a cache on none."""
        visit = self.visit[-1]
        cached = unknown == "from_cache"
        connection = None if cached or unknown == "unseen" else self.connection[-1]
        earlier = [row for row in self.response if row["visit_id"] == visit["id"]]
        if connection is not None and wire_bytes is not None:
            connection["response_count"] += 1
            connection["received_bytes"] += wire_bytes
            connection["decrypted_bytes"] += wire_bytes
            visit["received_bytes"] += wire_bytes
        first_us = None if first_ms is None or wire_bytes is None else round(first_ms * 1000)
        self.response.append(
            {
                "crawl_id": self.crawl_id,
                "visit_id": visit["id"],
                "id": len(earlier) + 1,
                "connection_id": None if connection is None else connection["id"],
                "position": None
                if connection is None
                else 1 + sum(row["connection_id"] == connection["id"] for row in earlier),
                "stream_id": None,
                "initiator_id": 1 if earlier else None,
                "redirected_from_id": None,
                "method": "GET",
                "scheme": "https",
                "host": visit["host"],
                "path": f"/{len(earlier)}",
                "query_hash": None,
                "protocol": None if connection is None else connection["protocol"],
                "resource_type": "image" if earlier else "document",
                "status": 200,
                "mime_type": "text/html",
                "content_encoding": None,
                "failure": None,
                "from_cache": cached,
                "wire_bytes": wire_bytes,
                "wire_bytes_unknown": unknown or ("no_response" if wire_bytes is None else None),
                "size_basis": None if wire_bytes is None else "counted",
                "header_bytes": None if wire_bytes is None else min(200, wire_bytes),
                "body_bytes": None if wire_bytes is None else max(0, wire_bytes - 200),
                "decoded_bytes": None,
                "request_sent_us": None if sent_ms is None else round(sent_ms * 1000),
                "first_byte_us": first_us,
                "last_byte_us": first_us if last_ms is None else round(last_ms * 1000),
                "request_body_bytes": None,
                "is_complete": None if wire_bytes is None else is_complete,
                **(
                    dict.fromkeys(http_caching.COLUMNS) if connection is None or wire_bytes is None else FRESH
                ),
            }
        )

    def rows(self) -> dict[str, list[Row]]:
        """Rows of the tables that a release holds; null in the columns that nobody has set."""
        return {
            "crawl": [self.crawl],
            "site": self.site,
            "visit": _whole(Visit, self.visit),
            "connection": _whole(Connection, self.connection),
            "response": _whole(Response, self.response),
        }


def _whole(model: type[Base], rows: list[Row]) -> list[Row]:
    return [dict.fromkeys(column_names(model)) | row for row in rows]


def write_tables(folder: Path, made_up: MadeUp) -> None:
    """The crawl's Parquet files, in small row groups, without a database."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in RELEASED:
        name = table.__tablename__
        rows = pa.Table.from_pylist(made_up.rows()[name], schema=arrow_schema(Base.metadata.tables[name]))
        pq.write_table(rows, folder / f"{name}.parquet", row_group_size=7)


def release_of(folder: Path) -> Release:
    """A release for functions that do not read the manifest's content."""
    return Release(folder, make_manifest(NAME))

"""Accounting: who crawled, by what identity, which load of which page, and what stood in its way."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


COMMENTS: list[tuple[str, str, sa.types.TypeEngine[Any], bool, str, str]] = [
    (
        "visit",
        "attempt",
        sa.SMALLINT(),
        False,
        "1 for the first visit to the site, 2 for its retry",
        "number of the visit among those to its site, from 1; retries, repeat loads and inner pages count",
    ),
    (
        "connection",
        "tls_resumed",
        sa.BOOLEAN(),
        True,
        "whether the TLS session was resumed; null for clear text",
        "whether the TLS session was resumed; null for clear text, or if the handshake did not complete",
    ),
    (
        "connection",
        "received_bytes",
        sa.BIGINT(),
        False,
        "TCP payload (or QUIC packets) received from the server",
        "TCP payload received from the server, each byte once; of QUIC the UDP payload, retransmissions and acknowledgements included",
    ),
    (
        "connection",
        "decrypted_bytes",
        sa.BIGINT(),
        False,
        "received bytes inside TLS; equal to received_bytes for clear text",
        "received bytes inside TLS; equal to received_bytes for clear text; of QUIC the data of all streams, each byte once",
    ),
    (
        "connection",
        "tls_handshake_bytes",
        sa.BIGINT(),
        True,
        "TCP payload of the server's TLS flight, before the first response; null for clear text",
        "TCP payload of the server's TLS flight, before the first response; of QUIC the UDP payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation packet; null for clear text",
    ),
    (
        "connection",
        "tls_ticket_bytes",
        sa.BIGINT(),
        True,
        "TCP payload of NewSessionTicket messages after the handshake, records included; null for clear text",
        "TCP payload of NewSessionTicket messages after the handshake, records included; of QUIC the CRYPTO data after the handshake; null for clear text",
    ),
    (
        "response",
        "header_bytes",
        sa.BIGINT(),
        True,
        "wire_bytes less body_bytes: header and framing; null if unknown",
        "wire_bytes less body_bytes: header and framing; null if unknown, also where an H3 stream was left before its frames were read",
    ),
    (
        "response",
        "body_bytes",
        sa.BIGINT(),
        True,
        "encoded body without framing; null if unknown",
        "encoded body without framing; null if unknown, also where an H3 stream was left before its frames were read",
    ),
]
"""Definitions that became more exact: table, column, type, whether it may be null, before, after."""


def upgrade() -> None:
    """New columns are null, or have a default that is true of what is there: sealed rows are not written."""
    op.add_column(
        "crawl",
        sa.Column(
            "client_hints",
            sa.Text(),
            nullable=True,
            comment="the client hints it sent unasked (Sec-CH-UA, Sec-CH-UA-Mobile, Sec-CH-UA-Platform), a line each; null before schema version 2",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "user_agent_planned",
            sa.Text(),
            nullable=True,
            comment="the User-Agent that its plan asks for; null for the browser's own, as plain Chrome",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "contact_url",
            sa.Text(),
            nullable=True,
            comment="where a site's owner can ask about the crawl, at the end of its User-Agent; null if none was given",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "loads",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="loads of each home page: 1, or more for repeat loads",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "inner_pages",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="inner pages that are loaded beside each home page",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "optout_checksum",
            sa.Text(),
            nullable=True,
            comment="SHA-256 of the opt-out list that it was planned with, lower-case hex; null without one",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "optout_sites",
            sa.Integer(),
            nullable=True,
            comment="sites that the opt-out list took out of the plan; null without one",
        ),
    )
    op.add_column(
        "site",
        sa.Column(
            "magnitude",
            sa.Integer(),
            nullable=True,
            comment="rank that it shares with others where the list ranks by magnitude (CrUX: 1000, 5000, ...); null elsewhere",
        ),
    )
    op.add_column(
        "site",
        sa.Column(
            "not_before",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="the site asked to be left alone until then (Retry-After); null if it did not",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "page_kind",
            sa.Text(),
            server_default="home",
            nullable=False,
            comment="home (the site's home page) or inner (a page of the same site that the home page links to)",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "load",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="number of the load of this page in a row of loads, from 1; each has a fresh profile",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "wall",
            sa.Text(),
            nullable=True,
            comment="bot wall that answered in place of the page; null if none was recognised, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "consent",
            sa.Text(),
            nullable=True,
            comment="consent platform that the page loaded; null if none was recognised, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "retry_after_s",
            sa.Integer(),
            nullable=True,
            comment="seconds for which a status of 429 or 503 asked to be left alone (Retry-After); null if none did",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "is_covered",
            sa.Boolean(),
            nullable=True,
            comment="whether coverage and decrypted_coverage are both at least 0.99; null if nothing was received, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "log_lines_lost",
            sa.Integer(),
            nullable=True,
            comment="log lines that could not be read; null in crawls before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "crawler_host",
            sa.Text(),
            nullable=True,
            comment="host name of the machine that made it; null before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "unfiltered_egress",
            sa.Boolean(),
            nullable=True,
            comment="whether the browser could reach any address, without the address guard; null before schema version 2",
        ),
    )
    for table, column, kind, nullable, before, after in COMMENTS:
        op.alter_column(
            table,
            column,
            existing_type=kind,
            existing_nullable=nullable,
            comment=after,
            existing_comment=before,
        )

"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The first tables."""
    op.create_table(
        "connection",
        sa.Column("crawl_id", sa.SmallInteger(), autoincrement=False, nullable=False, comment="the crawl"),
        sa.Column("visit_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="the visit"),
        sa.Column(
            "id", sa.Integer(), autoincrement=False, nullable=False, comment="from 1, in the order of opening"
        ),
        sa.Column("host", sa.Text(), nullable=True, comment="host that it was opened for; null if unknown"),
        sa.Column("port", sa.Integer(), nullable=False, comment="server port"),
        sa.Column("remote_address", sa.Text(), nullable=False, comment="server address, without port"),
        sa.Column(
            "local_port",
            sa.Integer(),
            nullable=False,
            comment="client port; with the server's address and port it names the connection in a capture",
        ),
        sa.Column("protocol", sa.Text(), nullable=False, comment="http/1.1, h2 or h3 (ALPN names, RFC 7301)"),
        sa.Column("tls_version", sa.Text(), nullable=True, comment="e.g. TLS 1.3; null for clear text"),
        sa.Column(
            "tls_resumed",
            sa.Boolean(),
            nullable=True,
            comment="whether the TLS session was resumed; null for clear text",
        ),
        sa.Column(
            "received_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="TCP payload (or QUIC packets) received from the server",
        ),
        sa.Column(
            "decrypted_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="received bytes inside TLS; equal to received_bytes for clear text",
        ),
        sa.Column(
            "tls_handshake_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="TCP payload of the server's TLS flight, before the first response; null for clear text",
        ),
        sa.Column(
            "tls_ticket_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="TCP payload of NewSessionTicket messages after the handshake, records included; null for clear text",
        ),
        sa.Column(
            "frame_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="H2 or H3 frames that belong to no response (SETTINGS, PING, ...); 0 for HTTP/1.1",
        ),
        sa.Column(
            "response_count",
            sa.Integer(),
            nullable=False,
            comment="responses that arrived on it, whole or in part",
        ),
        sa.Column("opened_us", sa.BigInteger(), nullable=False, comment="time of the first SYN"),
        sa.Column(
            "connected_us", sa.BigInteger(), nullable=False, comment="time at which TCP was established"
        ),
        sa.Column(
            "secured_us",
            sa.BigInteger(),
            nullable=True,
            comment="time at which the TLS handshake ended; null for clear text",
        ),
        sa.Column("last_byte_us", sa.BigInteger(), nullable=False, comment="time of the last byte received"),
        sa.PrimaryKeyConstraint("crawl_id", "visit_id", "id", name=op.f("connection_pkey")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "outcome",
        sa.Column("id", sa.Text(), nullable=False, comment="stable name"),
        sa.Column("description", sa.Text(), nullable=False, comment="what it means, in one sentence"),
        sa.PrimaryKeyConstraint("id", name=op.f("outcome_pkey")),
    )
    op.create_table(
        "response",
        sa.Column("crawl_id", sa.SmallInteger(), autoincrement=False, nullable=False, comment="the crawl"),
        sa.Column("visit_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="the visit"),
        sa.Column(
            "id", sa.Integer(), autoincrement=False, nullable=False, comment="from 1, in the order of asking"
        ),
        sa.Column(
            "connection_id",
            sa.Integer(),
            nullable=True,
            comment="the connection it came on; null if from a cache or never sent",
        ),
        sa.Column(
            "position",
            sa.Integer(),
            nullable=True,
            comment="its place on the connection in the order of asking, from 1; null without one",
        ),
        sa.Column("stream_id", sa.BigInteger(), nullable=True, comment="H2 or H3 stream; null for HTTP/1.1"),
        sa.Column(
            "initiator_id",
            sa.Integer(),
            nullable=True,
            comment="the response whose content asked for this one; null if unknown or the page itself",
        ),
        sa.Column(
            "redirected_from_id",
            sa.Integer(),
            nullable=True,
            comment="the redirect that led here; null if none",
        ),
        sa.Column("method", sa.Text(), nullable=False, comment="request method"),
        sa.Column("scheme", sa.Text(), nullable=False, comment="scheme of the URL"),
        sa.Column("host", sa.Text(), nullable=False, comment="host of the URL"),
        sa.Column(
            "path",
            sa.Text(),
            nullable=False,
            comment="path of the URL, without query, cut at 2,048 characters",
        ),
        sa.Column(
            "query_hash",
            sa.Text(),
            nullable=True,
            comment="salted SHA-256 of the query, first 16 hex digits; null without a query",
        ),
        sa.Column(
            "protocol",
            sa.Text(),
            nullable=True,
            comment="http/1.1, h2 or h3; null if it came from a cache or never arrived",
        ),
        sa.Column(
            "resource_type",
            sa.Text(),
            nullable=False,
            comment="what asked: document, iframe, style, script, image, font, fetch, media, worker, ... or other (Sec-Fetch-Dest, Fetch standard)",
        ),
        sa.Column(
            "status", sa.SmallInteger(), nullable=True, comment="HTTP status; null if no response arrived"
        ),
        sa.Column(
            "mime_type",
            sa.Text(),
            nullable=True,
            comment="media type without parameters, lower case; null if absent",
        ),
        sa.Column("content_encoding", sa.Text(), nullable=True, comment="Content-Encoding; null if absent"),
        sa.Column(
            "failure",
            sa.Text(),
            nullable=True,
            comment="the browser's error for this request, e.g. net::ERR_ABORTED; null if none",
        ),
        sa.Column(
            "from_cache", sa.Boolean(), nullable=False, comment="true if no byte of it crossed the network"
        ),
        sa.Column(
            "wire_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="header, framing and encoded body, as sent inside TLS; null if unknown",
        ),
        sa.Column(
            "wire_bytes_unknown",
            sa.Text(),
            nullable=True,
            comment="why wire_bytes is unknown; null where it is known",
        ),
        sa.Column(
            "header_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="wire_bytes less body_bytes: header and framing; null if unknown",
        ),
        sa.Column(
            "body_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="encoded body without framing; null if unknown",
        ),
        sa.Column(
            "decoded_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="body after decompression; null if unknown",
        ),
        sa.Column(
            "request_sent_us",
            sa.BigInteger(),
            nullable=True,
            comment="time at which the request was sent; null if it never was",
        ),
        sa.Column(
            "first_byte_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the first byte of the response header; null if none arrived",
        ),
        sa.Column(
            "last_byte_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the last byte received; null if none arrived",
        ),
        sa.CheckConstraint(
            "(wire_bytes IS NULL) = (wire_bytes_unknown IS NOT NULL)", name=op.f("response_wire_bytes_check")
        ),
        sa.PrimaryKeyConstraint("crawl_id", "visit_id", "id", name=op.f("response_pkey")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "site_list",
        sa.Column("id", sa.Text(), nullable=False, comment="source and version, e.g. tranco:K2LPW"),
        sa.Column(
            "source", sa.Text(), nullable=False, comment="where it came from: tranco, crux, or a file's name"
        ),
        sa.Column(
            "checksum", sa.Text(), nullable=False, comment="SHA-256 of the list's bytes, lower-case hex"
        ),
        sa.Column("entries", sa.Integer(), nullable=False, comment="sites in the whole list"),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False, comment="when it was read"),
        sa.PrimaryKeyConstraint("id", name=op.f("site_list_pkey")),
    )
    op.create_table(
        "crawl",
        sa.Column(
            "id",
            sa.SmallInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="heads the keys of visits, connections, responses",
        ),
        sa.Column("month", sa.Text(), nullable=False, comment="the month it stands for, YYYY-MM"),
        sa.Column("device", sa.Text(), nullable=False, comment="device profile: desktop or mobile"),
        sa.Column(
            "vantage",
            sa.Text(),
            nullable=False,
            comment="label of the place and network that it was made from",
        ),
        sa.Column("arm", sa.Text(), nullable=False, comment="protocol arm: tcp (QUIC off) or quic (QUIC on)"),
        sa.Column(
            "kind",
            sa.Text(),
            nullable=False,
            comment="what was crawled: web (live sites) or localweb (the bundled local web)",
        ),
        sa.Column("list_id", sa.Text(), nullable=False, comment="the list its sites came from"),
        sa.Column(
            "top",
            sa.Integer(),
            nullable=False,
            comment="how many sites from the head of the list were planned",
        ),
        sa.Column("attempts", sa.SmallInteger(), nullable=False, comment="visits a site gets at most"),
        sa.Column("budget_s", sa.Double(), nullable=False, comment="seconds that one visit may take"),
        sa.Column(
            "method_version",
            sa.Text(),
            nullable=False,
            comment="version of the measuring method; a change is a method break",
        ),
        sa.Column(
            "commit",
            sa.Text(),
            nullable=False,
            comment="code commit that planned it, with -dirty where the tree was",
        ),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False, comment="when it was planned"),
        sa.Column(
            "browser",
            sa.Text(),
            nullable=True,
            comment="browser product and build; null until the first visit",
        ),
        sa.Column(
            "browser_built_on",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="build time of the browser, from which its HSTS preload list ages; null if unknown",
        ),
        sa.Column(
            "browser_flags",
            sa.Text(),
            nullable=True,
            comment="command-line flags of the browser that change what is measured, a line each",
        ),
        sa.Column("user_agent", sa.Text(), nullable=True, comment="the User-Agent header it sent"),
        sa.Column(
            "sealed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when it was sealed, never to be written again; null while open",
        ),
        sa.CheckConstraint("month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'", name=op.f("crawl_month_check")),
        sa.ForeignKeyConstraint(["list_id"], ["site_list.id"], name=op.f("crawl_list_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("crawl_pkey")),
        sa.UniqueConstraint(
            "month", "device", "vantage", "arm", "kind", name=op.f("crawl_month_device_vantage_arm_kind_key")
        ),
    )
    op.create_table(
        "visit",
        sa.Column("crawl_id", sa.SmallInteger(), autoincrement=False, nullable=False, comment="the crawl"),
        sa.Column(
            "id", sa.BigInteger(), autoincrement=False, nullable=False, comment="unique within the crawl"
        ),
        sa.Column("rank", sa.Integer(), nullable=False, comment="the site's place in the list"),
        sa.Column("host", sa.Text(), nullable=False, comment="the site's host"),
        sa.Column(
            "attempt",
            sa.SmallInteger(),
            nullable=False,
            comment="1 for the first visit to the site, 2 for its retry",
        ),
        sa.Column(
            "is_final",
            sa.Boolean(),
            nullable=False,
            comment="true for the one visit that stands for the site",
        ),
        sa.Column("outcome", sa.Text(), nullable=False, comment="how it ended"),
        sa.Column(
            "stop_reason",
            sa.Text(),
            nullable=False,
            comment="why recording stopped: quiet (network idle), busy (not idle long after its load event), budget (time was up) or failed",
        ),
        sa.Column(
            "error",
            sa.Text(),
            nullable=True,
            comment="the browser's error, e.g. net::ERR_NAME_NOT_RESOLVED; null if none",
        ),
        sa.Column(
            "scheme",
            sa.Text(),
            nullable=False,
            comment="scheme it was loaded by: https first, http where https did not answer",
        ),
        sa.Column(
            "status",
            sa.SmallInteger(),
            nullable=True,
            comment="HTTP status of the main document; null if none arrived",
        ),
        sa.Column(
            "main_response_id",
            sa.Integer(),
            nullable=True,
            comment="the response that is the main document; null if none arrived",
        ),
        sa.Column(
            "final_scheme",
            sa.Text(),
            nullable=True,
            comment="scheme of the main document after redirects; null if none arrived",
        ),
        sa.Column(
            "final_host",
            sa.Text(),
            nullable=True,
            comment="host of the main document after redirects; null if none arrived",
        ),
        sa.Column(
            "hsts_upgrades",
            sa.Integer(),
            nullable=False,
            comment="requests that the browser itself turned from http to https",
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="when it began"),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False, comment="when recording stopped"),
        sa.Column(
            "load_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the load event; null if it never fired",
        ),
        sa.Column(
            "received_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="sum over its connections of received_bytes",
        ),
        sa.Column(
            "coverage",
            sa.Double(),
            nullable=True,
            comment="share of received_bytes accounted for by responses, connection frames, TLS handshake, tickets and records; null if nothing was received",
        ),
        sa.Column(
            "decrypted_coverage",
            sa.Double(),
            nullable=True,
            comment="share of decrypted bytes accounted for by responses and connection frames; null if nothing was received",
        ),
        sa.Column("owner", sa.Text(), nullable=False, comment="the crawler process that made it"),
        sa.ForeignKeyConstraint(["outcome"], ["outcome.id"], name=op.f("visit_outcome_fkey")),
        sa.PrimaryKeyConstraint("crawl_id", "id", name=op.f("visit_pkey")),
        sa.UniqueConstraint("crawl_id", "rank", "attempt", name=op.f("visit_crawl_id_rank_attempt_key")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "site",
        sa.Column("crawl_id", sa.SmallInteger(), autoincrement=False, nullable=False, comment="the crawl"),
        sa.Column(
            "rank", sa.Integer(), autoincrement=False, nullable=False, comment="place in the list, from 1"
        ),
        sa.Column(
            "host",
            sa.Text(),
            nullable=False,
            comment="host name, as the list has it, in lower-case A-label form",
        ),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False, comment="visits begun"),
        sa.Column(
            "owner",
            sa.Text(),
            nullable=True,
            comment="the crawler process that holds the claim; null while free",
        ),
        sa.Column(
            "lease_expires_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the claim may be taken by another; null while free",
        ),
        sa.Column(
            "final_visit_id",
            sa.BigInteger(),
            nullable=True,
            comment="the visit that stands for the site; null until there is one",
        ),
        sa.CheckConstraint("(owner IS NULL) = (lease_expires_at IS NULL)", name=op.f("site_lease_check")),
        sa.ForeignKeyConstraint(["crawl_id"], ["crawl.id"], name=op.f("site_crawl_id_fkey")),
        sa.PrimaryKeyConstraint("crawl_id", "rank", name=op.f("site_pkey")),
    )
    op.create_index(
        op.f("site_crawl_id_attempts_rank_idx"),
        "site",
        ["crawl_id", "attempts", "rank"],
        unique=False,
        postgresql_where=sa.text("final_visit_id IS NULL"),
    )
    # Sealed partitions get triggers that call it (storage.partitions).
    op.execute(
        """
        CREATE FUNCTION refuse_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'table % belongs to a sealed crawl, which is never written again', TG_TABLE_NAME
                USING ERRCODE = 'object_not_in_prerequisite_state';
        END $$
        """
    )

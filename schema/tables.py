"""What a crawl observes, as tables: the one declaration that all else is derived from.

The comment on a column is its definition: it becomes the Parquet metadata and the data dictionary.
Times within a visit are microseconds since `visit.started_at` on the browser's monotonic clock; the
browser's log has whole milliseconds, so two events of one millisecond bear the same time.
"""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA_VERSION = 4
"""Raised by every migration of an observation table; each release carries it."""

NAMING = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s_check",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class Base(DeclarativeBase):
    """Every table of firstflight."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text(),
        bool: Boolean(),
        float: Double(),
        datetime.datetime: DateTime(timezone=True),
    }


def key(comment: str, *, kind: Any = BigInteger) -> Any:
    """A column of a primary key that is set by us, not by a sequence."""
    return mapped_column(kind, primary_key=True, autoincrement=False, comment=comment)


class SiteList(Base):
    """A versioned list of sites, as fetched: only its identity, the sites stand in the crawls."""

    __tablename__ = "site_list"

    id: Mapped[str] = mapped_column(primary_key=True, comment="source and version, e.g. tranco:K2LPW")
    source: Mapped[str] = mapped_column(comment="where it came from: tranco, crux, or a file's name")
    checksum: Mapped[str] = mapped_column(comment="SHA-256 of the list's bytes, lower-case hex")
    entries: Mapped[int] = mapped_column(Integer, comment="sites in the whole list")
    fetched_at: Mapped[datetime.datetime] = mapped_column(comment="when it was read")


class Crawl(Base):
    """One crawl: a list, a device, a vantage, a protocol arm, in one month."""

    __tablename__ = "crawl"
    __table_args__ = (
        UniqueConstraint("month", "device", "vantage", "arm", "kind"),
        CheckConstraint(r"month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'", name="month"),
    )

    id: Mapped[int] = mapped_column(
        SmallInteger,
        Identity(always=True),
        primary_key=True,
        comment="heads the keys of visits, connections, responses",
    )
    month: Mapped[str] = mapped_column(comment="the month it stands for, YYYY-MM")
    device: Mapped[str] = mapped_column(comment="device profile: desktop or mobile")
    vantage: Mapped[str] = mapped_column(comment="label of the place and network that it was made from")
    arm: Mapped[str] = mapped_column(comment="protocol arm: tcp (QUIC off) or quic (QUIC on)")
    kind: Mapped[str] = mapped_column(
        comment="what was crawled: web (live sites) or localweb (the bundled local web)"
    )
    list_id: Mapped[str] = mapped_column(ForeignKey("site_list.id"), comment="the list its sites came from")
    top: Mapped[int] = mapped_column(Integer, comment="how many sites from the head of the list were planned")
    attempts: Mapped[int] = mapped_column(SmallInteger, comment="visits a site gets at most")
    budget_s: Mapped[float] = mapped_column(comment="seconds that one visit may take")
    method_version: Mapped[str] = mapped_column(
        comment="version of the measuring method; a change is a method break"
    )
    commit: Mapped[str] = mapped_column(comment="code commit that planned it, with -dirty where the tree was")
    planned_at: Mapped[datetime.datetime] = mapped_column(comment="when it was planned")
    browser: Mapped[str | None] = mapped_column(
        comment="browser product and build; null until the first visit"
    )
    browser_built_on: Mapped[datetime.datetime | None] = mapped_column(
        comment="build time of the browser, from which its HSTS preload list ages; null if unknown"
    )
    browser_flags: Mapped[str | None] = mapped_column(
        comment="command-line flags of the browser that change what is measured, a line each"
    )
    user_agent: Mapped[str | None] = mapped_column(comment="the User-Agent header it sent")
    client_hints: Mapped[str | None] = mapped_column(
        comment="the client hints it sent unasked (Sec-CH-UA, Sec-CH-UA-Mobile, Sec-CH-UA-Platform), a line each; null before schema version 2"
    )
    user_agent_planned: Mapped[str | None] = mapped_column(
        comment="the User-Agent that its plan asks for; null for the browser's own, as plain Chrome"
    )
    contact_url: Mapped[str | None] = mapped_column(
        comment="where a site's owner can ask about the crawl, at the end of its User-Agent; null if none was given"
    )
    loads: Mapped[int] = mapped_column(
        SmallInteger, server_default="1", comment="loads of each home page: 1, or more for repeat loads"
    )
    inner_pages: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="inner pages that are loaded beside each home page"
    )
    optout_checksum: Mapped[str | None] = mapped_column(
        comment="SHA-256 of the opt-out list that it was planned with, lower-case hex; null without one"
    )
    optout_sites: Mapped[int | None] = mapped_column(
        Integer, comment="sites that the opt-out list took out of the plan; null without one"
    )
    sealed_at: Mapped[datetime.datetime | None] = mapped_column(
        comment="when it was sealed, never to be written again; null while open"
    )


class Site(Base):
    """One site of a crawl's plan, and the claim on it."""

    __tablename__ = "site"
    __table_args__ = (
        # The queue, in the order of claiming: a site that is visited again waits until the others had their turn.
        Index(None, "crawl_id", "attempts", "rank", postgresql_where=text("final_visit_id IS NULL")),
        CheckConstraint("(owner IS NULL) = (lease_expires_at IS NULL)", name="lease"),
    )

    crawl_id: Mapped[int] = mapped_column(
        SmallInteger, ForeignKey("crawl.id"), primary_key=True, autoincrement=False, comment="the crawl"
    )
    rank: Mapped[int] = key("place in the list, from 1", kind=Integer)
    host: Mapped[str] = mapped_column(comment="host name, as the list has it, in lower-case A-label form")
    magnitude: Mapped[int | None] = mapped_column(
        Integer,
        comment="rank that it shares with others where the list ranks by magnitude (CrUX: 1000, 5000, ...); null elsewhere",
    )
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default="0", comment="visits begun")
    owner: Mapped[str | None] = mapped_column(
        comment="the crawler process that holds the claim; null while free"
    )
    lease_expires_at: Mapped[datetime.datetime | None] = mapped_column(
        comment="when the claim may be taken by another; null while free"
    )
    final_visit_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="the visit that stands for the site; null until there is one"
    )
    not_before: Mapped[datetime.datetime | None] = mapped_column(
        comment="the site asked to be left alone until then (Retry-After); null if it did not"
    )


class Outcome(Base):
    """How a visit can end: a closed set of stable names, never reused."""

    __tablename__ = "outcome"

    id: Mapped[str] = mapped_column(primary_key=True, comment="stable name")
    description: Mapped[str] = mapped_column(comment="what it means, in one sentence")


class Visit(Base):
    """One page load, whatever came of it."""

    __tablename__ = "visit"
    __table_args__ = (
        UniqueConstraint("crawl_id", "rank", "attempt"),
        {"postgresql_partition_by": "LIST (crawl_id)"},
    )

    crawl_id: Mapped[int] = key("the crawl", kind=SmallInteger)
    id: Mapped[int] = key("unique within the crawl")
    rank: Mapped[int] = mapped_column(Integer, comment="the site's place in the list")
    host: Mapped[str] = mapped_column(comment="the site's host")
    attempt: Mapped[int] = mapped_column(
        SmallInteger,
        comment="number of the visit among those to its site, from 1; retries, repeat loads and inner pages count",
    )
    is_final: Mapped[bool] = mapped_column(comment="true for the one visit that stands for the site")
    outcome: Mapped[str] = mapped_column(ForeignKey("outcome.id"), comment="how it ended")
    stop_reason: Mapped[str] = mapped_column(
        comment="why recording stopped: quiet (network idle), busy (not idle long after its load event), budget (time was up) or failed"
    )
    error: Mapped[str | None] = mapped_column(
        comment="the browser's error, e.g. net::ERR_NAME_NOT_RESOLVED; null if none"
    )
    scheme: Mapped[str] = mapped_column(
        comment="scheme it was loaded by: https first, http where https did not answer"
    )
    status: Mapped[int | None] = mapped_column(
        SmallInteger, comment="HTTP status of the main document; null if none arrived"
    )
    main_response_id: Mapped[int | None] = mapped_column(
        Integer, comment="the response that is the main document; null if none arrived"
    )
    final_scheme: Mapped[str | None] = mapped_column(
        comment="scheme of the main document after redirects; null if none arrived"
    )
    final_host: Mapped[str | None] = mapped_column(
        comment="host of the main document after redirects; null if none arrived"
    )
    hsts_upgrades: Mapped[int] = mapped_column(
        Integer, comment="requests that the browser itself turned from http to https"
    )
    started_at: Mapped[datetime.datetime] = mapped_column(comment="when it began")
    ended_at: Mapped[datetime.datetime] = mapped_column(comment="when recording stopped")
    load_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time of the load event; null if it never fired"
    )
    received_bytes: Mapped[int] = mapped_column(
        BigInteger, comment="sum over its connections of received_bytes"
    )
    coverage: Mapped[float | None] = mapped_column(
        comment="share of received_bytes accounted for by responses, connection frames, TLS handshake, tickets and records; null if nothing was received"
    )
    decrypted_coverage: Mapped[float | None] = mapped_column(
        comment="share of decrypted bytes accounted for by responses and connection frames; null if nothing was received"
    )
    owner: Mapped[str] = mapped_column(comment="the crawler process that made it")
    page_kind: Mapped[str] = mapped_column(
        server_default="home",
        comment="home (the site's home page) or inner (a page of the same site that the home page links to)",
    )
    load: Mapped[int] = mapped_column(
        SmallInteger,
        server_default="1",
        comment="number of the load of this page in a row of loads, from 1; each has a fresh profile",
    )
    wall: Mapped[str | None] = mapped_column(
        comment="bot wall that answered in place of the page; null if none was recognised, and before schema version 2"
    )
    consent: Mapped[str | None] = mapped_column(
        comment="consent platform that the page loaded; null if none was recognised, and before schema version 2"
    )
    retry_after_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="seconds for which a status of 429 or 503 asked to be left alone (Retry-After); null if none did",
    )
    is_covered: Mapped[bool | None] = mapped_column(
        comment="whether coverage and decrypted_coverage are both at least 0.99; null if nothing was received, and before schema version 2"
    )
    log_lines_lost: Mapped[int | None] = mapped_column(
        Integer, comment="log lines that could not be read; null in crawls before schema version 2"
    )
    crawler_host: Mapped[str | None] = mapped_column(
        comment="host name of the machine that made it; null before schema version 2"
    )
    unfiltered_egress: Mapped[bool | None] = mapped_column(
        comment="whether the browser could reach any address, without the address guard; null before schema version 2"
    )


class Connection(Base):
    """One transport connection on which the browser received at least one byte."""

    __tablename__ = "connection"
    __table_args__ = ({"postgresql_partition_by": "LIST (crawl_id)"},)

    crawl_id: Mapped[int] = key("the crawl", kind=SmallInteger)
    visit_id: Mapped[int] = key("the visit")
    id: Mapped[int] = key("from 1, in the order of opening", kind=Integer)
    host: Mapped[str | None] = mapped_column(comment="host that it was opened for; null if unknown")
    port: Mapped[int] = mapped_column(Integer, comment="server port")
    remote_address: Mapped[str] = mapped_column(comment="server address, without port")
    local_port: Mapped[int] = mapped_column(
        Integer,
        comment="client port; with the server's address and port it names the connection in a capture",
    )
    protocol: Mapped[str] = mapped_column(comment="http/1.1, h2 or h3 (ALPN names, RFC 7301)")
    tls_version: Mapped[str | None] = mapped_column(comment="e.g. TLS 1.3; null for clear text")
    tls_resumed: Mapped[bool | None] = mapped_column(
        comment="whether the TLS session was resumed; null for clear text, or if the handshake did not complete"
    )
    received_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="TCP payload received from the server, each byte once; of QUIC the UDP payload, retransmissions and acknowledgements included",
    )
    decrypted_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="received bytes inside TLS; equal to received_bytes for clear text; of QUIC the data of all streams, each byte once",
    )
    tls_handshake_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="TCP payload of the server's TLS flight, before the first response; of QUIC the UDP payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation packet; null for clear text",
    )
    tls_ticket_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="TCP payload of NewSessionTicket messages after the handshake, records included; of QUIC the CRYPTO data after the handshake; null for clear text",
    )
    frame_bytes: Mapped[int] = mapped_column(
        BigInteger, comment="H2 or H3 frames that belong to no response (SETTINGS, PING, ...); 0 for HTTP/1.1"
    )
    response_count: Mapped[int] = mapped_column(
        Integer, comment="responses that arrived on it, whole or in part"
    )
    opened_us: Mapped[int] = mapped_column(BigInteger, comment="time of the first SYN")
    connected_us: Mapped[int] = mapped_column(BigInteger, comment="time at which TCP was established")
    secured_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time at which the TLS handshake ended; null for clear text"
    )
    last_byte_us: Mapped[int] = mapped_column(BigInteger, comment="time of the last byte received")


class Response(Base):
    """One HTTP response as the browser received it, redirects included."""

    __tablename__ = "response"
    __table_args__ = (
        CheckConstraint("(wire_bytes IS NULL) = (wire_bytes_unknown IS NOT NULL)", name="wire_bytes"),
        {"postgresql_partition_by": "LIST (crawl_id)"},
    )

    crawl_id: Mapped[int] = key("the crawl", kind=SmallInteger)
    visit_id: Mapped[int] = key("the visit")
    id: Mapped[int] = key("from 1, in the order of asking", kind=Integer)
    connection_id: Mapped[int | None] = mapped_column(
        Integer, comment="the connection it came on; null if from a cache or never sent"
    )
    position: Mapped[int | None] = mapped_column(
        Integer, comment="its place on the connection in the order of asking, from 1; null without one"
    )
    stream_id: Mapped[int | None] = mapped_column(BigInteger, comment="H2 or H3 stream; null for HTTP/1.1")
    initiator_id: Mapped[int | None] = mapped_column(
        Integer, comment="the response whose content asked for this one; null if unknown or the page itself"
    )
    redirected_from_id: Mapped[int | None] = mapped_column(
        Integer, comment="the redirect that led here; null if none"
    )
    method: Mapped[str] = mapped_column(comment="request method")
    scheme: Mapped[str] = mapped_column(comment="scheme of the URL")
    host: Mapped[str] = mapped_column(comment="host of the URL")
    path: Mapped[str] = mapped_column(comment="path of the URL, without query, cut at 2,048 characters")
    query_hash: Mapped[str | None] = mapped_column(
        comment="salted SHA-256 of the query, first 16 hex digits; null without a query"
    )
    protocol: Mapped[str | None] = mapped_column(
        comment="http/1.1, h2 or h3; null if it came from a cache or never arrived"
    )
    resource_type: Mapped[str] = mapped_column(
        comment="what asked: document, iframe, style, script, image, font, fetch, media, worker, ... or other (Sec-Fetch-Dest, Fetch standard)"
    )
    status: Mapped[int | None] = mapped_column(
        SmallInteger, comment="HTTP status; null if no response arrived"
    )
    mime_type: Mapped[str | None] = mapped_column(
        comment="media type without parameters, lower case; null if absent"
    )
    content_encoding: Mapped[str | None] = mapped_column(comment="Content-Encoding; null if absent")
    failure: Mapped[str | None] = mapped_column(
        comment="the browser's error for this request, e.g. net::ERR_ABORTED; null if none"
    )
    from_cache: Mapped[bool] = mapped_column(comment="true if no byte of it crossed the network")
    wire_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="header, framing and encoded body, as sent inside TLS; null if unknown"
    )
    wire_bytes_unknown: Mapped[str | None] = mapped_column(
        comment="why wire_bytes is unknown; null where it is known"
    )
    header_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="wire_bytes less body_bytes: header and framing; null if unknown, also where an H3 stream was left before its frames were read",
    )
    body_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="encoded body without framing; null if unknown, also where an H3 stream was left before its frames were read",
    )
    decoded_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="body after decompression; null if unknown"
    )
    request_sent_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time at which the request was sent; null if it never was"
    )
    first_byte_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time of the first byte of the response header; null if none arrived"
    )
    last_byte_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time of the last byte received; null if none arrived"
    )
    no_store: Mapped[bool | None] = mapped_column(
        comment="whether Cache-Control says no-store: no cache may keep it; null if no header came over the network, and before schema version 3"
    )
    no_cache: Mapped[bool | None] = mapped_column(
        comment="whether a private cache must ask before each reuse (no-cache in Cache-Control, or * in Vary); null as no_store"
    )
    lifetime_by: Mapped[str | None] = mapped_column(
        comment="who says how long a private cache may reuse it without asking (RFC 9111 §4.2.1): max-age, expires, heuristic (nobody: a tenth of the time from Last-Modified to Date) or none (nobody, and nothing may be guessed); null as no_store"
    )
    lifetime_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="how long that is, in seconds from when the origin made it, at most 2,147,483,647; 0 also where it cannot be read; null where lifetime_by is null or none, or expires without a Date",
    )
    age_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="seconds that had passed of it, as Age says; null if Age is absent or cannot be read, and as no_store",
    )
    has_validator: Mapped[bool | None] = mapped_column(
        comment="whether a cache can ask if it has changed: ETag, or a Last-Modified that is a date; null as no_store"
    )
    request_body_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="bytes of the request's body, as its Content-Length says; null where it says none, and before schema version 4",
    )


OBSERVATIONS: tuple[type[Base], ...] = (Visit, Connection, Response)
"""Tables partitioned by crawl, a partition each."""

RELEASED: tuple[type[Base], ...] = (Crawl, Site, Visit, Connection, Response)
"""Tables that a release holds, a Parquet file each."""

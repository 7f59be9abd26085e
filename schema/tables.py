"""The tables of a crawl's observations: the declaration from which everything else is derived.

The comment on a column is its definition: it becomes the Parquet metadata and the data dictionary.
Times within a visit are microseconds since `visit.started_at` on the browser's monotonic clock; the
browser's log has whole milliseconds, so two events within one millisecond have the same time.
"""

import datetime
from typing import Any, ClassVar

from sqlalchemy import (
    ARRAY,
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

SCHEMA_VERSION = 2
"""Raised when a column of an observation table, or a table of releases, is added or changed;
stored in each release."""

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
    return mapped_column(kind, primary_key=True, autoincrement=False, comment=comment)


class SiteList(Base):
    """A version of a list of sites, identified by its checksum; its sites are stored with the crawls."""

    __tablename__ = "site_list"

    id: Mapped[str] = mapped_column(primary_key=True, comment="source and version, e.g. tranco:K2LPW")
    source: Mapped[str] = mapped_column(comment="where the list came from: tranco, crux, or a file's name")
    checksum: Mapped[str] = mapped_column(comment="SHA-256 of the list's bytes, lower-case hex")
    entries: Mapped[int] = mapped_column(Integer, comment="number of sites in the whole list")
    fetched_at: Mapped[datetime.datetime] = mapped_column(comment="when the list was read")


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
        comment="number of the crawl; first column of the keys of visits, connections and responses",
    )
    month: Mapped[str] = mapped_column(comment="month that the crawl stands for, YYYY-MM")
    device: Mapped[str] = mapped_column(comment="device profile: desktop or mobile")
    vantage: Mapped[str] = mapped_column(
        comment="label of the place and network that the crawl was made from"
    )
    arm: Mapped[str] = mapped_column(comment="protocol arm: tcp (QUIC off) or quic (QUIC on)")
    kind: Mapped[str] = mapped_column(
        comment="what was crawled: web (live sites) or localweb (the bundled local web)"
    )
    list_id: Mapped[str] = mapped_column(
        ForeignKey("site_list.id"), comment="site list that the sites came from"
    )
    top: Mapped[int] = mapped_column(Integer, comment="number of sites planned, from the head of the list")
    attempts: Mapped[int] = mapped_column(SmallInteger, comment="maximum number of visits to a site")
    budget_s: Mapped[float] = mapped_column(comment="time limit of one visit, in seconds")
    method_version: Mapped[str] = mapped_column(
        comment="version of the measuring method; a change is a method break"
    )
    commit: Mapped[str] = mapped_column(
        comment="commit of the code that planned the crawl, with -dirty if its tree had uncommitted changes"
    )
    planned_at: Mapped[datetime.datetime] = mapped_column(comment="when the crawl was planned")
    browser: Mapped[str | None] = mapped_column(
        comment="browser product and build; null until the first visit"
    )
    browser_built_on: Mapped[datetime.datetime | None] = mapped_column(
        comment="build time of the browser, and so of its HSTS preload list; null if unknown"
    )
    browser_flags: Mapped[str | None] = mapped_column(
        comment="command-line flags of the browser that change what is measured, one per line"
    )
    user_agent: Mapped[str | None] = mapped_column(comment="User-Agent header that the browser sent")
    client_hints: Mapped[str | None] = mapped_column(
        comment="client hints that the browser sent without being asked (Sec-CH-UA, Sec-CH-UA-Mobile, "
        "Sec-CH-UA-Platform), one per line; null if it sent none"
    )
    user_agent_planned: Mapped[str | None] = mapped_column(
        comment="User-Agent that the plan asks for; null if the browser sends its own, as plain Chrome"
    )
    contact_url: Mapped[str | None] = mapped_column(
        comment="URL where a site's owner can ask about the crawl, at the end of the User-Agent; "
        "null if none was given"
    )
    loads: Mapped[int] = mapped_column(
        SmallInteger,
        server_default="1",
        comment="number of loads of each home page: 1, or more for repeat loads",
    )
    inner_pages: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="number of inner pages loaded in addition to each home page"
    )
    optout_checksum: Mapped[str | None] = mapped_column(
        comment="SHA-256 of the opt-out list that the crawl was planned with, lower-case hex; "
        "null without an opt-out list"
    )
    optout_sites: Mapped[int | None] = mapped_column(
        Integer,
        comment="number of sites that the opt-out list removed from the plan; null without an opt-out list",
    )
    sealed_at: Mapped[datetime.datetime | None] = mapped_column(
        comment="when the crawl was sealed, after which it is never written again; null while it is open"
    )


class Site(Base):
    """One site of a crawl's plan.

    The claim on it is of use while a crawl runs, and is in no release.
    """

    __tablename__ = "site"
    __table_args__ = (
        # The queue in the order of claiming: a site to be visited again waits
        # until all others have been visited.
        Index(None, "crawl_id", "attempts", "rank", postgresql_where=text("final_visit_id IS NULL")),
        CheckConstraint("(owner IS NULL) = (lease_expires_at IS NULL)", name="lease"),
    )

    crawl_id: Mapped[int] = mapped_column(
        SmallInteger,
        ForeignKey("crawl.id"),
        primary_key=True,
        autoincrement=False,
        comment="crawl that the row belongs to",
    )
    rank: Mapped[int] = key("rank of the site in the list, from 1", kind=Integer)
    host: Mapped[str] = mapped_column(comment="host name from the list, in lower-case A-label form")
    magnitude: Mapped[int | None] = mapped_column(
        Integer,
        comment="rank magnitude that the site shares with others (CrUX: 1000, 5000, ...); null if the "
        "list does not rank by magnitude",
    )
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default="0", comment="number of visits begun")
    owner: Mapped[str | None] = mapped_column(
        comment="crawler process that holds the claim on the site; null while the site is free"
    )
    lease_expires_at: Mapped[datetime.datetime | None] = mapped_column(
        comment="when the claim expires, so that another process may take the site; "
        "null while the site is free"
    )
    final_visit_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="visit that represents the site; null until there is a final visit"
    )
    not_before: Mapped[datetime.datetime | None] = mapped_column(
        comment="time before which the site asked not to be visited again (Retry-After); "
        "null if it did not ask"
    )


class Outcome(Base):
    """A way in which a visit can end; the names are stable and never reused."""

    __tablename__ = "outcome"

    id: Mapped[str] = mapped_column(primary_key=True, comment="stable name of the outcome")
    description: Mapped[str] = mapped_column(comment="meaning of the outcome, in one sentence")


class Visit(Base):
    """One page load, successful or not."""

    __tablename__ = "visit"
    __table_args__ = (
        UniqueConstraint("crawl_id", "rank", "attempt"),
        {"postgresql_partition_by": "LIST (crawl_id)"},
    )

    crawl_id: Mapped[int] = key("crawl that the row belongs to", kind=SmallInteger)
    id: Mapped[int] = key("number of the visit, unique within the crawl")
    rank: Mapped[int] = mapped_column(Integer, comment="rank of the site in the list")
    host: Mapped[str] = mapped_column(comment="host name of the site")
    attempt: Mapped[int] = mapped_column(
        SmallInteger,
        comment="number of the visit among all visits to its site, from 1; retries, "
        "repeat loads and inner pages count",
    )
    is_final: Mapped[bool] = mapped_column(comment="true for the single visit that represents the site")
    outcome: Mapped[str] = mapped_column(
        ForeignKey("outcome.id"), comment="how the visit ended: the name of an outcome"
    )
    stop_reason: Mapped[str] = mapped_column(
        comment="why recording stopped: quiet (network idle: no request is open, or those that are have "
        "stood still for 2 s unread, or for 5 s in wait for the server), busy (not idle 10 s after the "
        "load event), budget (the visit's time limit) or failed"
    )
    error: Mapped[str | None] = mapped_column(
        comment="the browser's error, e.g. net::ERR_NAME_NOT_RESOLVED; null if none"
    )
    scheme: Mapped[str] = mapped_column(
        comment="scheme by which the page was loaded: https first, http where https did not answer"
    )
    status: Mapped[int | None] = mapped_column(
        SmallInteger, comment="HTTP status of the main document; null if none arrived"
    )
    main_response_id: Mapped[int | None] = mapped_column(
        Integer, comment="response that is the main document; null if none arrived"
    )
    final_scheme: Mapped[str | None] = mapped_column(
        comment="scheme of the main document after redirects; null if none arrived"
    )
    final_host: Mapped[str | None] = mapped_column(
        comment="host of the main document after redirects; null if none arrived"
    )
    hsts_upgrades: Mapped[int] = mapped_column(
        Integer, comment="number of requests that the browser itself changed from http to https"
    )
    started_at: Mapped[datetime.datetime] = mapped_column(comment="when the visit began")
    ended_at: Mapped[datetime.datetime] = mapped_column(comment="when recording stopped")
    load_us: Mapped[int | None] = mapped_column(
        BigInteger, comment="time of the load event, in µs since visit.started_at; null if it never fired"
    )
    received_bytes: Mapped[int] = mapped_column(
        BigInteger, comment="sum of received_bytes over the visit's connections"
    )
    coverage: Mapped[float | None] = mapped_column(
        comment="share of the bytes that came which is accounted for by responses, connection frames, "
        "TLS handshake, tickets and records; beside received_bytes these are the bytes of connections "
        "that captured packets show and the browser's log does not name, and a byte for each connection "
        "of which the log has no beginning; what the browser itself counted otherwise is not accounted "
        "for; null if nothing came"
    )
    decrypted_coverage: Mapped[float | None] = mapped_column(
        comment="share of decrypted bytes accounted for by responses and connection frames; "
        "null if nothing was received"
    )
    owner: Mapped[str] = mapped_column(comment="crawler process that made the visit")
    page_kind: Mapped[str] = mapped_column(
        server_default="home",
        comment="home (the site's home page) or inner (a page of the same site that the home page links to)",
    )
    load: Mapped[int] = mapped_column(
        SmallInteger,
        server_default="1",
        comment="number of this load among successive loads of the page, from 1; "
        "each load has a fresh profile",
    )
    wall: Mapped[str | None] = mapped_column(
        comment="bot wall that answered in place of the page; null if none was recognised"
    )
    consent: Mapped[str | None] = mapped_column(
        comment="consent platform that the page loaded; null if none was recognised"
    )
    retry_after_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="delay before the next visit that a 429 or 503 asked for (Retry-After), in seconds; "
        "null if none did",
    )
    is_covered: Mapped[bool | None] = mapped_column(
        comment="true if coverage and decrypted_coverage are both at least 0.99; null if nothing was received"
    )
    log_lines_lost: Mapped[int | None] = mapped_column(
        Integer,
        comment="number of lines of the browser's log that could not be read",
    )
    crawler_host: Mapped[str | None] = mapped_column(comment="host name of the machine that made the visit")
    unfiltered_egress: Mapped[bool | None] = mapped_column(
        comment="true if the browser could reach any address, without the address guard"
    )
    first_paint_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time of the main document's first paint (Paint Timing), in µs since visit.started_at; "
        "null if it painted nothing by the end of the recording",
    )
    first_contentful_paint_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time of the main document's first paint of text or an image (Paint Timing), in µs since "
        "visit.started_at; null if it painted none by the end of the recording",
    )
    largest_contentful_paint_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time of the last candidate for the main document's largest contentful paint by the end "
        "of the recording (Largest Contentful Paint), in µs since visit.started_at; "
        "null if there was none",
    )


class Connection(Base):
    """One transport connection on which the browser received at least one byte."""

    __tablename__ = "connection"
    __table_args__ = ({"postgresql_partition_by": "LIST (crawl_id)"},)

    crawl_id: Mapped[int] = key("crawl that the row belongs to", kind=SmallInteger)
    visit_id: Mapped[int] = key("visit that the row belongs to")
    id: Mapped[int] = key(
        "number of the connection within the visit, from 1, in the order of opening", kind=Integer
    )
    host: Mapped[str | None] = mapped_column(
        comment="host that the connection was opened for; null if unknown"
    )
    port: Mapped[int] = mapped_column(Integer, comment="server port")
    remote_address: Mapped[str] = mapped_column(comment="server address, without port")
    local_port: Mapped[int] = mapped_column(
        Integer,
        comment="client port; with the server's address and port it identifies the "
        "connection in a packet capture",
    )
    protocol: Mapped[str] = mapped_column(
        comment="http/1.1, h2 or h3 (ALPN names, RFC 7301); udp for datagrams that are no QUIC, as "
        "WebRTC's; unknown if the browser's log has no beginning of the connection and no request on it"
    )
    tls_version: Mapped[str | None] = mapped_column(
        comment="TLS version, e.g. TLS 1.3; null for clear text, and for datagrams that are no QUIC; "
        "unknown if the browser's log has no beginning of the connection"
    )
    tls_resumed: Mapped[bool | None] = mapped_column(
        comment="true if the TLS session was resumed; null for clear text, "
        "or if the handshake did not complete"
    )
    received_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="TCP payload received from the server, each byte counted once; for QUIC the UDP payload, "
        "including retransmissions and acknowledgements",
    )
    decrypted_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="received bytes inside TLS; equal to received_bytes for clear text; for QUIC the data of "
        "all streams, each byte counted once",
    )
    tls_handshake_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="TCP payload of the server's TLS flight, before the first response; for QUIC the UDP "
        "payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation "
        "packet; null for clear text, where the browser's log has no beginning of it, and where padded "
        "records (RFC 8446 §5.4) hide where it ends",
    )
    tls_ticket_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="TCP payload of NewSessionTicket and KeyUpdate messages after the handshake, including "
        "their TLS records; for QUIC the CRYPTO data after the handshake; null for clear text, where "
        "the browser's log has no beginning of the connection, and where other records of the same read "
        "may as well have carried them",
    )
    frame_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="bytes inside TLS that belong to no response: H2 or H3 frames (SETTINGS, PING, ...), all "
        "streams of a WebTransport session, datagrams that are no QUIC, and what HTTP/1.1 sent after "
        "the end of a response (RFC 9112 §6.3)",
    )
    response_count: Mapped[int] = mapped_column(
        Integer, comment="number of responses that arrived on the connection, whole or in part"
    )
    opened_us: Mapped[int] = mapped_column(
        BigInteger, comment="time of the first SYN, in µs since visit.started_at"
    )
    connected_us: Mapped[int] = mapped_column(
        BigInteger, comment="time at which TCP was established, in µs since visit.started_at"
    )
    secured_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time at which the TLS handshake ended, in µs since visit.started_at; null for clear text",
    )
    last_byte_us: Mapped[int] = mapped_column(
        BigInteger, comment="time of the last byte received, in µs since visit.started_at"
    )
    packet_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="TCP payload that arrived from the server before recording stopped, counted in captured "
        "packets, each byte once by its sequence number; for QUIC the UDP payload; compare "
        "received_bytes, which the browser's log counts; null if the connection was not captured whole "
        "or went on after recording stopped",
    )
    first_flight_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="payload that the server sent, from the first packet of the connection's first response "
        "on, before an acknowledgment of any of it can have reached the server: TCP payload, each byte "
        "once, or UDP payload; by captured packets; "
        "null where initial_window_unknown says that there is no first flight",
    )
    first_flight_packets: Mapped[int | None] = mapped_column(
        Integer,
        comment="TCP segments, or UDP datagrams, of first_flight_bytes; segments that Linux merged are "
        "counted one by one; null where first_flight_bytes is",
    )
    segment_bytes: Mapped[int | None] = mapped_column(
        Integer,
        comment="payload of a full TCP segment from the server: the largest that it sent, if its TCP cut "
        "it to that size; else the largest that the client allows; "
        "null for QUIC and where first_flight_bytes is",
    )
    initial_window_segments: Mapped[int | None] = mapped_column(
        Integer,
        comment="initial congestion window of the server (RFC 6928), in full segments: exact if "
        "initial_window_unknown is null, else a lower bound; null where segment_bytes is",
    )
    initial_window_most_segments: Mapped[int | None] = mapped_column(
        Integer,
        comment="upper bound of the initial window, in full segments: the same as "
        "initial_window_segments if the window is exact; null if nothing bounds it from above",
    )
    initial_window_unknown: Mapped[str | None] = mapped_column(
        comment="why the bounds of the initial window differ, or why nothing is known of it; "
        "null if it is exact"
    )
    round_trip_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="round trip in µs: over TCP the smaller of the time from SYN to SYN-ACK in captured "
        "packets and of the smallest that the browser's kernel measured until recording stopped "
        "(tcpi_min_rtt of TCP_INFO), or without a capture the time that the handshake took the browser, "
        "in whole milliseconds; for QUIC the shortest time from sending a packet of the handshake to "
        "its acknowledgement, in whole milliseconds; null if SYN was sent twice and TCP_INFO is not "
        "known, or the handshake took a second without packets to tell (RFC 6298 §2), or if QUIC "
        "acknowledged no packet of the handshake by itself",
    )
    first_record_bytes: Mapped[list[int] | None] = mapped_column(
        ARRAY(Integer),
        comment="TCP payload of each of the first 10 TLS records from which the browser read application "
        "data, record header and tag included, in order (RFC 8446 §5.1); a browser can use nothing of a "
        "record before all of it has arrived; null for clear text and QUIC, if it read none, and where "
        "it is not known which they are",
    )


class Response(Base):
    """One HTTP response as the browser received it, redirects included."""

    __tablename__ = "response"
    __table_args__ = (
        CheckConstraint("(wire_bytes IS NULL) = (wire_bytes_unknown IS NOT NULL)", name="wire_bytes"),
        CheckConstraint("(wire_bytes IS NULL) = (size_basis IS NULL)", name="size_basis"),
        {"postgresql_partition_by": "LIST (crawl_id)"},
    )

    crawl_id: Mapped[int] = key("crawl that the row belongs to", kind=SmallInteger)
    visit_id: Mapped[int] = key("visit that the row belongs to")
    id: Mapped[int] = key(
        "number of the response within the visit, from 1, in the order of the requests", kind=Integer
    )
    connection_id: Mapped[int | None] = mapped_column(
        Integer,
        comment="connection that the response came on; null if it came from a cache or "
        "its request was never sent",
    )
    position: Mapped[int | None] = mapped_column(
        Integer,
        comment="number of the response on its connection, from 1, in the order of the requests; null "
        "without a connection, and if the browser's log has no beginning of the connection",
    )
    stream_id: Mapped[int | None] = mapped_column(BigInteger, comment="H2 or H3 stream ID; null for HTTP/1.1")
    initiator_id: Mapped[int | None] = mapped_column(
        Integer, comment="response whose content requested this one; null if unknown, and for the page itself"
    )
    redirected_from_id: Mapped[int | None] = mapped_column(
        Integer, comment="redirect response that led to this one; null if none"
    )
    method: Mapped[str] = mapped_column(comment="request method")
    scheme: Mapped[str] = mapped_column(comment="scheme of the URL")
    host: Mapped[str] = mapped_column(comment="host of the URL")
    path: Mapped[str] = mapped_column(
        comment="path of the URL without the query, truncated to 2,048 characters"
    )
    query_hash: Mapped[str | None] = mapped_column(
        comment="salted SHA-256 of the query, first 16 hex digits; null without a query"
    )
    protocol: Mapped[str | None] = mapped_column(
        comment="http/1.1, h2 or h3; null if it came from a cache or never arrived"
    )
    resource_type: Mapped[str] = mapped_column(
        comment="destination of the request: document, iframe, style, script, image, font, fetch, media, "
        "worker, ... or other (Sec-Fetch-Dest, Fetch standard)"
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
    from_cache: Mapped[bool] = mapped_column(comment="true if no byte of the response crossed the network")
    wire_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="header, framing and encoded body, as sent inside TLS; null if unknown"
    )
    wire_bytes_unknown: Mapped[str | None] = mapped_column(
        comment="why wire_bytes is unknown; null if it is known"
    )
    size_basis: Mapped[str | None] = mapped_column(
        comment="what wire_bytes rests on: counted, stated or derived; null if wire_bytes is unknown"
    )
    header_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="wire_bytes minus body_bytes: header and framing; null if unknown, and if an H3 stream "
        "was abandoned before its frames were read",
    )
    body_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="encoded body without framing; null if unknown, "
        "and if an H3 stream was abandoned before its frames were read",
    )
    decoded_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="body after decompression; null if unknown"
    )
    request_sent_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time at which the request was sent, in µs since visit.started_at; null if it was never sent",
    )
    first_byte_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time of the first byte of the response header, in µs since visit.started_at; "
        "null if none arrived",
    )
    last_byte_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time of the last byte received, in µs since visit.started_at; null if none arrived",
    )
    no_store: Mapped[bool | None] = mapped_column(
        comment="true if Cache-Control has no-store, so that no cache may keep the response; null if no "
        "header came over the network"
    )
    no_cache: Mapped[bool | None] = mapped_column(
        comment="true if a private cache must revalidate before each reuse (no-cache in Cache-Control, "
        "or * in Vary); null where no_store is null"
    )
    lifetime_by: Mapped[str | None] = mapped_column(
        comment="source of the freshness lifetime for a private cache (RFC 9111 §4.2.1): max-age, "
        "expires, heuristic (not stated: a tenth of the time from Last-Modified to Date) or none (not "
        "stated, and no estimate is allowed); null where no_store is null"
    )
    lifetime_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="freshness lifetime in seconds from when the origin generated the response, at most "
        "2,147,483,647; 0 also if it cannot be parsed; null where lifetime_by is null or none, "
        "or is expires without a Date",
    )
    age_s: Mapped[int | None] = mapped_column(
        Integer,
        comment="age of the response in seconds, by its Age header; null if Age is absent or cannot be "
        "parsed, and where no_store is null",
    )
    has_validator: Mapped[bool | None] = mapped_column(
        comment="true if a cache can revalidate the response: it has an ETag, or a Last-Modified that is "
        "a date; null where no_store is null"
    )
    request_body_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="bytes of the request's body, by its Content-Length; null if it has none",
    )
    is_complete: Mapped[bool | None] = mapped_column(
        comment="true if all of the response arrived (RFC 9112 §8, RFC 9113 §8.1, RFC 9114 §4.1): as "
        "much body as Content-Length states, and the last chunk, END_STREAM or FIN, or a clean close "
        "where only the close ends it; false if it broke off, ended short of its Content-Length, or was "
        "still arriving when recording stopped; null if wire_bytes is null"
    )
    server_delay_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time in µs from sending the request to the first byte that the browser could use, less "
        "round_trip_us, at least 0; waiting in the network or for the crawler's CPU is part of it, and "
        "the error is up to 2 ms; null without a round trip or either time, if the request's body has "
        "more than 14,000 bytes (a flight), or if another response was arriving "
        "on the H2 or H3 connection",
    )
    round_trip_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="round trip in µs that server_delay_us was computed with: the shortest "
        "connection.round_trip_us of the visit to the server's address, over TCP or QUIC as the "
        "response's; null where server_delay_us is null",
    )
    browser_delay_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="time in µs from the last byte of the response that led to this one (redirected_from_id, "
        "else initiator_id) until the browser began this request, before name resolution, connecting "
        "and queueing; null if it began before that byte came, if either time is unknown or no request "
        "was sent, and for the document",
    )
    browser_delay_first_byte_us: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="as browser_delay_us, from the first byte of the response that led to this one; also "
        "known if the request began while that response was arriving",
    )
    request_header_bytes: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="bytes of the request's header as sent, inside TLS or QUIC: request line and header "
        "section of HTTP/1.1 (RFC 9112 §2.1); HEADERS and CONTINUATION frames of H2 with their frame "
        "headers (RFC 9113 §6.2); the HEADERS frame of H3, without what its compression put on QPACK's "
        "own stream (RFC 9204 §4.2); null if the request was not sent whole",
    )
    urgency: Mapped[int | None] = mapped_column(
        SmallInteger,
        comment="urgency that the request's Priority header states, 0 (most urgent) to 7; 3 over H2 and "
        "H3 if it states none (RFC 9218 §4.1); null over HTTP/1.1 without the header, "
        "and if no request was sent",
    )
    is_incremental: Mapped[bool | None] = mapped_column(
        comment="true if the request's Priority header states that parts of the response are of use (i, "
        "RFC 9218 §4.2); null where urgency is null"
    )
    h2_weight: Mapped[int | None] = mapped_column(
        SmallInteger,
        comment="weight in the request's HEADERS frame, 1 to 256 (RFC 7540 §5.3.2); null if the frame "
        "has no priority, and over other protocols than H2",
    )
    h2_parent_stream_id: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="stream that the request's HEADERS frame makes this one depend on, 0 for none (RFC 7540 "
        "§5.3.1); null where h2_weight is null",
    )
    h2_is_exclusive: Mapped[bool | None] = mapped_column(
        comment="true if that dependency is exclusive (RFC 7540 §5.3.1); null where h2_weight is null"
    )
    render_blocking: Mapped[str | None] = mapped_column(
        comment="whether the page could be painted before the response was there, as the browser decided "
        "when it asked: blocking, in_body (blocks what comes after it in the body), potentially_blocking "
        "(an async script: if it comes before the first paint), non_blocking, or dynamic (not blocking, "
        "inserted by a script); null where the browser decides nothing (documents, images, fonts and "
        "fetches that were not preloaded)"
    )


OBSERVATIONS: tuple[type[Base], ...] = (Visit, Connection, Response)
"""Tables with one partition per crawl."""

RELEASED: tuple[type[Base], ...] = (Crawl, Site, Visit, Connection, Response)
"""Tables that a release holds, each as a Parquet file."""

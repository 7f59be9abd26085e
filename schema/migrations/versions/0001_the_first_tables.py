"""The first tables; `storage.migrate` adds the comments of their columns."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = r"""
CREATE TABLE connection (
    crawl_id smallint NOT NULL,
    visit_id bigint NOT NULL,
    id integer NOT NULL,
    host text,
    port integer NOT NULL,
    remote_address text NOT NULL,
    local_port integer NOT NULL,
    protocol text NOT NULL,
    tls_version text,
    tls_resumed boolean,
    received_bytes bigint NOT NULL,
    decrypted_bytes bigint NOT NULL,
    tls_handshake_bytes bigint,
    tls_ticket_bytes bigint,
    frame_bytes bigint NOT NULL,
    response_count integer NOT NULL,
    opened_us bigint NOT NULL,
    connected_us bigint NOT NULL,
    secured_us bigint,
    last_byte_us bigint NOT NULL,
    packet_bytes bigint,
    first_flight_bytes bigint,
    first_flight_packets integer,
    segment_bytes integer,
    initial_window_segments integer,
    initial_window_most_segments integer,
    initial_window_unknown text,
    round_trip_us bigint,
    first_record_bytes integer[],
    PRIMARY KEY (crawl_id, visit_id, id)
) PARTITION BY LIST (crawl_id);
CREATE TABLE outcome (
    id text PRIMARY KEY,
    description text NOT NULL
);
CREATE TABLE response (
    crawl_id smallint NOT NULL,
    visit_id bigint NOT NULL,
    id integer NOT NULL,
    connection_id integer,
    position integer,
    stream_id bigint,
    initiator_id integer,
    redirected_from_id integer,
    method text NOT NULL,
    scheme text NOT NULL,
    host text NOT NULL,
    path text NOT NULL,
    query_hash text,
    protocol text,
    resource_type text NOT NULL,
    status smallint,
    mime_type text,
    content_encoding text,
    failure text,
    from_cache boolean NOT NULL,
    wire_bytes bigint,
    wire_bytes_unknown text,
    size_basis text,
    header_bytes bigint,
    body_bytes bigint,
    decoded_bytes bigint,
    request_sent_us bigint,
    first_byte_us bigint,
    last_byte_us bigint,
    no_store boolean,
    no_cache boolean,
    lifetime_by text,
    lifetime_s integer,
    age_s integer,
    has_validator boolean,
    request_body_bytes bigint,
    is_complete boolean,
    server_delay_us bigint,
    round_trip_us bigint,
    browser_delay_us bigint,
    browser_delay_first_byte_us bigint,
    request_header_bytes bigint,
    urgency smallint,
    is_incremental boolean,
    h2_weight smallint,
    h2_parent_stream_id bigint,
    h2_is_exclusive boolean,
    render_blocking text,
    PRIMARY KEY (crawl_id, visit_id, id),
    CONSTRAINT response_size_basis_check CHECK ((wire_bytes IS NULL) = (size_basis IS NULL)),
    CONSTRAINT response_wire_bytes_check CHECK ((wire_bytes IS NULL) = (wire_bytes_unknown IS NOT NULL))
) PARTITION BY LIST (crawl_id);
CREATE TABLE site_list (
    id text PRIMARY KEY,
    source text NOT NULL,
    checksum text NOT NULL,
    entries integer NOT NULL,
    fetched_at timestamptz NOT NULL
);
CREATE TABLE crawl (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    month text NOT NULL,
    device text NOT NULL,
    vantage text NOT NULL,
    arm text NOT NULL,
    kind text NOT NULL,
    list_id text NOT NULL REFERENCES site_list (id),
    top integer NOT NULL,
    attempts smallint NOT NULL,
    budget_s double precision NOT NULL,
    method_version text NOT NULL,
    commit text NOT NULL,
    planned_at timestamptz NOT NULL,
    browser text,
    browser_built_on timestamptz,
    browser_flags text,
    user_agent text,
    sealed_at timestamptz,
    client_hints text,
    user_agent_planned text,
    contact_url text,
    loads smallint DEFAULT 1 NOT NULL,
    inner_pages smallint DEFAULT 0 NOT NULL,
    optout_checksum text,
    optout_sites integer,
    UNIQUE (month, device, vantage, arm, kind),
    CONSTRAINT crawl_month_check CHECK (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$')
);
CREATE TABLE visit (
    crawl_id smallint NOT NULL,
    id bigint NOT NULL,
    rank integer NOT NULL,
    host text NOT NULL,
    attempt smallint NOT NULL,
    is_final boolean NOT NULL,
    outcome text NOT NULL REFERENCES outcome (id),
    stop_reason text NOT NULL,
    error text,
    scheme text NOT NULL,
    status smallint,
    main_response_id integer,
    final_scheme text,
    final_host text,
    hsts_upgrades integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    load_us bigint,
    received_bytes bigint NOT NULL,
    coverage double precision,
    decrypted_coverage double precision,
    owner text NOT NULL,
    page_kind text DEFAULT 'home' NOT NULL,
    load smallint DEFAULT 1 NOT NULL,
    wall text,
    consent text,
    retry_after_s integer,
    is_covered boolean,
    log_lines_lost integer,
    crawler_host text,
    unfiltered_egress boolean,
    first_paint_us bigint,
    first_contentful_paint_us bigint,
    largest_contentful_paint_us bigint,
    PRIMARY KEY (crawl_id, id),
    UNIQUE (crawl_id, rank, attempt)
) PARTITION BY LIST (crawl_id);
CREATE TABLE site (
    crawl_id smallint NOT NULL REFERENCES crawl (id),
    rank integer NOT NULL,
    host text NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    owner text,
    lease_expires_at timestamptz,
    final_visit_id bigint,
    magnitude integer,
    not_before timestamptz,
    PRIMARY KEY (crawl_id, rank),
    CONSTRAINT site_lease_check CHECK ((owner IS NULL) = (lease_expires_at IS NULL))
);
CREATE INDEX site_crawl_id_attempts_rank_idx ON site (crawl_id, attempts, rank) WHERE final_visit_id IS NULL;
-- Sealed partitions get triggers that call it (storage.partitions).
CREATE FUNCTION refuse_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'table % belongs to a sealed crawl, which is never written again', TG_TABLE_NAME
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END $$;
"""


def upgrade() -> None:
    """Create the first tables."""
    op.execute(TABLES)

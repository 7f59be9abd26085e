"""Tables computed from observations: distributions and replay cells. They exist as Parquet only and can be recomputed.

Each is an Arrow schema whose fields carry their definitions, like the columns of the observation tables.
"""

from __future__ import annotations

import pyarrow as pa


def field(name: str, kind: pa.DataType, comment: str, *, nullable: bool = False) -> pa.Field:
    """A column with its definition."""
    return pa.field(name, kind, nullable=nullable, metadata={"comment": comment})


MEASURES: dict[str, str] = {
    "responses": "wire_bytes of every response that crossed the network",
    "responses_first": "wire_bytes of the first response on each connection",
    "responses_iw_limited": "wire_bytes of the responses that began while the congestion window, by Linux's rules, was still the initial window",
    "first_flights": "TCP payload from the server for everything requested on a connection before the first acknowledgement of response data could reach the server: the TLS flight, tickets, connection frames, responses and their TLS records",
    "first_flights_after_tls": "first_flights without the TLS flight, which the client acknowledges before its first request",
    "tls_flights": "tls_handshake_bytes, the server's TLS flight, of each TLS connection",
    "connections": "received_bytes of each connection with a response",
    "hosts": "received_bytes of all connections to one host on one page",
    "pages": "received_bytes of all connections of one page",
}
"""Definitions of the measures of size, by their stable names."""

DISTRIBUTION = pa.schema(
    [
        field("measure", pa.string(), "name of the measure"),
        field(
            "size_bytes",
            pa.int64(),
            "size in bytes; null for items whose size is unknown, or of which it is unknown whether the measure counts them",
            nullable=True,
        ),
        field(
            "count",
            pa.int64(),
            "number of items (responses, flights, connections, hosts or pages) of exactly this size",
        ),
        field(
            "cumulative",
            pa.int64(),
            "number of items of this size or less; null for unknown sizes",
            nullable=True,
        ),
        field(
            "cdf",
            pa.float64(),
            "cumulative divided by the number of items of known size; null for unknown sizes",
            nullable=True,
        ),
    ],
    metadata={"table": "distribution"},
)
"""Exact empirical CDFs over the final visits of one crawl with outcome ok; one row per step."""

CELL = pa.schema(
    [
        field("page", pa.string(), "host of the page"),
        field("visit_id", pa.int64(), "visit that the recipe was made from"),
        field("profile", pa.string(), "network profile, by its stable id"),
        field("iw", pa.int32(), "initial window of the servers, in segments"),
        field(
            "congestion_control", pa.string(), "congestion control of the page's servers, by its Linux name"
        ),
        field("pacing", pa.bool_(), "true if the page's servers paced their packets"),
        field(
            "loss",
            pa.float64(),
            "share of packets lost at random in each direction; null: as in the profile",
            nullable=True,
        ),
        field(
            "loss_burst",
            pa.float64(),
            "mean number of packets lost together (Gilbert's model), 1 if losses are independent; null: as in the profile",
            nullable=True,
        ),
        field(
            "competition",
            pa.string(),
            "competing bulk flows during the load, as FLOWSxCONTROL@IW; null: none",
            nullable=True,
        ),
        field(
            "think",
            pa.string(),
            "delay of the servers before each response: recorded (as in the crawl, where known) or none",
        ),
        field(
            "cache",
            pa.string(),
            "cold, or warm (a second visit: without the responses that are still fresh by their recorded header, and with a 304 in place of those that can be revalidated)",
        ),
        field(
            "queue",
            pa.string(),
            "bottleneck queue used instead of the profile's, in bandwidth-delay products (BDP) or bytes (B); null: the profile's",
            nullable=True,
        ),
        field(
            "queue_bytes",
            pa.int64(),
            "bottleneck queue in effect, in bytes; null in replays older than this column",
            nullable=True,
        ),
        field(
            "background_load",
            pa.float64(),
            "share of the bottleneck's capacity that the background's short flows ask for; null: the ordinary 5 %",
            nullable=True,
        ),
        field(
            "everyone",
            pa.bool_(),
            "true if the background's short flows start with the cell's own initial window; null: with today's 10, in the ordinary background",
            nullable=True,
        ),
        field(
            "probe",
            pa.bool_(),
            "true if a probe, a datagram of 8 bytes every 20 ms, was sent during the load; null: no probe, in the ordinary background",
            nullable=True,
        ),
        field("seed", pa.int64(), "seed of the cell's start phase and of its background traffic"),
        field(
            "state",
            pa.string(),
            "done, refused (a gate of the topology failed) or failed (the guest or the load failed)",
        ),
        field("reason", pa.string(), "the gate that failed, or the error; null if done", nullable=True),
        field(
            "page_ms",
            pa.float64(),
            "time from the first SYN to the last byte of the page's payload",
            nullable=True,
        ),
        field(
            "document_ms",
            pa.float64(),
            "time from the first SYN to the last byte of the main document",
            nullable=True,
        ),
        field(
            "first_byte_ms",
            pa.float64(),
            "time from the first SYN to the first byte of the main document",
            nullable=True,
        ),
        field("payload_bytes", pa.int64(), "payload that the client received", nullable=True),
        field("responses", pa.int32(), "number of responses of the page", nullable=True),
        field(
            "responses_retransmitted",
            pa.int32(),
            "number of responses during which their connection retransmitted",
            nullable=True,
        ),
        field("connections", pa.int32(), "number of TCP connections of the page", nullable=True),
        field(
            "connections_initial_loss",
            pa.int32(),
            "number of connections that retransmitted within their first IW segments",
            nullable=True,
        ),
        field(
            "bytes_initial_loss",
            pa.int64(),
            "payload that those connections had retransmitted by the time their first IW segments had arrived",
            nullable=True,
        ),
        field(
            "segments_sent",
            pa.int64(),
            "data segments that the servers sent, including retransmissions (tcpi_data_segs_out)",
            nullable=True,
        ),
        field(
            "segments_retransmitted",
            pa.int64(),
            "segments that the servers retransmitted (tcpi_total_retrans)",
            nullable=True,
        ),
        field(
            "bytes_retransmitted",
            pa.int64(),
            "payload that the servers retransmitted (tcpi_bytes_retrans)",
            nullable=True,
        ),
        field(
            "bottleneck_drops",
            pa.int64(),
            "number of packets that the bottleneck's queue dropped",
            nullable=True,
        ),
        field(
            "snd_cwnd_min",
            pa.int32(),
            "smallest snd_cwnd of the page's connections before their first response, in segments",
            nullable=True,
        ),
        field(
            "competition_bytes",
            pa.int64(),
            "payload that the competing bulk flows delivered during the load; null without competition",
            nullable=True,
        ),
        field(
            "short_flows",
            pa.int32(),
            "number of background flows of at most 3 segments that began during the load; null if the load did not wait for their end",
            nullable=True,
        ),
        field(
            "short_flow_ms",
            pa.float64(),
            "mean time of those short flows from the first SYN to the last byte; null without any, or if one did not end",
            nullable=True,
        ),
        field(
            "probe_p95_ms",
            pa.float64(),
            "95th percentile of the probe's delay towards the client during the load; null without a probe",
            nullable=True,
        ),
    ],
    metadata={"table": "cell"},
)
"""One page load in the replay lab."""

CELL_KEY: tuple[str, ...] = tuple(CELL.names[: CELL.names.index("state")])
"""Columns that identify a cell."""

REPLAYED_RESPONSE = pa.schema(
    [
        *(CELL.field(name) for name in CELL_KEY),
        field("response_id", pa.int64(), "id of the response in the crawl or the recording"),
        field("is_document", pa.bool_(), "true for the main document"),
        field("response_bytes", pa.int64(), "TCP payload of the response, including TLS records"),
        field(
            "wanted_ms",
            pa.float64(),
            "time from the page's first SYN until everything that triggers the request had arrived",
        ),
        field(
            "sent_ms",
            pa.float64(),
            "time from the page's first SYN to the request, which waits for a connection; the response's latency begins here",
        ),
        field(
            "first_byte_ms",
            pa.float64(),
            "time from the page's first SYN to the arrival of the response's first packet",
        ),
        field(
            "last_byte_ms",
            pa.float64(),
            "time from the page's first SYN to the response's last byte; its latency ends here",
        ),
        field(
            "flights",
            pa.int32(),
            "number of bursts in which the response arrived: a new burst begins after each pause of more than half a round trip without a packet of the response",
        ),
        field("retransmitted", pa.bool_(), "true if its connection retransmitted during the response"),
    ],
    metadata={"table": "replayed_response"},
)
"""One response of a replayed page; only for loads that are done."""

"""What is computed from observations: distributions, replay cells. Parquet only, recomputable.

Each is an Arrow schema whose fields carry their comments, like the observation tables.
"""

from __future__ import annotations

import pyarrow as pa


def field(name: str, kind: pa.DataType, comment: str, *, nullable: bool = False) -> pa.Field:
    """One column with its definition."""
    return pa.field(name, kind, nullable=nullable, metadata={"comment": comment})


MEASURES: dict[str, str] = {
    "responses": "wire_bytes of every response that crossed the network",
    "responses_first": "wire_bytes of the first response on each connection",
    "responses_iw_limited": "wire_bytes of the responses at whose beginning the congestion window, by Linux's rule, was still the initial one",
    "first_flights": "TCP payload from the server for all that was asked of a connection before the first acknowledgement of response data could return: its TLS flight, tickets, connection frames, responses and their TLS records",
    "first_flights_after_tls": "first_flights without the TLS flight, which the client has acknowledged before it asks",
    "tls_flights": "the server's TLS flight of each TLS connection",
    "connections": "received_bytes of each connection with a response",
    "hosts": "received_bytes of all connections to one host on one page",
    "pages": "received_bytes of all connections of one page",
}
"""Measures of size, by their stable names."""

DISTRIBUTION = pa.schema(
    [
        field("measure", pa.string(), "what was counted: a name from MEASURES"),
        field(
            "size_bytes",
            pa.int64(),
            "size in bytes; null for members whose size, or whose membership, is unknown",
            nullable=True,
        ),
        field("count", pa.int64(), "members of exactly this size"),
        field("cumulative", pa.int64(), "members of this size or less; null for the unknown", nullable=True),
        field(
            "cdf",
            pa.float64(),
            "cumulative over all members of known size; null for the unknown",
            nullable=True,
        ),
    ],
    metadata={"table": "distribution"},
)
"""Exact empirical CDFs over the final visits of one crawl with outcome ok, a row each step."""

CELL = pa.schema(
    [
        field("page", pa.string(), "host of the page"),
        field("visit_id", pa.int64(), "the visit that the recipe was made from"),
        field("profile", pa.string(), "network profile, by its stable id"),
        field("iw", pa.int32(), "initial window of the servers, in segments"),
        field("congestion_control", pa.string(), "Linux name of the page's servers' congestion control"),
        field("pacing", pa.bool_(), "whether the page's servers paced what they sent"),
        field(
            "loss",
            pa.float64(),
            "share of packets lost at random on the way, each way; null: as the profile has it",
            nullable=True,
        ),
        field(
            "loss_burst",
            pa.float64(),
            "packets lost together, in the mean (Gilbert's model), 1 if each by itself; null: as the profile has it",
            nullable=True,
        ),
        field(
            "competition",
            pa.string(),
            "downloads without end beside the page, as FLOWSxCONTROL@IW; null: none",
            nullable=True,
        ),
        field(
            "think",
            pa.string(),
            "recorded (servers took as long to begin an answer as the crawl recorded, where that is known) or none",
        ),
        field(
            "cache",
            pa.string(),
            "cold, or warm (a second visit: without the responses that it would still have by their recorded header, and with a 304 in place of those that it could confirm)",
        ),
        field(
            "queue",
            pa.string(),
            "the bottleneck's queue in place of the profile's, in bandwidth-delay products (BDP) or bytes (B); null: the profile's",
            nullable=True,
        ),
        field(
            "queue_bytes", pa.int64(), "of the bottleneck, in force; null in replays before it", nullable=True
        ),
        field(
            "background_load",
            pa.float64(),
            "share of the bottleneck that other people's short flows asked for; null: the ordinary 5 %",
            nullable=True,
        ),
        field(
            "everyone",
            pa.bool_(),
            "whether those flows began at the cell's own window; null: at today's 10, in the ordinary background",
            nullable=True,
        ),
        field(
            "probe",
            pa.bool_(),
            "whether a datagram of 8 bytes every 20 ms ran beside the page; null: not, in the ordinary background",
            nullable=True,
        ),
        field("seed", pa.int64(), "seed of the cell's start phase and of its background traffic"),
        field(
            "state",
            pa.string(),
            "done, refused (a gate of its topology failed) or failed (the guest or the load did)",
        ),
        field("reason", pa.string(), "which gate, or what went wrong; null when done", nullable=True),
        field(
            "page_ms",
            pa.float64(),
            "from the first SYN to the last byte of payload of the page",
            nullable=True,
        ),
        field(
            "document_ms",
            pa.float64(),
            "from the first SYN to the last byte of the main document",
            nullable=True,
        ),
        field(
            "first_byte_ms",
            pa.float64(),
            "from the first SYN to the first byte of the main document",
            nullable=True,
        ),
        field("payload_bytes", pa.int64(), "payload that the client received", nullable=True),
        field("responses", pa.int32(), "responses of the page", nullable=True),
        field(
            "responses_retransmitted",
            pa.int32(),
            "responses during which their connection retransmitted",
            nullable=True,
        ),
        field("connections", pa.int32(), "TCP connections of the page", nullable=True),
        field(
            "connections_initial_loss",
            pa.int32(),
            "connections that retransmitted within their first IW segments",
            nullable=True,
        ),
        field(
            "bytes_initial_loss",
            pa.int64(),
            "payload that those connections had sent again by the time that their first IW segments had arrived",
            nullable=True,
        ),
        field(
            "segments_sent",
            pa.int64(),
            "data segments that the servers sent, retransmissions included (tcpi_data_segs_out)",
            nullable=True,
        ),
        field(
            "segments_retransmitted",
            pa.int64(),
            "segments that the servers sent again (tcpi_total_retrans)",
            nullable=True,
        ),
        field(
            "bytes_retransmitted",
            pa.int64(),
            "payload that the servers sent again (tcpi_bytes_retrans)",
            nullable=True,
        ),
        field("bottleneck_drops", pa.int64(), "packets that the bottleneck's queue dropped", nullable=True),
        field(
            "snd_cwnd_min",
            pa.int32(),
            "smallest snd_cwnd of the page's connections before their first response, in segments",
            nullable=True,
        ),
        field(
            "competition_bytes",
            pa.int64(),
            "payload that the competing downloads received while the page loaded; null without any",
            nullable=True,
        ),
        field(
            "short_flows",
            pa.int32(),
            "other people's flows of at most 3 segments that began while the page loaded; null where they were not awaited",
            nullable=True,
        ),
        field(
            "short_flow_ms",
            pa.float64(),
            "their mean time, from the first SYN to the last byte; null without any, or where one did not end",
            nullable=True,
        ),
        field(
            "probe_p95_ms",
            pa.float64(),
            "95th percentile of the probe's delay towards the client while the page loaded; null without a probe",
            nullable=True,
        ),
    ],
    metadata={"table": "cell"},
)
"""One page load in the replay lab."""

CELL_KEY: tuple[str, ...] = tuple(CELL.names[: CELL.names.index("state")])
"""Columns that name a cell."""

REPLAYED_RESPONSE = pa.schema(
    [
        *(CELL.field(name) for name in CELL_KEY),
        field("response_id", pa.int64(), "the response that it was in the crawl or the recording"),
        field("is_document", pa.bool_(), "whether it is the main document"),
        field("response_bytes", pa.int64(), "its TCP payload, with the records of TLS"),
        field(
            "wanted_ms",
            pa.float64(),
            "time from the first SYN of the page to where all was there that asks for it",
        ),
        field(
            "sent_ms", pa.float64(), "to its request, which waits for a connection; its latency begins here"
        ),
        field("first_byte_ms", pa.float64(), "to the arrival of its first packet"),
        field("last_byte_ms", pa.float64(), "to its last byte; its latency ends here"),
        field(
            "flights",
            pa.int32(),
            "bursts that it arrived in: a new one after every pause of more than half a round trip without a packet of it",
        ),
        field("retransmitted", pa.bool_(), "whether its connection retransmitted meanwhile"),
    ],
    metadata={"table": "replayed_response"},
)
"""One response of a replayed page, of loads that are done."""
